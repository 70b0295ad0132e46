// CannSession: a PROF folder, or one host or device folder of it: info files, clocks, raw files in
// reading order. For import/cann.
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

// One moment on three clocks, for counters that count from it or by monotonic clocks.
// Source: cann_system.md 1.3.
struct StartMoment {
  std::int64_t host_ns = 0;    // clock_monotonic_raw of the host, cntvct_diff in
  std::int64_t device_ns = 0;  // that of the device; of the host's own folder the same as host_ns
  std::int64_t wall_offset_ns = 0;  // from the host's monotonic clock to 1970

  // Wall-clock ns of so many us after the start, of a moment of the device's monotonic clock, and
  // of one of the host's; INT64_MAX or _MIN for what does not fit.
  std::int64_t after_start_us(std::uint64_t us) const;
  std::int64_t of_device(std::uint64_t monotonic_ns) const;
  std::int64_t of_host(std::uint64_t monotonic_ns) const;
};

// host/ or one device_N/.
struct CannPart {
  std::string name;  // "host", "device_0": the first part of the names of its files
  std::filesystem::path folder;
  std::optional<std::int64_t> device;  // empty: the host
  cann::Info info;
  // Host: its counter. Device: its ticks. Empty where the start logs or the frequency are missing.
  std::optional<ClockMap> clock;
  std::uint64_t start_ticks = 0;     // cntvct of dev_start.log
  std::optional<StartMoment> start;  // empty where a start log is missing

  bool is_host() const { return !device.has_value(); }
};

class CannSession : public Session {
 public:
  // A folder with host/ or device_N/, or such a folder itself.
  static bool recognises(const std::filesystem::path& folder, CaptureFolders& folders);

  explicit CannSession(const std::filesystem::path& folder, CaptureFolders folders = {});

  // The host first, then the devices by number.
  const std::vector<CannPart>& parts() const { return parts_; }
  const CannPart* host() const;  // null: there is no host folder
  // The host's counter: of the host folder, else as the first device's host_start.log has it.
  const std::optional<ClockMap>& host_clock() const { return host_clock_; }
  // The host's info, else that of the first device.
  const cann::Info& info() const;
  // Empty: unknown or not given; findings() has the sentence.
  const std::optional<cann::Chip>& chip() const { return chip_; }
  // True if the host runtime wrote it: times are measured, unit loads are modelled.
  bool is_of_host_runtime() const { return !info().host_runtime.empty(); }
  // True for CANN 5.0 and 5.1: what the host did lies in the folders of the devices, its times are
  // ns of the monotonic clock (cann5_classic.md 1, 3).
  bool is_cann5() const { return generation_ == Generation::cann5; }
  // True for a JOB folder of 2019 to 2021 (ClassicSession), and for either of them.
  bool is_classic() const { return generation_ == Generation::classic; }
  bool is_old() const { return generation_ != Generation::current; }
  // Whether the host runtime removed the oldest records at its storage limit: some of what is left
  // lacks its other half.
  bool lacks_oldest() const { return lacks_oldest_; }
  // True if drvVersion and chip allow batch ids to be made (cann_host.md 1.7.1).
  bool has_batch_ids() const;
  // True if task ids have 32 bits and never begin again, so that a task is found without its stream
  // (chips 15 and 16; cann_device.md 5.2).
  bool has_unique_task_ids() const;

  std::string stem_of(const RawFile& file) const override { return name_of(file).stem; }
  const cann::FileName& name_of(const RawFile& file) const { return names_.at(file.name).name; }
  const CannPart& part_of(const RawFile& file) const { return parts_[names_.at(file.name).part]; }

  // Window of the collection, wall clock. No end_info: 30 minutes from the begin. Both are 0 where
  // start_info is missing; times then count from the start of the machine.
  std::int64_t begin_ns() const { return begin_ns_; }
  std::int64_t end_ns() const { return end_ns_; }
  bool has_end() const { return has_end_; }
  // "20240515160507": the begin as the collecting machine's local time; names of products.
  const std::string& time_stamp() const { return time_stamp_; }

 protected:
  enum class Generation { current, cann5, classic };
  // Of another generation, whose constructor fills it in.
  CannSession(const std::filesystem::path& folder, CaptureFolders folders, Dialect dialect,
              Generation generation)
      : Session(dialect, folder, std::move(folders)), generation_(generation) {}

  struct Named {
    cann::FileName name;
    std::size_t part = 0;
  };
  using PartFiles = std::vector<cann::CannPartFiles>;                // one a part
  using DataFolder = std::pair<std::filesystem::path, std::string>;  // with what its names begin

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
  // Slices that are missing, and lengths that a `.done` contradicts; of old captures.
  void check_old_files(const std::vector<DataFolder>& folders);
  void missing(const CannPart& part, const char* file, std::string consequence);
  // A finding about the capture as a whole.
  void tell(FindingId id, std::string file, std::string reason, std::string detail = "");

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
  std::map<std::string, Named> names_;  // by RawFile::name
};

}  // namespace msprof
