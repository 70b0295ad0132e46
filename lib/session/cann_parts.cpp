#include "session/cann_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/text.hpp"
#include "session/cann_names.hpp"

namespace msprof::cann {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMostInfoBytes = 8 << 20;

constexpr std::array<std::string_view, 6> kInfoFiles = {
    "info.json", "sample.json", "start_info", "end_info", "host_start.log", "dev_start.log"};

// "info.json", "info.json.0".
bool is_info_file(std::string_view name, std::string_view base) {
  if (!name.starts_with(base)) return false;
  name.remove_prefix(base.size());
  std::uint64_t number = 0;
  return name.empty() || (name.front() == '.' && parse_u64(name.substr(1), number));
}

class PartReader {
 public:
  PartReader(const fs::path& folder, const std::string& part, std::optional<std::int64_t> device,
             const TrackFile& track, std::vector<SessionFinding>& findings)
      : folder_(folder),
        part_(part),
        device_(device),
        track_(track),
        findings_(findings),
        names_(sorted_names(folder)) {}

  // The text of one info file; empty where there is none that can be read.
  std::optional<std::string> text_of(std::string_view base) {
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
          same ? "there twice, the same" : "there twice", fmt::format("{} is used", chosen->first));
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
      return read_text_file(folder_ / name, kMostInfoBytes);
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
  std::vector<std::string> names_;
  std::string used_;
};

}  // namespace

std::string own_name(const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::absolute(folder, error).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

std::vector<std::string> sorted_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  while (!error && at != fs::directory_iterator()) {
    names.push_back(at->path().filename().string());
    at.increment(error);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool is_info_file_name(std::string_view name) {
  for (const std::string_view ending : {".done", ".complete", ".zip"}) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  return std::any_of(kInfoFiles.begin(), kInfoFiles.end(),
                     [&](std::string_view base) { return is_info_file(name, base); });
}

CannPartFiles read_part_files(const fs::path& folder, const std::string& name,
                              std::optional<std::int64_t> device, const TrackFile& track,
                              std::vector<SessionFinding>& findings) {
  PartReader reader(folder, name, device, track, findings);
  CannPartFiles files;
  if (const auto text = reader.text_of("info.json")) {
    files.has_info_json = read_info_json(*text, files.info);
    if (!files.has_info_json) reader.broken("info.json", "it is no JSON object");
  }
  if (const auto text = reader.text_of("sample.json")) {
    files.has_sample_json = read_sample_json(*text, files.info);
    if (!files.has_sample_json) reader.broken("sample.json", "it is no JSON object");
  }
  if (const auto text = reader.text_of("start_info")) {
    files.begin = read_start_info(*text);
    if (!files.begin) reader.broken("start_info", "it has no collectionTimeBegin");
  }
  if (const auto text = reader.text_of("end_info")) {
    files.end = read_end_info(*text);
    if (!files.end) reader.broken("end_info", "it has no collectionTimeEnd");
  }
  if (const auto text = reader.text_of("host_start.log")) {
    files.host_start = read_start_log(*text);
    if (!files.host_start)
      reader.broken("host_start.log", "it has no clock_monotonic_raw or cntvct");
  }
  if (!device) return files;
  if (const auto text = reader.text_of("dev_start.log")) {
    files.device_start = read_start_log(*text);
    if (!files.device_start)
      reader.broken("dev_start.log", "it has no clock_monotonic_raw or cntvct");
  }
  return files;
}

}  // namespace msprof::cann
