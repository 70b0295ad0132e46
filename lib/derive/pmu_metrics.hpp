// PmuMetrics: the metrics of a device's cores from their raw counters: which columns the capture's
// metric set gives, and their values for one task. For op_summary and whatever else shows them.
// Source: cann_device.md 6.5, 12, 16; cann_corrections.md A1, A7, A8, B3, B4, B12, B16, C5, J-A9.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "store/database.hpp"
#include "store/schema.hpp"

namespace msprof {

enum class PmuUnit { time_us, cycles, ratio, bandwidth, other };

struct PmuColumn {
  std::string name;  // "aic_mac_time(us)", as op_summary heads it
  PmuUnit unit = PmuUnit::other;
};

// What one task brings along.
struct PmuTask {
  const std::int64_t* counters = nullptr;  // kPmuColumns cells of task_pmu; null: no PMU
  std::int64_t block_num = 0;
  std::int64_t mix_block_num = 0;
  std::int64_t duration_ns = 0;
};

class PmuMetrics {
 public:
  // Of the first device that says something; no columns where PMU was off.
  explicit PmuMetrics(const Database& db);

  const std::vector<PmuColumn>& columns() const { return columns_; }
  // One value a column, as the peer's doubles are before they are printed; `values` has the size of
  // columns(). The task has counters.
  void evaluate(std::int64_t device_id, const PmuTask& task, std::span<double> values) const;

 private:
  std::vector<PmuColumn> columns_;
};

}  // namespace msprof
