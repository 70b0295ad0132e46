// communication_statistic: one row per device and kind of collective, longest total time first.
#include <algorithm>
#include <map>

#include "export/products.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

using cann::DurationStats;

class CannCommunicationStatistic : public cann::CannTable {
 public:
  CannCommunicationStatistic()
      : CannTable(
            {.name = "communication_statistic",
             .title = "Communication statistic",
             .help = "count, total, shortest, mean and longest time of every kind of collective",
             .exists = "SELECT 1 FROM comm_span",
             .needs = {"hccl_info|hccl_op_info"},
             .is_shown = true},
            {"Device_id", "OP Type", "Count", "Total Time(us)", "Min Time(us)", "Avg Time(us)",
             "Max Time(us)", "Ratio(%)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    using OperationKey = std::pair<std::int64_t, std::string>;
    std::map<OperationKey, DurationStats> groups;
    cann::Texts texts(db);
    Statement read = db.prepare(
        "SELECT device_id, op_type_name_id, duration_ns, start_ns FROM comm_span ORDER BY id");
    const ScopeFilter scope(output_file.scope);
    while (read.step()) {
      if (!scope.takes_for(read.integer(0), read.integer(3), read.integer(2))) continue;
      const std::string type = read.is_null(1) ? std::string("N/A") : texts(read.integer(1));
      groups[{read.integer(0), type}].add(read.integer(2));
    }
    cann::DeviceTotals totals;
    std::vector<const std::pair<const OperationKey, DurationStats>*> rows;
    for (const auto& row : groups) {
      totals.add(row.first.first, row.second);
      rows.push_back(&row);
    }
    std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
      return a->second.total_ns > b->second.total_ns;
    });
    for (const auto* row : rows) {
      const DurationStats& times = row->second;
      out.number(row->first.first);
      out.text(row->first.second);
      cann::write_times(out, times,
                        cann::trimmed3(times.total_ns, static_cast<int128>(times.count) * 1000),
                        totals.ratio(row->first.first, times));
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_communication_statistic() {
  return std::make_unique<CannCommunicationStatistic>();
}

}  // namespace msprof
