// Raw kind info.json.N: clock of the NPU cores. {"DeviceInfo": [{"aic_frequency": "1000"}, ...]} is
// a list of objects with one key each, which are merged. The frequency is in MHz, or in Hz if above
// 10,000. Source: svp_job.md 3.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/json_levels.hpp"
#include "base/text.hpp"
#include "import/svp/device_info.hpp"
#include "import/svp/svp_models.hpp"

namespace msprof::svp {

namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxInfoBytes = 1 << 20;
constexpr double kMaxMhz = 10'000;  // a greater value is in Hz
constexpr double kMaxHz = 1e12;

json merged_device_info(const json& document) {
  json merged = json::object();
  const auto info = document.is_object() ? document.find("DeviceInfo") : document.end();
  if (info == document.end()) return merged;
  if (info->is_object()) return *info;
  for (const auto& entry : *info) {
    if (entry.is_object()) merged.update(entry);
  }
  return merged;
}

// Parses "1000", "19.2" or 1000; returns 0 if it is not a number.
double parse_number(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return 0;
  const auto& stored = value.get_ref<const std::string&>();
  const std::string_view text = trim(stored);
  double result = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  return error == std::errc() && end == text.data() + text.size() ? result : 0;
}

struct CoreClock {
  std::optional<std::int64_t> hz;
  bool is_in_hz = false;  // else in MHz
};

CoreClock parse_clock(const json& info) {
  const auto frequency = info.find("aic_frequency");
  const double value = frequency == info.end() ? 0 : parse_number(*frequency);
  const double hz = value > kMaxMhz ? value : value * 1e6;
  CoreClock clock;
  if (hz >= 1 && hz <= kMaxHz) {
    clock.hz = std::llround(hz);
    clock.is_in_hz = value > kMaxMhz;
  }
  return clock;
}

class InfoJsonKind : public RawKind {
 public:
  explicit InfoJsonKind(SvpModels& models) : models_(models), session_(models.session()) {}

  std::string_view name() const override { return kind_name(SvpFileKind::info_json); }
  bool owns(const RawFile& file) const override {
    return models_.parsed_name(file).kind == SvpFileKind::info_json;
  }

  void import(const ImportContext& context, const RawFile& file) override {
    const std::int64_t device = models_.parsed_name(file).device;
    seen_.insert(device);
    context.report.count_file(name(), 1);
    const json info = read_device_info(file.path);
    if (info.is_null()) {
      context.report.add(FindingId::broken_info, name(), file.name, "not JSON");
      return;
    }
    const CoreClock clock = parse_clock(info);
    if (clock.is_in_hz) {
      context.report.add(FindingId::frequency_in_hz, name(), file.name, "aic_frequency is in Hz");
    }
    models_.set_device(device, clock.hz, text_in(info, "soc_version"));
  }

  void finish(const ImportContext& context) override {
    auto devices = list_devices(session_);
    if (devices.empty() && seen_.empty()) devices.push_back(0);
    for (const std::int64_t device : devices) {
      const std::string file = fmt::format("info.json.{}", device);
      if (seen_.count(device) == 0) {
        context.report.add(FindingId::missing_info, name(), file, "missing",
                           "times and frequency are N/A");
      } else if (has_aicore(session_, device) && !models_.frequency_hz(device)) {
        context.report.add(FindingId::no_frequency, name(), file, "frequency missing or 0",
                           "times and frequency are N/A");
      }
    }
  }

 private:
  SvpModels& models_;
  const SvpSession& session_;
  std::set<std::int64_t> seen_;
};

}  // namespace

json read_device_info(const std::filesystem::path& path) {
  return parse_device_info(read_text_file(path, kMaxInfoBytes));
}

json parse_device_info(std::string text) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
  if (is_nested_deeper(text)) return json();
  // A name in another encoding must not make the frequency unreadable.
  const json document = json::parse(valid_utf8(text), nullptr, false);
  return document.is_discarded() ? json() : merged_device_info(document);
}

std::string text_in(const json& info, const char* key) {
  const auto at = info.find(key);
  return at != info.end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::optional<std::int64_t> parse_frequency(const json& info) {
  return parse_clock(info).hz;
}

std::unique_ptr<RawKind> make_info_json_kind(SvpModels& models) {
  return std::make_unique<InfoJsonKind>(models);
}

}  // namespace msprof::svp
