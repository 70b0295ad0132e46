#include "session/cann_session.hpp"

// Combines the info files of all folders of a CANN capture: time range, chip, clocks.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "base/number.hpp"
#include "base/text.hpp"
#include "session/run_record.hpp"
#include "store/store_limits.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Folders that msprof and the vendor's tool create in a capture.
constexpr std::array<std::string_view, 6> kProductFolders = {
    "sqlite", "mindstudio_profiler_output", "mindstudio_profiler_log", "timeline", "summary",
    "analyze"};

// True for a database, or a companion file of an open SQLite database.
bool is_database_file(std::string_view name) {
  return name.ends_with(".db") || name.ends_with(".db-wal") || name.ends_with(".db-shm") ||
         name.ends_with(".db-journal");
}

bool is_product(std::string_view name) {
  return std::find(kProductFolders.begin(), kProductFolders.end(), name) != kProductFolders.end() ||
         (name.starts_with("msprof_") && is_database_file(name)) || name.starts_with(".msprof") ||
         name == kRunRecordName;
}

struct PartName {
  std::optional<std::int64_t> device;  // empty: host
};

// Parses "host" or "device_0".
std::optional<PartName> parse_part_name(std::string_view name) {
  constexpr std::string_view kDevice = "device_";
  if (name == "host") return PartName{};
  std::uint64_t number = 0;
  if (!name.starts_with(kDevice) || !parse_u64(name.substr(kDevice.size()), number)) {
    return std::nullopt;
  }
  if (number > std::uint64_t{std::numeric_limits<std::int32_t>::max()}) return std::nullopt;
  return PartName{static_cast<std::int64_t>(number)};
}

bool has_slices(const fs::path& data, CaptureFolders& folders) {
  const auto& names = folders.names(data);
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return cann::parse_data_name(name).has_value();
  });
}

bool has_host_slices(const fs::path& data, CaptureFolders& folders) {
  const auto& names = folders.names(data);
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return (name.starts_with("aging.") || name.starts_with("unaging.")) &&
           cann::parse_data_name(name);
  });
}

// Only CANN writes these files. info.json.N does not count, because SVP boards write it too.
bool has_info_files(const fs::path& folder, CaptureFolders& folders) {
  const auto& names = folders.names(folder);
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return cann::is_info_file_name(name) && !name.starts_with("info.json");
  });
}

// True for a single host or device folder, recognised by its own name or by file names that only
// host data has.
bool is_part(const fs::path& folder, CaptureFolders& folders) {
  if (!parse_part_name(own_name(folder))) return has_host_slices(folder / "data", folders);
  return has_info_files(folder, folders) || has_slices(folder / "data", folders);
}

// True for a folder created only by an export, such as in a JOB folder of an Ascend 910.
bool has_only_products(const fs::path& folder, CaptureFolders& folders) {
  const auto& names = folders.names(folder);
  return !names.empty() && std::all_of(names.begin(), names.end(), is_product);
}

// Any project may have a folder called "host", so it must be in a PROF folder or look like a part.
bool has_parts(const fs::path& folder, CaptureFolders& folders) {
  for (const std::string& name : folders.names(folder)) {
    const auto part = parse_part_name(name);
    if (!part || !folders.is_folder(folder / name)) continue;
    if (has_only_products(folder / name, folders)) continue;
    if (part->device || own_name(folder).starts_with("PROF") || is_part(folder / name, folders)) {
      return true;
    }
  }
  return false;
}

// Returns "host" for a folder not called host or device_N: it contains host data (see is_part()).
std::string name_as_part(const fs::path& folder) {
  const std::string name = own_name(folder);
  return parse_part_name(name) ? name : "host";
}

constexpr std::int64_t kFullExportDriver = 0x072211;
constexpr std::int64_t kDefaultSpanNs = std::int64_t{30} * 60 * 1'000'000'000;
constexpr std::string_view kKnownVersion = "1.0";
constexpr std::string_view kLaterVersion = "2.0";  // has other records in hbm, llc and npu_mem

std::string utc_stamp(std::int64_t ns) {
  return fmt::format("{:%Y%m%d%H%M%S}", fmt::gmtime(static_cast<std::time_t>(ns / 1'000'000'000)));
}

// Returns the start time in the folder name PROF_000001_20240515160507111_….
std::string stamp_in_name(const fs::path& folder) {
  const auto time = parse_time_in_name(own_name(folder));
  return time ? fmt::format("{:014}", *time / 1000) : std::string();
}

std::string shown(const CannPart& part) {
  return part.is_host() ? "the host" : fmt::format("device {}", *part.device);
}

// Sets the monotonic time at the start. cntvct_diff is truncated to ns; the vendor's Python code
// rounds it.
void set_monotonic(ClockStart& start, const cann::StartLog& log, std::int64_t host_hz) {
  constexpr int128 kMax = std::numeric_limits<std::int64_t>::max() / 4;
  const int128 scaled = int128{log.count_diff} * 1'000'000'000;
  const int128 cut = std::min(scaled / host_hz, kMax);
  const int128 rounded = std::min(divide_rounded(scaled, host_hz), kMax);
  start.monotonic_ns =
      std::min<std::int64_t>(log.monotonic_ns, kMax * 2) + static_cast<std::int64_t>(cut);
  start.vendor_extra_ns = static_cast<std::int64_t>(rounded - cut);
}

void set_wall(ClockStart& start, const std::optional<cann::CollectionTime>& begin) {
  if (!begin) return;
  start.wall_offset_ns = begin->wall_us * 1000 - begin->monotonic_ns;
  start.begin_monotonic_ns = begin->monotonic_ns;
}

std::int64_t clamp_ns(int128 ns) {
  constexpr int128 kMin = std::numeric_limits<std::int64_t>::min() + 1;  // + 1: INT64_MIN is kNull
  constexpr int128 kMax = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::clamp(ns, kMin, kMax));
}

}  // namespace

bool CannSession::recognises(const fs::path& folder, CaptureFolders& folders) {
  return has_parts(folder, folders) || is_part(folder, folders);
}

CannSession::CannSession(const fs::path& folder, CaptureFolders listed)
    : Session(Dialect::cann, folder, std::move(listed)) {
  add_parts();
  if (has_cann5_files()) generation_ = Generation::cann5;
  if (!host() && !is_cann5() && has_parts(folder, folders_)) {
    report_finding(FindingId::missing_folder, "host", "no host folder",
                   "calls, operators and their names are missing");
  }
  report_other_entries();
  PartFiles files = read_info_files();
  set_window(files);
  share_info(files);
  set_chip(files);
  is_cann5() ? set_old_clocks(files) : set_clocks(files);
  add_raw_files();
  report_losses(files);
  if (is_cann5()) {
    std::vector<DataFolder> folders;
    for (const CannPart& part : parts_)
      folders.emplace_back(part.folder / "data", part.name + "/data/");
    check_old_files(folders);
  }
  finish();
}

const CannPart* CannSession::host() const {
  return parts_.front().is_host() ? &parts_.front() : nullptr;
}

const cann::Info& CannSession::info() const {
  return parts_.front().info;
}

void CannSession::missing(const CannPart& part, const char* file, std::string consequence) {
  // Early collectors did not write all info files.
  const FindingId id = is_classic() ? FindingId::missing_old_info : FindingId::missing_info;
  findings_.push_back(
      {id, file, part.name + "/" + file, "missing or broken", std::move(consequence)});
}

void CannSession::report_finding(FindingId id, std::string file, std::string reason,
                                 std::string detail) {
  findings_.push_back({id, "capture", std::move(file), std::move(reason), std::move(detail)});
}

void CannSession::report_left_out_devices() {
  report_finding(FindingId::unreadable_file, "", "devices beyond the limit, not read",
                 fmt::format("at most {} are read", with_thousands(store_limit::kDevices)));
}

// Adds at least one part.
void CannSession::add_parts() {
  const auto names =
      has_parts(folder(), folders_) ? folders_.names(folder()) : std::vector<std::string>{};
  std::size_t devices = 0;
  for (const std::string& name : names) {
    const auto part = parse_part_name(name);
    if (!part || !folders_.is_folder(folder() / name)) continue;
    if (!part->device || ++devices <= store_limit::kDevices) add_part(name, folder() / name);
  }
  if (devices > store_limit::kDevices) report_left_out_devices();
  if (parts_.empty()) {
    add_part(name_as_part(folder()), folder());
    return;
  }
  std::stable_sort(parts_.begin(), parts_.end(), [](const CannPart& a, const CannPart& b) {
    return a.device.value_or(-1) < b.device.value_or(-1);
  });
}

void CannSession::add_part(const std::string& name, const fs::path& part_folder) {
  CannPart part;
  part.name = name;
  part.folder = part_folder;
  part.device = parse_part_name(name)->device;
  const auto same = std::find_if(parts_.begin(), parts_.end(), [&](const CannPart& other) {
    return other.device == part.device;
  });
  if (same != parts_.end()) {
    report_finding(FindingId::second_folder, name, "second folder of the same device, not read",
                   fmt::format("{} is read", same->name));
    return;
  }
  std::error_code error;
  if (fs::is_symlink(part_folder, error)) {
    report_finding(FindingId::followed_link, name, "a link to another folder, followed");
  }
  parts_.push_back(std::move(part));
}

void CannSession::report_other_entries() {
  std::error_code error;
  const bool is_whole = has_parts(folder(), folders_);
  for (const std::string& name : folders_.names(folder())) {
    if (!is_whole || parse_part_name(name) || is_product(name) || cann::is_companion(name))
      continue;
    const bool is_folder = fs::is_directory(folder() / name, error);
    report_finding(FindingId::other_entry, name,
                   is_folder ? "unrelated folder, not read" : "present, not read");
  }
  for (const CannPart& part : parts_) {
    for (const std::string& name : folders_.names(part.folder)) {
      if (name == "data" || is_product(name) || cann::is_info_file_name(name)) continue;
      const bool is_folder = fs::is_directory(part.folder / name, error);
      report_finding(FindingId::other_entry, part.name + "/" + name,
                     is_folder ? "unrelated folder, not read" : "present, not read");
    }
  }
}

CannSession::PartFiles CannSession::read_info_files() {
  PartFiles files;
  const cann::TrackFile tracker = [this](const fs::path& path, const std::string& name) {
    return track(path, name);
  };
  for (const CannPart& part : parts_) {
    files.push_back(cann::read_part_files(part.folder, folders_.names(part.folder), part.name,
                                          part.device, tracker, findings_, is_old()));
  }
  return files;
}

void CannSession::add_raw_files() {
  for (std::size_t part = 0; part < parts_.size(); ++part) add_data_folder(part);
  sort_raw_files();
}

void CannSession::sort_raw_files() {
  // Sorts by kind and slice; unaging (kept) files precede aging ones.
  const auto key = [this](const RawFile& file) {
    const Named& named = names_.at(file.name);
    return std::tuple(named.part, std::string_view(named.name.stem), !named.name.is_unaging,
                      named.name.device.value_or(-1), named.name.slice,
                      std::string_view(file.name));
  };
  std::sort(raw_files_.begin(), raw_files_.end(),
            [&](const RawFile& a, const RawFile& b) { return key(a) < key(b); });
}

void CannSession::add_data_folder(std::size_t index) {
  const CannPart& part = parts_[index];
  const fs::path data = part.folder / "data";
  std::error_code error;
  if (!folders_.is_folder(data)) {
    if (folders_.problems().contains(data)) return;
    report_finding(FindingId::missing_folder, part.name + "/data", "no data folder",
                   "nothing was recorded there, or it was lost");
    return;
  }
  for (const std::string& name : folders_.names(data)) {
    if (cann::is_companion(name)) continue;
    const std::string shown = part.name + "/data/" + name;
    if (fs::is_directory(data / name, error)) {
      report_finding(FindingId::other_entry, shown, "unrelated folder, not read");
      continue;
    }
    if (!track(data / name, shown)) continue;
    names_[shown] = {cann::parse_data_name(name).value_or(cann::CannFileName{}), index};
    raw_files_.push_back(
        {data / name, shown, static_cast<std::uint64_t>(file_states_.back().size_bytes), {}});
    // Host runtime only: other collectors may omit `.done`.
    raw_files_.back().has_space =
        is_of_host_runtime() && !fs::exists(data / (name + ".done"), error);
  }
}

// Counts the kinds of files whose first slice is not slice 0.
std::int64_t CannSession::kinds_without_first_slice() const {
  std::int64_t count = 0;
  const Named* before = nullptr;
  for (const RawFile& file : raw_files_) {
    const Named& named = names_.at(file.name);
    const bool is_first = before == nullptr || before->part != named.part ||
                          before->name.stem != named.name.stem ||
                          before->name.is_unaging != named.name.is_unaging;
    if (is_first && named.name.slice > 0) ++count;
    before = &named;
  }
  return count;
}

// Reports losses recorded by the host runtime: records lost for lack of space, files not closed.
void CannSession::report_losses(const PartFiles& files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!files[i].end) continue;
    const auto tell_lost = [&](const char* what, std::int64_t records) {
      if (records == 0) return;
      findings_.push_back({FindingId::lost_records, "capture", parts_[i].name + "/end_info", what,
                           fmt::format("{} records", records)});
    };
    tell_lost("records dropped for lack of space", files[i].end->lost_records);
    tell_lost("oldest records, deleted at the storage limit", files[i].end->removed_records);
    lacks_oldest_ = lacks_oldest_ || files[i].end->removed_records > 0;
  }
  // A collector that was killed did not write the count: infer deleted slices from the slice
  // numbers.
  const auto later = is_of_host_runtime() && !lacks_oldest_ ? kinds_without_first_slice() : 0;
  if (later > 0) {
    lacks_oldest_ = true;
    report_finding(FindingId::lost_records, "", "oldest records, deleted at the storage limit",
                   fmt::format("the first slices of {} kinds of files are missing", later));
  }
  if (is_of_host_runtime() && info().has_hccl_trace)
    report_finding(FindingId::no_collectives, "", "no collectives: not supported on a host");
  const auto open = std::count_if(raw_files_.begin(), raw_files_.end(),
                                  [](const RawFile& file) { return file.has_space; });
  if (open > 0) {
    report_finding(FindingId::unclosed_file, "", "files not closed",
                   fmt::format("{} of them", open));
  }
}

using cann::CannPartFiles;

std::int64_t StartMoment::after_start_us(std::uint64_t us) const {
  return clamp_ns(int128{us} * 1000 + host_ns + wall_offset_ns);
}

std::int64_t StartMoment::of_device(std::uint64_t monotonic_ns) const {
  return clamp_ns(int128{monotonic_ns} - device_ns + host_ns + wall_offset_ns);
}

std::int64_t StartMoment::of_host(std::uint64_t monotonic_ns) const {
  return clamp_ns(int128{monotonic_ns} + wall_offset_ns);
}

bool CannSession::has_batch_ids() const {
  return chip_ && chip_->has_batch_ids && !has_unique_task_ids() &&
         info().driver_version >= kFullExportDriver;
}

bool CannSession::has_unique_task_ids() const {
  return chip_ && chip_->family == cann::ChipFamily::stars_v6;
}

void CannSession::set_window(const PartFiles& files) {
  std::optional<cann::CollectionTime> end;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!begin_) begin_ = files[i].begin;
    if (!end) end = files[i].end;
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].end) continue;
    if (is_classic() && !end) {
      missing(parts_[i], "end_info", "the end is unknown");
      continue;
    }
    report_finding(end ? FindingId::borrowed_info : FindingId::no_end, parts_[i].name + "/end_info",
                   "missing or broken",
                   end ? "the file of another folder is used" : "the end is unknown");
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].begin) continue;
    missing(parts_[i], "start_info",
            begin_ ? "the file of another folder is used"
                   : "times count from the start of the machine, not from 1970");
  }
  has_end_ = end.has_value();
  if (begin_) {
    begin_ns_ = begin_->wall_us * 1000;
    end_ns_ = begin_ns_ <= std::numeric_limits<std::int64_t>::max() - kDefaultSpanNs
                  ? begin_ns_ + kDefaultSpanNs
                  : begin_ns_;
    time_stamp_ = begin_->date;
  }
  if (end) end_ns_ = end->wall_us * 1000;
  if (time_stamp_.empty()) time_stamp_ = stamp_in_name(folder());
  if (time_stamp_.empty()) time_stamp_ = utc_stamp(begin_ns_);
}

// Copies the common values from the first folder with an info file to folders without one.
void CannSession::share_info(PartFiles& files) {
  const auto with_info = std::find_if(files.begin(), files.end(),
                                      [](const CannPartFiles& f) { return f.has_info_json; });
  const auto with_sample = std::find_if(files.begin(), files.end(),
                                        [](const CannPartFiles& f) { return f.has_sample_json; });
  for (std::size_t i = 0; i < files.size(); ++i) {
    const CannPart& part = parts_[i];
    if (!files[i].has_info_json) {
      if (with_info != files.end()) cann::take_info_json(files[i].info, with_info->info);
      missing(part, "info.json",
              part.is_host() ? "its values are read from a device, if possible"
              : is_old()     ? "a tick is assumed to be 10 ns"
                             : "its tick frequency is unknown: its tasks have no times");
    }
    if (!files[i].has_sample_json) {
      if (with_sample != files.end()) cann::take_sample_json(files[i].info, with_sample->info);
      if (with_sample != files.end()) {
        report_finding(FindingId::borrowed_info, part.name + "/sample.json", "missing or broken",
                       "the file of another folder is used");
      } else {
        missing(part, "sample.json", "the recorded counters are unknown");
      }
    }
    const std::string& version = files[i].info.version;
    if (files[i].has_info_json && !version.empty() && version != kKnownVersion &&
        version != kLaterVersion) {
      findings_.push_back({FindingId::unknown_version, "info.json", part.name + "/info.json",
                           "unknown version",
                           fmt::format("version {} of the collection is read as {}",
                                       printable(version), kKnownVersion)});
    }
  }
  for (std::size_t i = 0; i < files.size(); ++i) parts_[i].info = std::move(files[i].info);
}

void CannSession::set_chip(const PartFiles& files) {
  std::optional<int> platform;
  const CannPart* said_by = nullptr;
  // The value of the devices has priority; the host only repeats it.
  for (std::size_t i = files.size(); i-- > 0;) {
    if (!parts_[i].info.platform || !files[i].has_info_json) continue;
    if (said_by && parts_[i].is_host()) break;
    platform = parts_[i].info.platform;
    said_by = &parts_[i];
  }
  if (platform) chip_ = cann::find_chip(*platform);
  if (!platform && is_old()) assume_old_chip();
  if (chip_ && is_of_host_runtime()) chip_->name = chip_->product_name = cann::kHostRuntime;
  if (chip_) return;
  findings_.push_back({FindingId::unknown_chip, "info.json",
                       said_by ? said_by->name + "/info.json" : "info.json",
                       platform ? "unknown chip" : "no chip given",
                       fmt::format("{}: device data that depends on the chip is not read",
                                   platform ? fmt::format("platform_version {}", *platform)
                                            : std::string("no platform_version"))});
}

void CannSession::set_clocks(const PartFiles& files) {
  const CannPartFiles* host_files = nullptr;
  for (const CannPartFiles& part : files) {
    if (!host_files && part.host_start) host_files = &part;
  }
  const cann::StartLog* start = host_files ? &*host_files->host_start : nullptr;
  if (start) {
    const CannPart& said_by = parts_[static_cast<std::size_t>(host_files - files.data())];
    ClockStart clock;
    clock.frequency_hz = said_by.info.host_frequency_hz;
    clock.count = start->count;
    clock.counts_are_ns = clock.frequency_hz == 1'000'000'000;
    set_monotonic(clock, *start, clock.frequency_hz);
    set_wall(clock, begin_);
    host_clock_ = ClockMap(clock);
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    CannPart& part = parts_[i];
    if (!files[i].host_start) {
      missing(part, "host_start.log",
              start ? fmt::format("the file of another folder is used, times of {} may be shifted",
                                  shown(part))
                    : fmt::format("{} has no times", shown(part)));
    }
    if (part.is_host()) {
      part.clock = host_clock_;
      if (start) {
        const ClockStart& at = host_clock_->start();
        part.start = {at.monotonic_ns, at.monotonic_ns, at.wall_offset_ns};
      }
    } else {
      set_device_clock(part, files[i], start);
    }
  }
}

// Uses the host's `start` for a device without its own host_start.log.
void CannSession::set_device_clock(CannPart& part, const CannPartFiles& files,
                                   const cann::StartLog* start) {
  if (!files.device_start) {
    missing(part, "dev_start.log",
            fmt::format("{} has no clock: its tasks have no times", shown(part)));
    return;
  }
  part.start_ticks = files.device_start->count;
  if (files.has_info_json && part.info.hwts_frequency_hz <= 0) {
    findings_.push_back({FindingId::no_clock, "info.json", part.name + "/info.json",
                         "no hwts_frequency",
                         fmt::format("{} has no clock: its tasks have no times", shown(part))});
  }
  if (files.host_start) start = &*files.host_start;
  if (!start) return;
  ClockStart clock;
  clock.frequency_hz = part.info.hwts_frequency_hz;
  clock.count = part.start_ticks;
  set_monotonic(clock, *start, part.info.host_frequency_hz);
  set_wall(clock, files.begin ? files.begin : begin_);
  part.start = {clock.monotonic_ns, files.device_start->monotonic_ns, clock.wall_offset_ns};
  if (part.info.hwts_frequency_hz > 0) part.clock = ClockMap(clock);
}

}  // namespace msprof
