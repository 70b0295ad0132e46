#include "session/cann_info.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json_levels.hpp"
#include "base/text.hpp"

namespace msprof::cann {

namespace {

using nlohmann::json;

constexpr std::int64_t kMaxInt64 = std::numeric_limits<std::int64_t>::max();

// Uses the public product name if there is one, else the name of the chip generation.
constexpr std::array kChips = {
    Chip{0, "Ascend310", "Ascend310", ChipFamily::mini, false},
    Chip{1, "Ascend910A", "Ascend910A", ChipFamily::hwts, true},
    Chip{2, "V3_1_0", "UNKNOWN", ChipFamily::hwts, false},
    Chip{3, "V3_2_0", "UNKNOWN", ChipFamily::hwts, true},
    Chip{4, "Ascend310P", "Ascend310P", ChipFamily::hwts, true},
    Chip{5, "Ascend910B", "Ascend910B", ChipFamily::stars, true},
    Chip{7, "Ascend310B", "Ascend310B", ChipFamily::stars, true},
    Chip{8, "V1_1_2", "UNKNOWN", ChipFamily::stars, true},
    Chip{9, "V5_1_0", "UNKNOWN", ChipFamily::nano, true},
    Chip{11, "V1_1_3", "UNKNOWN", ChipFamily::stars, false},
    Chip{12, "Ascend610Lite", "UNKNOWN", ChipFamily::hwts, false},
    Chip{15, "Ascend950", "Ascend950", ChipFamily::stars_v6, true},
    Chip{16, "V6_2_0", "UNKNOWN", ChipFamily::stars_v6, true},
    Chip{17, "MC62CM12A", "UNKNOWN", ChipFamily::stars_v6, true},
    Chip{18, "MC32DM11A", "UNKNOWN", ChipFamily::stars_v6, true},
    Chip{21, "5162A", "UNKNOWN", ChipFamily::unread, true},
};

// Parses a JSON object, ignoring NULs at the end, which some collectors write. Accepts invalid
// UTF-8, so that the rest stays readable.
json parse_object(std::string_view text) {
  while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
  if (is_nested_deeper(text)) return json();
  json document = json::parse(valid_utf8(text), nullptr, false);
  return document.is_object() ? document : json();
}

// Returns a string, or a number as text; empty for other types.
std::string find_text(const json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end()) return {};
  if (at->is_string()) return std::string(trim(at->get_ref<const std::string&>()));
  return at->is_number() ? at->dump() : std::string();
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::uint64_t value = 0;
  if (!parse_u64(negative ? text.substr(1) : text, value)) return std::nullopt;
  if (value > static_cast<std::uint64_t>(kMaxInt64)) return std::nullopt;
  return negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
}

std::int64_t find_number(const json& object, const char* key, std::int64_t otherwise = 0) {
  return parse_integer(find_text(object, key)).value_or(otherwise);
}

// Returns 0 for an implausible count, since core counts are multiplied by frequencies and could
// overflow.
std::int64_t find_count(const json& object, const char* key) {
  constexpr std::int64_t kMaxCores = 1'000'000;
  const std::int64_t count = find_number(object, key);
  return count >= 0 && count <= kMaxCores ? count : 0;
}

// Reads the first two numbers of "8.5.0".
void read_cann_version(const std::string& text, Info& info) {
  constexpr std::int64_t kMaxVersion = 1'000'000;
  const auto parts = split(text, '.');
  if (parts.size() < 2) return;
  const std::string_view second = parts[1];
  const std::size_t digits = std::min(second.find_first_not_of("0123456789"), second.size());
  const auto major = parse_integer(parts[0]);
  const auto minor = parse_integer(second.substr(0, digits));
  if (!major || !minor || *major > kMaxVersion || *minor > kMaxVersion) return;
  info.cann_major = static_cast<int>(*major);
  info.cann_minor = static_cast<int>(*minor);
}

// Parses core numbers, "0,1"; invalid parts are skipped.
std::vector<std::int64_t> parse_cores(const std::string& text) {
  constexpr std::int64_t kMaxCores = 4096;
  std::vector<std::int64_t> cores;
  for (const std::string_view part : split(text, ',')) {
    const auto core = parse_integer(trim(part));
    if (core && *core >= 0 && *core < kMaxCores && cores.size() < kMaxCores) cores.push_back(*core);
  }
  return cores;
}

// Speeds are in Mbit/s. Cards without a link (-1) or with an implausible speed are skipped.
std::vector<NetworkCard> parse_network_cards(const json& object) {
  constexpr std::int64_t kMaxMbits = 1'000'000'000;
  constexpr std::int64_t kMbitBytes = 125'000;
  constexpr std::size_t kMaxCards = 1024;
  std::vector<NetworkCard> cards;
  const auto list = object.find("netCard");
  if (list == object.end() || !list->is_array()) return cards;
  for (const json& card : *list) {
    if (!card.is_object() || cards.size() == kMaxCards) continue;
    const std::int64_t mbits = find_number(card, "speed", -1);
    const std::string name = find_text(card, "netCardName");
    if (!name.empty() && mbits > 0 && mbits <= kMaxMbits)
      cards.push_back({name, mbits * kMbitBytes});
  }
  return cards;
}

void read_device_info(const json& device, Info& info) {
  info.hwts_frequency_hz = mhz_to_hz(find_text(device, "hwts_frequency"));
  info.aic_frequency_hz = mhz_to_hz(find_text(device, "aic_frequency"));
  info.aiv_frequency_hz = mhz_to_hz(find_text(device, "aiv_frequency"));
  info.ai_core_num = find_count(device, "ai_core_num");
  info.aiv_num = find_count(device, "aiv_num");
  info.ctrl_cpus = parse_cores(find_text(device, "ctrl_cpu"));
  info.ai_cpus = parse_cores(find_text(device, "ai_cpu"));
}

// Parses "0x416,0x417". An invalid event becomes 0, so that the others keep their index.
std::vector<std::uint32_t> parse_events(const std::string& text) {
  constexpr std::size_t kMaxEvents = 64;
  std::vector<std::uint32_t> events;
  if (text.empty()) return events;
  for (const std::string_view part : split(text, ',')) {
    if (events.size() == kMaxEvents) break;
    std::string_view digits = trim(part);
    if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
    std::uint32_t event = 0;
    bool good = !digits.empty() && digits.size() <= 8;
    for (const char digit : digits) {
      constexpr std::string_view kHex = "0123456789abcdef";
      const std::size_t value = kHex.find(lower_ascii({&digit, 1}));
      good = good && value != std::string_view::npos;
      event = good ? event * 16 + static_cast<std::uint32_t>(value) : 0;
    }
    events.push_back(event);
  }
  return events;
}

std::vector<std::string> parse_names(const std::string& text) {
  constexpr std::size_t kMaxNames = 64;
  std::vector<std::string> names;
  if (text.empty()) return names;
  for (const std::string_view part : split(text, ',')) {
    if (names.size() == kMaxNames) break;
    names.emplace_back(trim(part));
  }
  return names;
}

// Returns the text after `unit` in "HA:0x0,0x1;SMMU:0x2,0x8a".
std::string unit_events(const std::string& text, std::string_view unit) {
  for (const std::string_view part : split(text, ';')) {
    const std::size_t colon = std::min(part.find(':'), part.size());
    if (colon < part.size() && trim(part.substr(0, colon)) == unit)
      return std::string(trim(part.substr(colon + 1)));
  }
  return {};
}

// Parses "l1", "level1" or "1".
int parse_level(const json& sample) {
  const std::string key = sample.contains("profLevel") ? "profLevel" : "prof_level";
  const std::string text = find_text(sample, key.c_str());
  if (text.empty() || text.back() < '0' || text.back() > '9') return 1;
  return text.back() - '0';
}

std::string date_digits(const std::string& date) {
  std::string digits;
  for (const char c : date) {
    if (c == '.') break;
    if (c >= '0' && c <= '9') digits += c;
  }
  return digits.size() == 14 ? digits : std::string();
}

std::optional<CollectionTime> read_collection(std::string_view text, const char* time_key,
                                              const char* date_key) {
  constexpr std::int64_t kMaxUs = kMaxInt64 / 1000;  // fits in 64 bits as ns
  const json object = parse_object(text);
  if (!object.is_object()) return std::nullopt;
  const auto wall_us = parse_integer(find_text(object, time_key));
  if (!wall_us || *wall_us < 0 || *wall_us > kMaxUs) return std::nullopt;
  CollectionTime time;
  time.wall_us = *wall_us;
  time.monotonic_ns = std::max<std::int64_t>(find_number(object, "clockMonotonicRaw"), 0);
  time.date = date_digits(find_text(object, date_key));
  time.lost_records = std::max<std::int64_t>(find_number(object, "msprof_lost_records"), 0);
  time.removed_records = std::max<std::int64_t>(find_number(object, "msprof_removed_records"), 0);
  return time;
}

}  // namespace

std::optional<Chip> find_chip(int platform) {
  const auto at = std::find_if(kChips.begin(), kChips.end(),
                               [&](const Chip& chip) { return chip.platform == platform; });
  return at == kChips.end() ? std::nullopt : std::optional<Chip>(*at);
}

std::int64_t mhz_to_hz(std::string_view text) {
  constexpr std::uint64_t kMaxMhz = 1'000'000;
  constexpr std::size_t kPlaces = 6;
  text = trim(text);
  const std::size_t point = std::min(text.find('.'), text.size());
  std::uint64_t mhz = 0;
  if (!parse_u64(text.substr(0, point), mhz) || mhz > kMaxMhz) return 0;
  std::string fraction(point < text.size() ? text.substr(point + 1) : std::string_view());
  if (fraction.find_first_not_of("0123456789") != std::string::npos) return 0;
  fraction.resize(kPlaces, '0');
  std::uint64_t hz = 0;
  parse_u64(fraction, hz);
  return static_cast<std::int64_t>(mhz * 1'000'000 + hz);
}

bool read_info_json(std::string_view text, Info& info) {
  constexpr std::int64_t kMaxPlatform = 1'000'000;
  const json object = parse_object(text);
  if (!object.is_object()) return false;
  const auto platform = parse_integer(find_text(object, "platform_version"));
  if (platform && *platform >= 0 && *platform <= kMaxPlatform) {
    info.platform = static_cast<int>(*platform);
  }
  info.version = find_text(object, "version");
  info.host_runtime = find_text(object, "msprof_host_runtime");
  info.driver_version = find_number(object, "drvVersion");
  read_cann_version(find_text(object, "cannVersion"), info);
  info.pid = find_number(object, "pid");
  info.pid_name = find_text(object, "pid_name");
  info.rank_id = find_number(object, "rank_id", -1);
  info.host_name = find_text(object, "hostname");
  if (object.contains("hostUid")) info.host_uid = find_text(object, "hostUid");
  info.cpu_count = find_count(object, "cpuNums");
  info.cpu_time_hz = find_count(object, "sysClockFreq");
  info.memory_total_kb = std::max<std::int64_t>(find_number(object, "memoryTotal"), 0);
  info.network_cards = parse_network_cards(object);
  const auto cpus = object.find("CPU");
  if (cpus != object.end() && cpus->is_array() && !cpus->empty() && cpus->back().is_object()) {
    const std::int64_t hz = mhz_to_hz(find_text(cpus->back(), "Frequency"));
    if (hz > 0) info.host_frequency_hz = hz;
  }
  const auto device = object.find("DeviceInfo");
  if (device == object.end()) return true;
  if (device->is_object()) read_device_info(*device, info);
  if (device->is_array() && !device->empty() && device->front().is_object()) {
    read_device_info(device->front(), info);
  }
  return true;
}

bool read_sample_json(std::string_view text, Info& info) {
  const json object = parse_object(text);
  if (!object.is_object()) return false;
  info.is_task_based = find_text(object, "ai_core_profiling_mode") != "sample-based";
  const std::string aiv_mode = find_text(object, "aiv_profiling_mode");
  info.is_aiv_task_based = aiv_mode.empty() ? info.is_task_based : aiv_mode != "sample-based";
  if (find_text(object, "ai_core_profiling") != "off") {
    info.aic_metrics = find_text(object, "ai_core_metrics");
    info.aic_events = parse_events(find_text(object, "ai_core_profiling_events"));
  }
  if (find_text(object, "aiv_profiling") != "off") {
    info.aiv_metrics = find_text(object, "aiv_metrics");
    info.aiv_events = parse_events(find_text(object, "aiv_profiling_events"));
  }
  info.l2_cache_events = parse_events(find_text(object, "l2CacheTaskProfilingEvents"));
  info.ts_cpu_events = parse_events(find_text(object, "ts_cpu_profiling_events"));
  info.host_disk_hz = find_count(object, "host_disk_freq");
  info.qos_events = parse_names(find_text(object, "qosEvents"));
  info.smmu_events = parse_events(unit_events(find_text(object, "npuEvents"), "SMMU"));
  info.profile_level = parse_level(object);
  info.has_task_block = find_text(object, "taskBlock") == "on";
  info.has_hccl_trace = find_text(object, "hcclTrace") == "on";
  info.llc_profiling = find_text(object, "llc_profiling");
  return true;
}

std::optional<StartLog> read_start_log(std::string_view text, bool needs_count) {
  std::optional<std::uint64_t> monotonic;
  std::optional<std::uint64_t> count;
  StartLog log;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string key = lower_ascii(trim(line.substr(0, colon)));
    std::uint64_t value = 0;
    if (!parse_u64(trim(line.substr(colon + 1)), value)) continue;
    if (key == "clock_monotonic_raw" && !monotonic) monotonic = value;
    if (key == "cntvct" && !count) count = value;
    if (key == "cntvct_diff") log.count_diff = value;
    if (key == "clock_realtime" && value <= static_cast<std::uint64_t>(kMaxInt64))
      log.realtime_ns = static_cast<std::int64_t>(value);
  }
  if (!monotonic || (!count && needs_count) || *monotonic > static_cast<std::uint64_t>(kMaxInt64)) {
    return std::nullopt;
  }
  log.monotonic_ns = static_cast<std::int64_t>(*monotonic);
  log.count = count.value_or(0);
  return log;
}

std::optional<CollectionTime> read_start_info(std::string_view text) {
  return read_collection(text, "collectionTimeBegin", "collectionDateBegin");
}

std::optional<CollectionTime> read_end_info(std::string_view text) {
  return read_collection(text, "collectionTimeEnd", "collectionDateEnd");
}

void take_info_json(Info& to, const Info& from) {
  to.platform = from.platform;
  to.version = from.version;
  to.host_runtime = from.host_runtime;
  to.driver_version = from.driver_version;
  to.cann_major = from.cann_major;
  to.cann_minor = from.cann_minor;
  to.pid = from.pid;
  to.pid_name = from.pid_name;
  to.rank_id = from.rank_id;
  to.host_name = from.host_name;
  to.host_uid = from.host_uid;
  to.host_frequency_hz = from.host_frequency_hz;
  to.cpu_count = from.cpu_count;
  to.cpu_time_hz = from.cpu_time_hz;
  to.memory_total_kb = from.memory_total_kb;
  to.network_cards = from.network_cards;
}

void take_sample_json(Info& to, const Info& from) {
  to.is_task_based = from.is_task_based;
  to.is_aiv_task_based = from.is_aiv_task_based;
  to.aic_metrics = from.aic_metrics;
  to.aiv_metrics = from.aiv_metrics;
  to.aic_events = from.aic_events;
  to.aiv_events = from.aiv_events;
  to.l2_cache_events = from.l2_cache_events;
  to.ts_cpu_events = from.ts_cpu_events;
  to.host_disk_hz = from.host_disk_hz;
  to.qos_events = from.qos_events;
  to.smmu_events = from.smmu_events;
  to.profile_level = from.profile_level;
  to.has_task_block = from.has_task_block;
  to.has_hccl_trace = from.has_hccl_trace;
  to.llc_profiling = from.llc_profiling;
}

}  // namespace msprof::cann
