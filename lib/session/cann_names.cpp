#include "session/cann_names.hpp"

#include <limits>
#include <vector>

#include "base/text.hpp"

namespace msprof::cann {

namespace {

using Parts = std::vector<std::string_view>;

constexpr std::string_view kSlice = "slice_";

std::optional<std::int64_t> number_of(std::string_view text) {
  std::uint64_t value = 0;
  if (!parse_u64(text, value)) return std::nullopt;
  if (value > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::string join(const Parts& parts) {
  std::string text;
  for (const std::string_view part : parts) {
    if (!text.empty()) text += '.';
    text += part;
  }
  return text;
}

// "compact.task_track" is "task_track", "api_event.data" is "api_event".
std::string host_stem(const Parts& parts) {
  if (parts.size() != 2) return join(parts);
  if (parts[0] == "compact" || parts[0] == "additional") return std::string(parts[1]);
  if (parts[0] == "variable") return join({parts[1], parts[0]});
  if (parts[0] == "api_event" && parts[1] == "data") return std::string(parts[0]);
  return join(parts);
}

// The older spellings of what is the same data.
std::string device_stem(Parts parts) {
  if (parts.size() >= 3 && parts[0] == "DATA_PREPROCESS" && parts[1] == "dev") {
    parts.erase(parts.begin() + 1);
  }
  if (parts.size() == 3 && parts[1] == "log" && parts[2] == "data") parts.erase(parts.begin() + 1);
  return join(parts);
}

bool has_empty(const Parts& parts) {
  for (const std::string_view part : parts) {
    if (part.empty()) return true;
  }
  return false;
}

// "ts_track.data.44.0.3": channel, device and slice are the last three.
std::optional<FileName> parse_bare_numbers(Parts parts) {
  if (parts.size() < 5) return std::nullopt;
  const auto slice = number_of(parts[parts.size() - 1]);
  const auto device = number_of(parts[parts.size() - 2]);
  if (!slice || !device || !number_of(parts[parts.size() - 3])) return std::nullopt;
  parts.resize(parts.size() - 3);
  return FileName{device_stem(std::move(parts)), false, device, *slice};
}

}  // namespace

std::optional<FileName> parse_data_name(std::string_view name) {
  Parts parts = split(name, '.');
  if (has_empty(parts)) return std::nullopt;
  if (!parts.back().starts_with(kSlice)) return parse_bare_numbers(std::move(parts));
  const auto slice = number_of(parts.back().substr(kSlice.size()));
  parts.pop_back();
  if (!slice || parts.empty()) return std::nullopt;
  if (parts[0] == "aging" || parts[0] == "unaging") {
    const bool is_unaging = parts[0] == "unaging";
    parts.erase(parts.begin());
    if (parts.empty()) return std::nullopt;
    return FileName{host_stem(parts), is_unaging, std::nullopt, *slice};
  }
  std::optional<std::int64_t> device;
  if (parts.size() > 1) device = number_of(parts.back());
  if (device) parts.pop_back();
  // "hwts.log.data.45.dev.profiler_default_tag.1.slice_0": a channel and a tag before the device.
  if (parts.size() > 1 && parts.back() == "profiler_default_tag") {
    parts.pop_back();
    if (parts.size() > 1 && parts.back() == "dev") parts.pop_back();
    if (parts.size() > 1 && number_of(parts.back())) parts.pop_back();
  }
  return FileName{device_stem(std::move(parts)), false, device, *slice};
}

bool is_companion(std::string_view name) {
  return name.ends_with(".done") || name.ends_with(".complete") || name.ends_with(".zip");
}

}  // namespace msprof::cann
