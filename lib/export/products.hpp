// THE lists of timeline layers and summary tables. For exporters, `show` and the verdict.
#pragma once

#include <memory>
#include <vector>

#include "export/summary_table.hpp"
#include "export/timeline_layer.hpp"

namespace msprof {

// All of them, for what concerns no capture.
std::vector<std::unique_ptr<SummaryTable>> all_summary_tables();

// Those of the dialect that the store of `db` says; the only place of lib/export that asks for it.
std::vector<std::unique_ptr<SummaryTable>> summary_tables(const Database& db);
std::vector<std::unique_ptr<TimelineLayer>> timeline_layers(const Database& db);

// The makers, one a file.
std::unique_ptr<SummaryTable> make_svp_op_summary();
std::unique_ptr<SummaryTable> make_svp_op_statistic();
std::unique_ptr<SummaryTable> make_svp_acl_statistic();
std::unique_ptr<SummaryTable> make_svp_frequency();
std::unique_ptr<TimelineLayer> make_svp_task_time();
std::unique_ptr<TimelineLayer> make_svp_acl();

}  // namespace msprof
