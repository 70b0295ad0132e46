// op_statistic: one row per device, operator type and core type, longest total time first.
#include <algorithm>
#include <map>
#include <tuple>

#include "export/products.hpp"
#include "export/scope/scoped_rows.hpp"
#include "export/summary/cann_tables.hpp"
#include "store/row_ids.hpp"

namespace msprof {

namespace {

using cann::DurationStats;

using OpKey = std::tuple<std::int64_t, std::string, std::string>;  // device, type, core type

// Sums times by operator for one device, then by row. Tasks must be added device by device.
class OpGroups {
 public:
  explicit OpGroups(const Database& db)
      : of_op_(db.prepare("SELECT type.text, unit.text FROM op"
                          " LEFT JOIN name AS type ON type.id = op.type_name_id"
                          " LEFT JOIN name AS unit ON unit.id = op.unit_name_id"
                          " WHERE op.id = ?")),
        by_op_(db, "op") {}

  void add(std::int64_t device, std::int64_t op, std::int64_t duration_ns) {
    if (device != device_) finish_device();
    device_ = device;
    by_op_[op].add(duration_ns);
  }

  void finish_device() {
    by_op_.for_each([this](std::int64_t op, const DurationStats& times) { add_op(op, times); });
    by_op_.clear();
  }

  const std::map<OpKey, DurationStats>& rows() const { return rows_; }

 private:
  void add_op(std::int64_t op, const DurationStats& times) {
    of_op_.reset();
    of_op_.bind(1, op);
    if (!of_op_.step() || of_op_.is_null(0)) return;
    const std::string_view type = of_op_.text(0);
    if (type == "N/A") return;
    const std::string unit(of_op_.is_null(1) ? "N/A" : of_op_.text(1));
    for (const char* other : {"COMMUNICATION", "HCCL_AI_CPU", "WRITE_BACK", "INVALID"}) {
      if (unit == other) return;
    }
    rows_[{device_, std::string(type), unit}].add(times);
  }

  Statement of_op_;
  std::int64_t device_ = -1;
  ById<DurationStats> by_op_;
  std::map<OpKey, DurationStats> rows_;
};

class CannOpStatistic : public cann::CannTable {
 public:
  CannOpStatistic()
      : CannTable({.name = "op_statistic",
                   .title = "Op statistic",
                   .help = "count, total, shortest, mean and longest time of every operator type",
                   // At level 0 operators have no type.
                   .exists = "SELECT 1 FROM op JOIN name ON name.id = op.type_name_id"
                             " WHERE name.text <> 'N/A'"
                             " AND EXISTS (SELECT 1 FROM task WHERE op_id IS NOT NULL)",
                   .needs = kDeviceLogsAndHost,
                   .is_shown = true},
                  {"Device_id", "OP Type", "Core Type", "Count", "Total Time(us)", "Min Time(us)",
                   "Avg Time(us)", "Max Time(us)", "Ratio(%)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    OpGroups groups(db);
    cann::TaskCursor tasks(db, output_file.scope, {&TaskRow::device_id, &TaskRow::op_id},
                           {.not_null = {&TaskRow::op_id}}, cann::TaskWindow::starts_within);
    while (tasks.next()) groups.add(tasks->device_id, tasks->op_id, tasks->duration_ns);
    groups.finish_device();
    cann::DeviceTotals totals;
    std::vector<const std::pair<const OpKey, DurationStats>*> rows;
    for (const auto& row : groups.rows()) {
      totals.add(std::get<0>(row.first), row.second);
      rows.push_back(&row);
    }
    std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
      return a->second.total_ns > b->second.total_ns;
    });
    for (const auto* row : rows) {
      out.number(std::get<0>(row->first));
      out.text(std::get<1>(row->first));
      out.text(std::get<2>(row->first));
      // Truncates the mean to whole ns, because users compare it with other tools.
      const DurationStats& times = row->second;
      cann::write_times(out, times, cann::trimmed3(times.total_ns / times.count, 1000),
                        totals.ratio(std::get<0>(row->first), times));
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_op_statistic() {
  return std::make_unique<CannOpStatistic>();
}

}  // namespace msprof
