// PcieRecords: the counters of PCIe, those of a moment together. For the table, the layer and the
// unified database that show them. Source: cann_system.md 7.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "export/counter_samples.hpp"

namespace msprof {

struct PcieRecord {
  // As in the files: Tx posted, non-posted, completion, non-posted latency, Rx posted, non-posted,
  // completion; of each the least, the largest and the mean.
  static constexpr std::size_t kGroups = 7;
  static constexpr std::size_t kLatency = 3;

  const CounterTrack* track = nullptr;  // one of them, for the device
  std::int64_t time_ns = 0;
  // Bytes a second, of the latency ns. Empty: nothing was seen.
  std::array<std::array<std::optional<std::int64_t>, 3>, kGroups> values{};
};

class PcieRecords {
 public:
  PcieRecords(const Database& db, const ExportScope& scope)
      : samples_(db, "pcie", scope), has_sample_(samples_.next()) {}

  // Leaves out moments in which nothing posted was sent, as others do.
  bool next();
  const PcieRecord& operator*() const { return record_; }
  const PcieRecord* operator->() const { return &record_; }

 private:
  void gather();

  CounterSamples samples_;
  bool has_sample_;  // one that is read and belongs to the next record
  PcieRecord record_;
};

}  // namespace msprof
