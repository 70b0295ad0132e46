// DeviceFirstPass: reads the records of one device once, ahead of the join: finds and counts them.
// For join_devices(), which reads them a second time, in order. It needs nothing of the host, so
// that the thread ahead does it while the host's records are joined.
#pragma once

#include <cstdint>
#include <vector>

#include "base/work_ahead.hpp"
#include "import/cann/cann_import.hpp"
#include "import/cann/join/device_counts.hpp"
#include "import/cann/join/device_sources.hpp"

namespace msprof::cann {

// Decodes records of a device as its chip writes them.
class DeviceDecoder {
 public:
  explicit DeviceDecoder(const CannImport& import)
      : is_v6_(import.session.chip()->family == ChipFamily::stars_v6),
        are_streams_expanded_(import.streams_expanded) {}

  bool is_v6() const { return is_v6_; }
  LogRecord log(const StreamRecord& record) const {
    return is_v6_ ? read_stars_log_v6(record) : read_stars_log(record, are_streams_expanded_);
  }
  FftsRecord ffts(const StreamRecord& record) const {
    return is_v6_ ? read_pmu_v6(record) : read_ffts_record(record, are_streams_expanded_);
  }

 private:
  bool is_v6_;
  bool are_streams_expanded_;
};

// Counts missing records, by the rolling 4-bit counter that each one carries.
// Source: cann_device.md 4, 5.1.
class RecordCounter {
 public:
  // In reading order.
  void see(const StreamRecord& record, unsigned counter);
  // Least number of missing records: a gap of 16 cannot be seen. The order in which slices were
  // written is that of their numbers or that of their times; what either order explains is not
  // missing.
  std::uint64_t lost() const;

 private:
  struct Slice {
    std::size_t file = 0;
    std::uint64_t time = 0;  // of its first record
    unsigned first = 0;
    unsigned last = 0;
  };
  static std::uint64_t lost_between(const std::vector<Slice>& slices);

  std::vector<Slice> slices_;
  std::uint64_t lost_ = 0;
};

class DeviceFirstPass {
 public:
  // Begins at once, on the thread of import.ahead. The chip is known.
  DeviceFirstPass(CannImport& import, const CannPart& part, DeviceInputs& inputs);

  // Completes it: the streams are open then, and what was found is in the report.
  void finish(const ImportContext& context);

  // Once it is finished; the counts lack those of states.
  DeviceCounts& counts() { return counts_; }
  StateTasks& states() { return states_; }

 private:
  // What is found in the records of one kind.
  struct Found {
    RecordCounter counter;
    std::array<std::int64_t, 64> unread{};  // records by function type
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
  void tell(const ImportContext& context, FindingId id, std::string_view kind, std::uint64_t count,
            std::string reason, std::string detail) const;
  void report_lost(const ImportContext& context, std::string_view kind, const Found& found) const;

  CannImport& import_;
  const CannPart& part_;
  DeviceInputs& inputs_;
  DeviceDecoder decoder_;
  DeviceCounts counts_;
  StateTasks states_;
  Found stars_;
  Found hwts_[2];  // of hwts and hwts_vector
  Found ffts_;
  bool has_block_runs_ = false;  // in ffts_profile
  // Last: they use the others. Logs are one job, for what they count is one.
  WorkAhead::Job logs_job_;
  WorkAhead::Job ffts_job_;
};

}  // namespace msprof::cann
