// The info files of all folders of a CANN capture put together: window, chip, clocks.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/number.hpp"
#include "base/text.hpp"
#include "session/cann_session.hpp"

namespace msprof {

namespace fs = std::filesystem;
using cann::CannPartFiles;

namespace {

constexpr std::int64_t kFullExportDriver = 0x072211;
constexpr std::int64_t kDefaultSpanNs = std::int64_t{30} * 60 * 1'000'000'000;
constexpr std::string_view kKnownVersion = "1.0";

std::string utc_stamp(std::int64_t ns) {
  return fmt::format("{:%Y%m%d%H%M%S}", fmt::gmtime(static_cast<std::time_t>(ns / 1'000'000'000)));
}

// The begin as PROF_000001_20240515160507111_… says it.
std::string stamp_in_name(const fs::path& folder) {
  const std::string name = cann::own_name(folder);
  const auto parts = split(name, '_');
  std::uint64_t digits = 0;
  const bool is_time = parts.size() >= 3 && parts[0] == "PROF" && parts[2].size() == 17 &&
                       parse_u64(parts[2], digits);
  return is_time ? std::string(parts[2].substr(0, 14)) : std::string();
}

std::string shown(const CannPart& part) {
  return part.is_host() ? "the host" : fmt::format("device {}", *part.device);
}

// The monotonic time at the start: cntvct_diff is cut to ns, and rounded in the peer's Python path.
void set_monotonic(ClockStart& start, const cann::StartLog& log, std::int64_t host_hz) {
  constexpr int128 kMost = std::numeric_limits<std::int64_t>::max() / 4;
  const int128 scaled = int128{log.count_diff} * 1'000'000'000;
  const int128 cut = std::min(scaled / host_hz, kMost);
  const int128 rounded = std::min(divide_rounded(scaled, host_hz), kMost);
  start.monotonic_ns =
      std::min<std::int64_t>(log.monotonic_ns, kMost * 2) + static_cast<std::int64_t>(cut);
  start.shown_extra_ns = static_cast<std::int64_t>(rounded - cut);
}

void set_wall(ClockStart& start, const std::optional<cann::CollectionTime>& begin) {
  if (!begin) return;
  start.wall_offset_ns = begin->wall_us * 1000 - begin->monotonic_ns;
  start.begin_monotonic_ns = begin->monotonic_ns;
}

}  // namespace

bool CannSession::has_batch_ids() const {
  return chip_ && chip_->has_batch_ids && info().driver_version >= kFullExportDriver;
}

void CannSession::set_window(const PartFiles& files) {
  std::optional<cann::CollectionTime> end;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!begin_) begin_ = files[i].begin;
    if (!end) end = files[i].end;
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].end) continue;
    tell(end ? FindingId::borrowed_info : FindingId::no_end, parts_[i].name + "/end_info",
         "missing or broken", end ? "that of another folder is used" : "no end is known");
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].begin) continue;
    missing(parts_[i], "start_info",
            begin_ ? "that of another folder is used"
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

// A folder without a file of its own takes what all folders have in common from the first that has
// one.
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
              part.is_host() ? "what it says is taken from a device, where one has it"
                             : "its tick frequency is not known: its tasks have no times");
    }
    if (!files[i].has_sample_json) {
      if (with_sample != files.end()) cann::take_sample_json(files[i].info, with_sample->info);
      if (with_sample != files.end()) {
        tell(FindingId::borrowed_info, part.name + "/sample.json", "missing or broken",
             "that of another folder is used");
      } else {
        missing(part, "sample.json", "which counters were recorded is not known");
      }
    }
    const std::string& version = files[i].info.version;
    if (files[i].has_info_json && !version.empty() && version != kKnownVersion) {
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
  // Devices say it for themselves; the host repeats it.
  for (std::size_t i = files.size(); i-- > 0;) {
    if (!parts_[i].info.platform || !files[i].has_info_json) continue;
    if (said_by && parts_[i].is_host()) break;
    platform = parts_[i].info.platform;
    said_by = &parts_[i];
  }
  if (platform) chip_ = cann::chip_of(*platform);
  if (chip_) return;
  findings_.push_back({FindingId::unknown_chip, "info.json",
                       said_by ? said_by->name + "/info.json" : "info.json",
                       platform ? "unknown chip" : "chip not said",
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
              start ? fmt::format("that of another folder is used, times of {} may be shifted",
                                  shown(part))
                    : fmt::format("{} has no times", shown(part)));
    }
    if (part.is_host()) {
      part.clock = host_clock_;
    } else {
      set_device_clock(part, files[i], start);
    }
  }
}

// `start` is the host's, for a device without a host_start.log of its own.
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
  if (!start || part.info.hwts_frequency_hz <= 0) return;
  ClockStart clock;
  clock.frequency_hz = part.info.hwts_frequency_hz;
  clock.count = part.start_ticks;
  set_monotonic(clock, *start, part.info.host_frequency_hz);
  set_wall(clock, files.begin ? files.begin : begin_);
  part.clock = ClockMap(clock);
}

}  // namespace msprof
