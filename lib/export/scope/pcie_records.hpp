// PcieRecords: groups the PCIe counters of one time into a record. Source: cann_system.md 7.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "export/scope/counter_samples.hpp"

namespace msprof {

struct PcieRecord {
  // Groups as in the files: Tx posted, non-posted, completion, non-posted latency, Rx posted,
  // non-posted, completion. Each has minimum, maximum and mean.
  static constexpr std::size_t kGroups = 7;
  static constexpr std::size_t kLatency = 3;

  const CounterTrack* track = nullptr;  // any of its tracks; has the device
  std::int64_t time_ns = 0;
  // Bytes per second; latency in ns. Empty: no transfer was seen.
  std::array<std::array<std::optional<std::int64_t>, 3>, kGroups> values{};
};

class PcieRecords {
 public:
  PcieRecords(const Database& db, const ExportScope& scope)
      : samples_(db, "pcie", scope), has_sample_(samples_.next()) {}

  // Skips records in which no posted transfer was sent, as the vendor's tool does.
  bool next();
  const PcieRecord& operator*() const { return record_; }
  const PcieRecord* operator->() const { return &record_; }

 private:
  void gather();

  CounterSamples samples_;
  bool has_sample_;  // samples_ has a sample that belongs to the next record
  PcieRecord record_;
};

}  // namespace msprof
