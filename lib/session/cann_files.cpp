#include "session/cann_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/text.hpp"

namespace msprof::cann {

namespace fs = std::filesystem;

namespace {

using Parts = std::vector<std::string_view>;

constexpr std::string_view kSlice = "slice_";

std::string join(const Parts& parts) {
  std::string text;
  for (const std::string_view part : parts) {
    if (!text.empty()) text += '.';
    text += part;
  }
  return text;
}

// Returns "task_track" for "compact.task_track", "api_event" for "api_event.data".
std::string host_stem(const Parts& parts) {
  if (parts.size() != 2) return join(parts);
  if (parts[0] == "compact" || parts[0] == "additional") return std::string(parts[1]);
  if (parts[0] == "variable") return join({parts[1], parts[0]});
  if (parts[0] == "api_event" && parts[1] == "data") return std::string(parts[0]);
  return join(parts);
}

// Normalizes older spellings of the same kind.
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

// Parses "ts_track.data.44.0.3": the last three parts are channel, device and slice.
std::optional<CannFileName> parse_bare_numbers(Parts parts) {
  if (parts.size() < 5) return std::nullopt;
  const auto slice = parse_i64(parts[parts.size() - 1]);
  const auto device = parse_i64(parts[parts.size() - 2]);
  if (!slice || !device || !parse_i64(parts[parts.size() - 3])) return std::nullopt;
  parts.resize(parts.size() - 3);
  return CannFileName{device_stem(std::move(parts)), false, device, *slice};
}

constexpr std::uint64_t kMaxInfoBytes = 8 << 20;

constexpr std::array<std::string_view, 6> kInfoFiles = {
    "info.json", "sample.json", "start_info", "end_info", "host_start.log", "dev_start.log"};

class PartReader {
 public:
  PartReader(const fs::path& folder, const std::vector<std::string>& names, const std::string& part,
             std::optional<std::int64_t> device, const TrackFile& track,
             std::vector<SessionFinding>& findings)
      : folder_(folder),
        part_(part),
        device_(device),
        track_(track),
        findings_(findings),
        names_(names) {}

  // Returns the text of one info file; empty if no such file is readable.
  std::optional<std::string> read_text(std::string_view base) {
    std::vector<std::pair<std::string, std::string>> found;  // name, text
    for (const std::string& name : names_) {
      if (!is_info_file(name, base)) continue;
      if (auto text = read(name)) found.emplace_back(name, std::move(*text));
    }
    if (found.empty()) return std::nullopt;
    const std::string wanted = device_ ? fmt::format("{}.{}", base, *device_) : std::string(base);
    auto chosen = std::find_if(found.begin(), found.end(),
                               [&](const auto& file) { return file.first == wanted; });
    if (chosen == found.end()) chosen = found.begin();
    for (const auto& [name, text] : found) {
      if (name == chosen->first) continue;
      const bool same = text == chosen->second;
      add(same ? FindingId::info_twice : FindingId::info_differs, base, name,
          same ? "present twice, the same" : "present twice",
          fmt::format("{} is used", chosen->first));
    }
    used_ = chosen->first;
    return std::move(chosen->second);
  }

  void broken(std::string_view base, std::string_view detail) {
    add(FindingId::broken_info, base, used_, "broken", std::string(detail));
  }

 private:
  std::optional<std::string> read(const std::string& name) {
    if (!track_(folder_ / name, part_ + "/" + name)) return std::nullopt;
    try {
      return read_text_file(folder_ / name, kMaxInfoBytes);
    } catch (const Error& error) {
      add(FindingId::unreadable_file, "capture", name, "unreadable", error.what());
      return std::nullopt;
    }
  }

  void add(FindingId id, std::string_view kind, const std::string& name, std::string_view reason,
           std::string detail) {
    findings_.push_back(
        {id, std::string(kind), part_ + "/" + name, std::string(reason), std::move(detail)});
  }

  const fs::path& folder_;
  const std::string& part_;
  std::optional<std::int64_t> device_;
  const TrackFile& track_;
  std::vector<SessionFinding>& findings_;
  const std::vector<std::string>& names_;
  std::string used_;
};

}  // namespace

std::optional<CannFileName> parse_data_name(std::string_view name) {
  Parts parts = split(name, '.');
  if (has_empty(parts)) return std::nullopt;
  if (!parts.back().starts_with(kSlice)) return parse_bare_numbers(std::move(parts));
  const auto slice = parse_i64(parts.back().substr(kSlice.size()));
  parts.pop_back();
  if (!slice || parts.empty()) return std::nullopt;
  if (parts[0] == "aging" || parts[0] == "unaging") {
    const bool is_unaging = parts[0] == "unaging";
    parts.erase(parts.begin());
    if (parts.empty()) return std::nullopt;
    return CannFileName{host_stem(parts), is_unaging, std::nullopt, *slice};
  }
  std::optional<std::int64_t> device;
  if (parts.size() > 1) device = parse_i64(parts.back());
  if (device) parts.pop_back();
  // "hwts.log.data.45.dev.profiler_default_tag.1.slice_0": channel and tag precede the device.
  if (parts.size() > 1 && parts.back() == "profiler_default_tag") {
    parts.pop_back();
    if (parts.size() > 1 && parts.back() == "dev") parts.pop_back();
    if (parts.size() > 1 && parse_i64(parts.back())) parts.pop_back();
  }
  return CannFileName{device_stem(std::move(parts)), false, device, *slice};
}

std::optional<CannFileName> parse_classic_name(std::string_view name) {
  Parts parts = split(name, '.');
  if (has_empty(parts) || parts.size() < 2) return std::nullopt;
  // "Framework.task_desc_info.0.JOBABC.slice_0": the job name precedes the slice.
  const std::size_t last = parts.size() - 1;
  if (parts[last].starts_with(kSlice) && last > 1 && parts[last - 1].starts_with("JOB")) {
    const std::string plain =
        join(Parts(parts.begin(), parts.end() - 2)) + '.' + std::string(parts[last]);
    return parse_data_name(plain);
  }
  if (parts[last].starts_with(kSlice)) return parse_data_name(name);
  // "Framework.task_desc_info.0.3": host files have no channel.
  const bool is_of_host = parts[0] == "Framework" || parts[0] == "AclModule" ||
                          parts[0] == "Runtime" || parts[0] == "runtime";
  if (!is_of_host) return parse_data_name(name);
  const auto slice = parse_i64(parts[last]);
  const auto device = parse_i64(parts[last - 1]);
  if (parts.size() < 4 || !slice || !device) return std::nullopt;
  parts.resize(parts.size() - 2);
  return CannFileName{join(parts), false, device, *slice};
}

bool is_companion(std::string_view name) {
  return name.ends_with(".done") || name.ends_with(".complete") || name.ends_with(".zip") ||
         name.ends_with(".join");
}

bool is_cann5_name(std::string_view name) {
  return name.starts_with("AclModule.") || name.starts_with("Framework.") ||
         name.starts_with("runtime.api.") || name.starts_with("Runtime.api.") ||
         name.starts_with("runtime.task_track.") || name.starts_with("Runtime.task_track.") ||
         name.starts_with("runtime.data.") || name.starts_with("Msprof.");
}

bool is_info_file(std::string_view name, std::string_view base) {
  if (!name.starts_with(base)) return false;
  name.remove_prefix(base.size());
  std::uint64_t number = 0;
  return name.empty() || (name.front() == '.' && parse_u64(name.substr(1), number));
}

bool is_info_file_name(std::string_view name) {
  for (const std::string_view ending : {".done", ".complete", ".zip"}) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  return std::any_of(kInfoFiles.begin(), kInfoFiles.end(),
                     [&](std::string_view base) { return is_info_file(name, base); });
}

CannPartFiles read_part_files(const fs::path& folder, const std::vector<std::string>& names,
                              const std::string& name, std::optional<std::int64_t> device,
                              const TrackFile& track, std::vector<SessionFinding>& findings,
                              bool is_cann5) {
  PartReader reader(folder, names, name, device, track, findings);
  CannPartFiles files;
  if (const auto text = reader.read_text("info.json")) {
    files.has_info_json = read_info_json(*text, files.info);
    if (!files.has_info_json) reader.broken("info.json", "it is not a JSON object");
  }
  if (const auto text = reader.read_text("sample.json")) {
    files.has_sample_json = read_sample_json(*text, files.info);
    if (!files.has_sample_json) reader.broken("sample.json", "it is not a JSON object");
  }
  if (const auto text = reader.read_text("start_info")) {
    files.begin = read_start_info(*text);
    if (!files.begin) reader.broken("start_info", "it has no collectionTimeBegin");
  }
  if (const auto text = reader.read_text("end_info")) {
    files.end = read_end_info(*text);
    if (!files.end) reader.broken("end_info", "it has no collectionTimeEnd");
  }
  if (const auto text = reader.read_text("host_start.log")) {
    files.host_start = read_start_log(*text, !is_cann5);
    if (!files.host_start)
      reader.broken("host_start.log", "it has no clock_monotonic_raw or cntvct");
  }
  if (!device) return files;
  if (const auto text = reader.read_text("dev_start.log")) {
    files.device_start = read_start_log(*text);
    if (!files.device_start)
      reader.broken("dev_start.log", "it has no clock_monotonic_raw or cntvct");
  }
  return files;
}

}  // namespace msprof::cann
