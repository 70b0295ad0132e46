// Table TASK_PMU_INFO: every metric of both kinds of cores, a row a task and metric. For the walk
// over the tasks, which asks in the order of their ids. It is by far the largest table.
// Source: cann_corrections.md J-B4, J-A9.
#pragma once

#include <string>
#include <vector>

#include "derive/pmu_metrics.hpp"
#include "export/cann_counters.hpp"
#include "export/unified/unified_writer.hpp"

namespace msprof::unified {

class TaskPmu {
 public:
  explicit TaskPmu(Writer& out);

  bool has_metrics() const { return !metrics_.columns().empty(); }
  // The rows of a task, where it has counters. `task` comes without them.
  void write(std::int64_t task_id, std::int64_t unified_id, std::int64_t device_id, PmuTask task);

 private:
  struct Metric {
    std::int64_t name = 0;  // string id
    double factor = 1;
  };

  PmuMetrics metrics_;
  std::vector<Metric> kinds_;
  std::vector<double> values_;
  Rows rows_;
  cann::TaskCounters counters_;
};

}  // namespace msprof::unified
