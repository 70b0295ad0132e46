#include "runtime/prof/rules.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cstring>

namespace msprof::runtime {
namespace {

constexpr std::uint32_t kMaxDevices = 64;

}  // namespace

int refusal_of_init(ProfMode mode, std::string_view path, bool is_initialized) {
  if (path.empty() || path.size() >= kMaxProfPathBytes) return kProfInvalidParam;
  switch (mode) {
    case ProfMode::configured:
      return kProfAlreadyRun;
    case ProfMode::api:
      return kProfRepeatInitialize;
    case ProfMode::subscribed:
      return kProfApiConflict;
    case ProfMode::off:
      break;
  }
  if (!is_allowed_path(path)) return kProfInvalidFile;
  return is_initialized ? kProfSuccess : kProfUninitialized;
}

int refusal_of_files(ProfMode mode) {
  switch (mode) {
    case ProfMode::off:
      return kProfNotRun;
    case ProfMode::configured:
      return kProfAlreadyRun;
    case ProfMode::subscribed:
      return kProfApiConflict;
    case ProfMode::api:
      break;
  }
  return kProfSuccess;
}

int refusal_of_subscription(ProfMode mode) {
  if (mode == ProfMode::api) return kProfApiConflict;
  return refusal_by_configuration(mode);
}

int refusal_by_configuration(ProfMode mode) {
  return mode == ProfMode::configured ? kProfAlreadyRun : kProfSuccess;
}

std::string_view checked_path(const char* path, std::size_t length) {
  if (path == nullptr || strnlen(path, length) != length || path[length] != '\0') return {};
  return {path, length};
}

bool ProfConfig::shares_a_device(const ProfConfig& other) const {
  if (devices.empty() || other.devices.empty()) return devices.empty() && other.devices.empty();
  return std::any_of(devices.begin(), devices.end(), [&](std::uint16_t device) {
    return std::binary_search(other.devices.begin(), other.devices.end(), device);
  });
}

std::optional<ProfConfig> make_config(const std::uint32_t* ids, std::uint32_t count,
                                      std::uint32_t existing, std::uint32_t metrics,
                                      std::uint64_t bits) {
  if (count > 0 && ids == nullptr) return std::nullopt;
  if (count > kMaxDevices || count > existing) return std::nullopt;
  ProfConfig config;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (ids[i] >= existing) return std::nullopt;
    config.devices.push_back(static_cast<std::uint16_t>(ids[i]));
  }
  std::sort(config.devices.begin(), config.devices.end());
  if (std::adjacent_find(config.devices.begin(), config.devices.end()) != config.devices.end())
    return std::nullopt;
  config.metrics = metrics;
  config.bits = bits;
  return config;
}

int check_bits(const ProfConfig& config, std::uint64_t supported, std::uint64_t metrics_bit,
               bool are_metrics) {
  if (config.bits == 0) return kProfInvalidParam;
  if ((config.bits & ~supported) != 0) return kProfModulesUnsupported;
  return (config.bits & metrics_bit) != 0 && !are_metrics ? kProfInvalidParam : kProfSuccess;
}

int refusal_of_start(ProfMode mode, const std::vector<const ProfConfig*>& started,
                     const ProfConfig& config) {
  if (const int refusal = refusal_of_files(mode); refusal != kProfSuccess) return refusal;
  const bool repeated = std::any_of(started.begin(), started.end(), [&](const ProfConfig* other) {
    return config.shares_a_device(*other);
  });
  return repeated ? kProfAlreadyRun : kProfSuccess;
}

int find_started(ProfMode mode, const std::vector<const ProfConfig*>& started,
                 const ProfConfig& config, std::size_t& found) {
  int result = refusal_of_files(mode);
  if (result != kProfSuccess) return result;
  result = kProfNotRun;
  for (found = 0; found < started.size(); ++found) {
    const ProfConfig& other = *started[found];
    if (!config.shares_a_device(other)) continue;
    if (config.devices == other.devices && config.bits == other.bits) return kProfSuccess;
    result = kProfInvalidConfig;
  }
  return result;
}

bool is_allowed_path(std::string_view path) {
  constexpr std::string_view kRefused = "\"'\\%><|&$;`";
  return std::none_of(path.begin(), path.end(), [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F || kRefused.find(c) != std::string_view::npos;
  });
}

std::string absolute_path(std::string_view path) {
  if (path.starts_with('/')) return std::string(path);
  std::array<char, PATH_MAX> folder;
  if (getcwd(folder.data(), folder.size()) == nullptr) return std::string(path);
  return std::string(folder.data()) + "/" + std::string(path);
}

std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t low,
                                          std::uint64_t high) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (value < low || value > high) return std::nullopt;
  return value;
}

}  // namespace msprof::runtime
