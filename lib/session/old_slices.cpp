#include "session/old_slices.hpp"

#include <fmt/format.h>

#include "base/number.hpp"

namespace msprof::cann {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kDoneEnding = ".done";

std::string done_file_path(const std::string& name) {
  return name.substr(0, name.size() - kDoneEnding.size());
}

}  // namespace

// `.done` files may be empty or missing. A 910 deletes the oldest slices of continuous recordings.
std::vector<SessionFinding> check_slices(const CannSession& session,
                                         const DoneLength& done_length) {
  std::vector<SessionFinding> findings;
  const auto report_finding = [&](FindingId id, const RawFile& file, std::string reason,
                                  std::string detail) {
    findings.push_back({id, "capture", file.name, std::move(reason), std::move(detail)});
  };
  const RawFile* before = nullptr;
  for (const RawFile& file : session.raw_files()) {
    const CannFileName& name = session.parsed_name(file);
    const CannFileName* last = before == nullptr ? nullptr : &session.parsed_name(*before);
    const bool goes_on = last != nullptr &&
                         &session.find_part(*before) == &session.find_part(file) &&
                         last->stem == name.stem && last->device == name.device;
    const std::int64_t step = goes_on ? saturating_subtract(name.slice, last->slice) : 0;
    if (!goes_on && name.slice > 0) {
      report_finding(FindingId::lost_records, file, "oldest records, deleted at the storage limit",
                     fmt::format("{} slices", name.slice));
    } else if (step > 1) {
      report_finding(FindingId::missing_data_file, file, "slices before it are missing",
                     fmt::format("{} of them", step - 1));
    }
    before = &file;
    const auto length = done_length(file.path.string() + std::string(kDoneEnding),
                                    file.name + std::string(kDoneEnding));
    if (!length || static_cast<std::uint64_t>(*length) == file.size_bytes) continue;
    const bool is_shorter = file.size_bytes < static_cast<std::uint64_t>(*length);
    report_finding(
        is_shorter ? FindingId::shorter_than_done : FindingId::longer_than_done, file,
        is_shorter ? "shorter than the length in its .done" : "longer than the length in its .done",
        fmt::format("{} bytes, .done has {}", file.size_bytes, *length));
  }
  return findings;
}

std::vector<SessionFinding> check_lone_done(const fs::path& folder,
                                            const std::vector<std::string>& names,
                                            const std::string& prefix,
                                            const DoneLength& done_length) {
  std::vector<SessionFinding> findings;
  std::error_code error;
  for (const std::string& name : names) {
    if (!name.ends_with(kDoneEnding)) continue;
    const std::string file = done_file_path(name);
    const bool is_data = parse_classic_name(file) && !is_info_file_name(file);
    if (!is_data || fs::exists(folder / file, error)) continue;
    if (done_length(folder / name, prefix + name).value_or(0) == 0) continue;
    findings.push_back(
        {FindingId::missing_data_file, "capture", prefix + name, "data file is missing", ""});
  }
  return findings;
}

}  // namespace msprof::cann
