// CannSession represents a PROF folder, or a single host or device folder from one: its info files,
// clocks, and raw files in reading order.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "session/cann_files.hpp"
#include "session/cann_info.hpp"
#include "session/clock_map.hpp"
#include "session/session.hpp"

namespace msprof {

// The start of the collection on three clocks. Used to convert counters that are relative to the
// start or use a monotonic clock.
// Source: cann_system.md 1.3.
struct StartMoment {
  std::int64_t host_ns = 0;    // host's clock_monotonic_raw, including cntvct_diff
  std::int64_t device_ns = 0;  // device's clock_monotonic_raw; equals host_ns for the host folder
  std::int64_t wall_offset_ns = 0;  // add to host's monotonic time for time since 1970

  // Convert to wall-clock ns: microseconds after the start, a device monotonic time, a host
  // monotonic time. Values that do not fit saturate at INT64_MAX or INT64_MIN + 1.
  std::int64_t after_start_us(std::uint64_t us) const;
  std::int64_t of_device(std::uint64_t monotonic_ns) const;
  std::int64_t of_host(std::uint64_t monotonic_ns) const;
};

// A folder host/ or device_N/ of the capture.
struct CannPart {
  std::string name;  // "host", "device_0"; prefix of its file names
  std::filesystem::path folder;
  std::optional<std::int64_t> device;  // empty: the host
  cann::Info info;
  // Clock of the host counter or the device ticks. Empty if start logs or the frequency are
  // missing.
  std::optional<ClockMap> clock;
  std::uint64_t start_ticks = 0;     // cntvct in dev_start.log
  std::optional<StartMoment> start;  // empty if a start log is missing

  bool is_host() const { return !device.has_value(); }
};

class CannSession : public Session {
 public:
  // True for a folder that contains host/ or device_N/, or is a host or device folder itself.
  static bool recognises(const std::filesystem::path& folder, CaptureFolders& folders);

  explicit CannSession(const std::filesystem::path& folder, CaptureFolders folders = {});

  // Host first, then devices by number. Never empty.
  const std::vector<CannPart>& parts() const { return parts_; }
  const CannPart* host() const;  // null if there is no host folder
  // Clock of the host counter, from the host folder, else from the first host_start.log in a device
  // folder.
  const std::optional<ClockMap>& host_clock() const { return host_clock_; }
  // Info of the host, or of the first device if there is no host folder.
  const cann::Info& info() const;
  // Empty if the chip is unknown or not recorded; then findings() contains the reason.
  const std::optional<cann::Chip>& chip() const { return chip_; }
  // True if the host runtime wrote the capture: times are measured, unit loads are modelled.
  bool is_of_host_runtime() const { return !info().host_runtime.empty(); }
  // True for CANN 5.0 and 5.1: host records are in the device folders, and host times are ns of the
  // monotonic clock (cann5_classic.md 1, 3).
  bool is_cann5() const { return generation_ == Generation::cann5; }
  // is_classic(): true for a JOB folder of 2019 to 2021 (ClassicSession). is_old(): true for CANN 5
  // or classic.
  bool is_classic() const { return generation_ == Generation::classic; }
  bool is_old() const { return generation_ != Generation::current; }
  // True if the host runtime deleted the oldest records at its storage limit; some remaining
  // records are then unpaired.
  bool lacks_oldest() const { return lacks_oldest_; }
  // True if drvVersion and the chip allow batch ids to be generated (cann_host.md 1.7.1).
  bool has_batch_ids() const;
  // True if task ids are 32 bits wide and never wrap around, so that a task is identified without
  // its stream (chips 15 and 16; cann_device.md 5.2).
  bool has_unique_task_ids() const;

  std::string file_stem(const RawFile& file) const override { return parsed_name(file).stem; }
  const cann::CannFileName& parsed_name(const RawFile& file) const {
    return names_.at(file.name).name;
  }
  const CannPart& find_part(const RawFile& file) const { return parts_[names_.at(file.name).part]; }

  // Time range of the collection, wall clock. Without end_info it ends 30 minutes after the start.
  // Without start_info, begin_ns() is 0 and times count from the boot of the machine.
  std::int64_t begin_ns() const { return begin_ns_; }
  std::int64_t end_ns() const { return end_ns_; }
  bool has_end() const { return has_end_; }
  // Start in local time of the collecting machine, "20240515160507"; used in product names.
  const std::string& time_stamp() const { return time_stamp_; }

 protected:
  enum class Generation { current, cann5, classic };
  // For older generations; the constructor of the derived class reads the folder.
  CannSession(const std::filesystem::path& folder, CaptureFolders folders, Dialect dialect,
              Generation generation)
      : Session(dialect, folder, std::move(folders)), generation_(generation) {}

  struct Named {
    cann::CannFileName name;
    std::size_t part = 0;
  };
  using PartFiles = std::vector<cann::CannPartFiles>;                // one per part
  using DataFolder = std::pair<std::filesystem::path, std::string>;  // path, name prefix

  void add_parts();
  void add_part(const std::string& name, const std::filesystem::path& part_folder);
  void report_other_entries();
  PartFiles read_info_files();
  void share_info(PartFiles& files);
  void set_chip(const PartFiles& files);
  void set_window(const PartFiles& files);
  void set_clocks(const PartFiles& files);
  bool has_cann5_files();
  void set_old_clocks(const PartFiles& files);
  void assume_old_chip();
  void set_device_clock(CannPart& part, const cann::CannPartFiles& files,
                        const cann::StartLog* start);
  void add_raw_files();
  void sort_raw_files();
  std::int64_t kinds_without_first_slice() const;
  void report_losses(const PartFiles& files);
  void add_data_folder(std::size_t part);
  // For old captures: reports missing slices, and sizes that contradict the `.done` file.
  void check_old_files(const std::vector<DataFolder>& folders);
  void missing(const CannPart& part, const char* file, std::string consequence);
  // Adds a finding about the capture as a whole.
  void report_finding(FindingId id, std::string file, std::string reason, std::string detail = "");
  void report_left_out_devices();

  std::vector<CannPart> parts_;
  std::optional<ClockMap> host_clock_;
  std::optional<cann::Chip> chip_;
  std::optional<cann::CollectionTime> begin_;
  bool lacks_oldest_ = false;
  Generation generation_ = Generation::current;
  std::int64_t begin_ns_ = 0;
  std::int64_t end_ns_ = 0;
  bool has_end_ = false;
  std::string time_stamp_;
  std::map<std::string, Named> names_;  // keyed by RawFile::name
};

}  // namespace msprof
