#include "session/old_slices.hpp"

#include <fmt/format.h>

#include "base/number.hpp"

namespace msprof::cann {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kDoneEnding = ".done";

std::string file_of_done(const std::string& name) {
  return name.substr(0, name.size() - kDoneEnding.size());
}

}  // namespace

// `.done` files may be empty or missing. A 910 deletes the oldest slices of continuous recordings.
std::vector<SessionFinding> check_slices(const CannSession& session, const DoneLength& length_of) {
  std::vector<SessionFinding> findings;
  const auto tell = [&](FindingId id, const RawFile& file, std::string reason, std::string detail) {
    findings.push_back({id, "capture", file.name, std::move(reason), std::move(detail)});
  };
  const RawFile* before = nullptr;
  for (const RawFile& file : session.raw_files()) {
    const FileName& name = session.name_of(file);
    const FileName* last = before == nullptr ? nullptr : &session.name_of(*before);
    const bool goes_on = last != nullptr && &session.part_of(*before) == &session.part_of(file) &&
                         last->stem == name.stem && last->device == name.device;
    const std::int64_t step = goes_on ? saturating_subtract(name.slice, last->slice) : 0;
    if (!goes_on && name.slice > 0) {
      tell(FindingId::lost_records, file, "oldest records, deleted at the storage limit",
           fmt::format("{} slices", name.slice));
    } else if (step > 1) {
      tell(FindingId::missing_data_file, file, "slices before it are missing",
           fmt::format("{} of them", step - 1));
    }
    before = &file;
    const auto length = length_of(file.path.string() + std::string(kDoneEnding),
                                  file.name + std::string(kDoneEnding));
    if (!length || static_cast<std::uint64_t>(*length) == file.size_bytes) continue;
    const bool is_shorter = file.size_bytes < static_cast<std::uint64_t>(*length);
    tell(
        is_shorter ? FindingId::shorter_than_done : FindingId::longer_than_done, file,
        is_shorter ? "shorter than the length in its .done" : "longer than the length in its .done",
        fmt::format("{} bytes, .done has {}", file.size_bytes, *length));
  }
  return findings;
}

std::vector<SessionFinding> check_lone_done(const fs::path& folder,
                                            const std::vector<std::string>& names,
                                            const std::string& prefix,
                                            const DoneLength& length_of) {
  std::vector<SessionFinding> findings;
  std::error_code error;
  for (const std::string& name : names) {
    if (!name.ends_with(kDoneEnding)) continue;
    const std::string file = file_of_done(name);
    const bool is_data = parse_classic_name(file) && !is_info_file_name(file);
    if (!is_data || fs::exists(folder / file, error)) continue;
    if (length_of(folder / name, prefix + name).value_or(0) == 0) continue;
    findings.push_back(
        {FindingId::missing_data_file, "capture", prefix + name, "data file is missing", ""});
  }
  return findings;
}

}  // namespace msprof::cann
