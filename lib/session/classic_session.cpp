// Captures of CANN 5 and older: CannSession members used only for them, and ClassicSession.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "session/classic_session.hpp"
#include "session/old_slices.hpp"
#include "session/run_record.hpp"
#include "store/store_limits.hpp"

namespace msprof {

namespace fs = std::filesystem;

using cann::CannPartFiles;

// If a host folder has aging or unaging files, the capture is from a later CANN.
bool CannSession::has_cann5_files() {
  bool is_old = false;
  for (const CannPart& part : parts_) {
    const auto& names = folders_.names(part.folder / "data");
    const bool is_later = std::any_of(names.begin(), names.end(), [](const std::string& name) {
      return name.starts_with("aging.") || name.starts_with("unaging.");
    });
    if (part.is_host() && is_later) return false;
    is_old = is_old || std::any_of(names.begin(), names.end(), [](const std::string& name) {
               return cann::is_cann5_name(name) && cann::parse_data_name(name);
             });
  }
  return is_old;
}

// Only the 910 and related chips write a hardware scheduler log. This is enough to read the
// records, but not to know the chip, so the name stays empty.
void CannSession::assume_old_chip() {
  const bool has_hwts = std::any_of(parts_.begin(), parts_.end(), [this](const CannPart& part) {
    const auto is_hwts = [](const std::string& name) {
      return name.starts_with("hwts.") || name.starts_with("training_trace.");
    };
    for (const auto& folder : {part.folder, part.folder / "data"}) {
      const auto& names = folders_.names(folder);
      if (std::any_of(names.begin(), names.end(), is_hwts)) return true;
    }
    return false;
  });
  chip_ = cann::find_chip(has_hwts ? 1 : 0);
  chip_->name = chip_->product_name = {};
}

// Host times are ns of the host's monotonic clock. Device ticks are converted
// with the moment that host_start.log and dev_start.log both record; the wall clock comes from
// host_start.log. Source: cann5_classic.md 3.
void CannSession::set_old_clocks(const PartFiles& files) {
  constexpr std::int64_t kDefaultTicksHz = 100'000'000;
  const cann::StartLog* first = nullptr;
  for (const CannPartFiles& part : files) {
    if (first == nullptr && part.host_start) first = &*part.host_start;
  }
  const auto host_clock = [&](const cann::StartLog& log) {
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();  // limit, so that sums
                                                                             // fit
    ClockStart clock;
    clock.frequency_hz = 1'000'000'000;
    clock.monotonic_ns = std::min(log.monotonic_ns, kMax / 4);
    clock.count = static_cast<std::uint64_t>(clock.monotonic_ns);
    clock.begin_monotonic_ns = clock.monotonic_ns;
    clock.counts_are_ns = true;
    if (log.realtime_ns > 0) {
      clock.wall_offset_ns = std::min(log.realtime_ns, kMax / 2) - clock.monotonic_ns;
    } else if (begin_) {
      clock.wall_offset_ns =
          std::min(begin_->wall_us * 1000, kMax / 2) - std::min(begin_->monotonic_ns, kMax / 4);
    }
    return clock;
  };
  host_clock_ = ClockMap(host_clock(first ? *first : cann::StartLog()));
  for (std::size_t i = 0; i < files.size(); ++i) {
    CannPart& part = parts_[i];
    const cann::StartLog* start = files[i].host_start ? &*files[i].host_start : first;
    if (!start)
      missing(part, "host_start.log", "times count from the start of the machine, not from 1970");
    ClockStart clock = host_clock(start ? *start : cann::StartLog());
    part.start = {clock.monotonic_ns, clock.monotonic_ns, clock.wall_offset_ns};
    if (part.is_host()) {
      part.clock = ClockMap(clock);
      continue;
    }
    if (part.info.hwts_frequency_hz <= 0) part.info.hwts_frequency_hz = kDefaultTicksHz;
    clock.frequency_hz = part.info.hwts_frequency_hz;
    clock.counts_are_ns = false;
    if (files[i].device_start) {
      part.start_ticks = files[i].device_start->count;
      part.start->device_ns = files[i].device_start->monotonic_ns;
      clock.count = part.start_ticks;
    } else {
      missing(part, "dev_start.log",
              fmt::format("times of device {} count from the start of its counter", *part.device));
      clock.count = 0;
      clock.monotonic_ns = 0;
      clock.wall_offset_ns = 0;
    }
    part.clock = ClockMap(clock);
  }
}

void CannSession::check_old_files(const std::vector<DataFolder>& folders) {
  const auto tell_all = [this](std::vector<SessionFinding> findings) {
    findings_.insert(findings_.end(), findings.begin(), findings.end());
  };
  const cann::DoneLength done_length = [this](const fs::path& path, const std::string& name) {
    std::error_code none;
    const bool is_there = fs::is_regular_file(path, none) && track(path, name);
    return is_there ? read_done(path, name).integer("filesize") : std::nullopt;
  };
  tell_all(cann::check_slices(*this, done_length));
  for (const auto& [path, prefix] : folders)
    tell_all(cann::check_lone_done(path, folders_.names(path), prefix, done_length));
}

// A JOB folder has its data in the folder itself, in data/, or in both. The earliest versions
// stored the graph engine's data in container/N/data.
ClassicSession::ClassicSession(const fs::path& folder, CaptureFolders listed)
    : CannSession(folder, std::move(listed), Dialect::classic, Generation::classic) {
  std::vector<DataFolder> folders = {{folder, ""}, {folder / "data", "data/"}};
  for (const std::string& name : folders_.names(folder / "container")) {
    const fs::path data = folder / "container" / name / "data";
    if (folders_.is_folder(data)) folders.emplace_back(data, "container/" + name + "/data/");
  }
  add_devices(folders);
  PartFiles files = read_info_files();
  set_window(files);
  share_info(files);
  set_chip(files);
  set_old_clocks(files);
  for (const auto& [path, prefix] : folders) add_folder(path, prefix);
  sort_raw_files();
  check_old_files(folders);
  finish();
}

// Adds at least one device: if no name has a device number, the capture is from device 0.
void ClassicSession::add_devices(const std::vector<DataFolder>& folders) {
  std::set<std::int64_t> devices;
  for (const auto& [path, prefix] : folders) {
    for (const std::string& name : folders_.names(path)) {
      const auto parsed = cann::parse_classic_name(name);
      if (parsed && !cann::is_companion(name)) devices.insert(parsed->device.value_or(0));
    }
  }
  if (devices.empty()) devices.insert(0);
  for (const std::int64_t device : devices) {
    if (parts_.size() == store_limit::kDevices) return report_left_out_devices();
    CannPart part;
    part.name = fmt::format("device_{}", device);
    part.folder = folder();
    part.device = device;
    parts_.push_back(std::move(part));
  }
}

void ClassicSession::add_folder(const fs::path& path, const std::string& prefix) {
  std::error_code error;
  for (const std::string& name : folders_.names(path)) {
    if (cann::is_companion(name) || cann::is_info_file_name(name)) continue;
    const auto parsed = cann::parse_classic_name(name);
    if (fs::is_directory(path / name, error)) continue;
    if (!parsed) {
      const bool is_ours =
          prefix.empty() && (name == kRunRecordName || name.starts_with(".msprof"));
      if (!is_ours) report_finding(FindingId::other_entry, prefix + name, "present, not read");
      continue;
    }
    const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const CannPart& candidate) {
      return candidate.device == parsed->device.value_or(0);
    });
    if (part == parts_.end() || !track(path / name, prefix + name)) continue;
    names_[prefix + name] = {*parsed, static_cast<std::size_t>(part - parts_.begin())};
    raw_files_.push_back({path / name,
                          prefix + name,
                          static_cast<std::uint64_t>(file_states_.back().size_bytes),
                          {}});
  }
}

}  // namespace msprof
