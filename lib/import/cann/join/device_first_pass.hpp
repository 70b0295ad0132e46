// DeviceFirstPass: first pass over the records of one device, which finds and counts them.
// join_devices() then reads them again in order. Does not depend on the host, so it runs on the
// read-ahead thread during the host's join.
#pragma once

#include <cstdint>
#include <vector>

#include "base/work_ahead.hpp"
#include "import/cann/cann_import.hpp"
#include "import/cann/join/device_counts.hpp"
#include "import/cann/join/device_sources.hpp"

namespace msprof::cann {

// Decodes device records in the format of the chip.
class DeviceDecoder {
 public:
  explicit DeviceDecoder(const CannImport& import)
      : is_v6_(import.session.chip()->family == ChipFamily::stars_v6),
        are_streams_expanded_(import.are_streams_expanded) {}

  bool is_v6() const { return is_v6_; }
  DeviceLog log(const StreamRecord& record) const {
    return is_v6_ ? read_stars_log_v6(record) : read_stars_log(record, are_streams_expanded_);
  }
  TaskCounters counters(const StreamRecord& record) const {
    return is_v6_ ? read_pmu_v6(record) : read_ffts_record(record, are_streams_expanded_);
  }

 private:
  bool is_v6_;
  bool are_streams_expanded_;
};

// Counts missing records by their rolling 4-bit counter. Source: cann_device.md 4, 5.1.
class RecordCounter {
 public:
  // Adds a record. Call in reading order.
  void see(const StreamRecord& record, unsigned counter);
  // Returns the minimum number of missing records; gaps of 16 cannot be detected. Slices were
  // written in order of their numbers or of their times: the order with fewer missing records is
  // used.
  std::uint64_t lost() const;

 private:
  struct Slice {
    std::size_t file = 0;
    std::uint64_t time = 0;  // time of the first record
    unsigned first = 0;
    unsigned last = 0;
  };
  static std::uint64_t lost_between(const std::vector<Slice>& slices);

  std::vector<Slice> slices_;
  std::uint64_t lost_ = 0;
};

class DeviceFirstPass {
 public:
  // Starts at once on the thread of import.ahead. The chip must be known.
  DeviceFirstPass(CannImport& import, const CannPart& part, DeviceInputs& inputs);

  // Waits for the first pass, opens the streams, and adds the findings to the report.
  void finish(const ImportContext& context);

  // Valid after finish(). States are not counted.
  DeviceCounts& counts() { return counts_; }
  StateTasks& states() { return states_; }

 private:
  struct Found {
    RecordCounter counter;
    std::array<std::int64_t, 64> unread{};  // number of unread records, indexed by function type
    std::uint64_t overflows = 0;
    ImportReport skipped;
  };

  void add_track();
  void count_logs();
  void count_stars(RecordStream& stream);
  void count_hwts(RecordStream& stream, Found& found);
  void count_ffts(RecordStream& stream);
  void report_stars(const ImportContext& context);
  void report_ffts(const ImportContext& context);
  void report_finding(const ImportContext& context, FindingId id, std::string_view kind,
                      std::uint64_t count, std::string reason, std::string detail) const;
  void report_lost(const ImportContext& context, std::string_view kind, const Found& found) const;

  CannImport& import_;
  const CannPart& part_;
  DeviceInputs& inputs_;
  DeviceDecoder decoder_;
  DeviceCounts counts_;
  StateTasks states_;
  Found stars_;
  Found hwts_[2];  // hwts and hwts_vector
  Found ffts_;
  bool has_block_runs_ = false;
  // Declared last: the jobs use the members above. All logs are one job, because they share
  // counts_.
  WorkAhead::Job logs_job_;
  WorkAhead::Job ffts_job_;
};

}  // namespace msprof::cann
