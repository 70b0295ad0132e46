// THE lists of timeline layers and summary tables. For exporters, `show` and the verdict.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "export/exporter.hpp"
#include "export/summary_table.hpp"
#include "export/timeline_layer.hpp"

namespace msprof {

// All of them, for what concerns no capture.
std::vector<std::unique_ptr<SummaryTable>> all_summary_tables();
std::vector<std::unique_ptr<TimelineLayer>> all_timeline_layers();

// Those of the dialect that the store of `db` says; the only place of lib/export that asks for it.
std::vector<std::unique_ptr<SummaryTable>> summary_tables(const Database& db);
std::vector<std::unique_ptr<TimelineLayer>> timeline_layers(const Database& db);

// The folder within a capture that takes its tables, and its timelines, named as users of its
// dialect know it.
std::string summary_folder(const Database& db);
std::string timeline_folder(const Database& db);
// Whether its dialect knows the unified database.
bool has_unified_db(const Database& db);

// Throws Error(usage) where `scope` or `style` is only for the other dialect.
void check_style(const Database& db, const ExportScope& scope, ExportStyle style);

// Whether a file of this name may be a product, of any dialect and style.
bool is_product_name(const std::string& name);

// The makers, one a file.
std::unique_ptr<SummaryTable> make_svp_op_summary();
std::unique_ptr<SummaryTable> make_svp_op_statistic();
std::unique_ptr<SummaryTable> make_svp_acl_statistic();
std::unique_ptr<SummaryTable> make_svp_frequency();
std::unique_ptr<SummaryTable> make_cann_op_summary();
std::unique_ptr<SummaryTable> make_cann_op_statistic();
std::unique_ptr<SummaryTable> make_cann_task_time();
std::unique_ptr<SummaryTable> make_cann_api_statistic();
std::unique_ptr<SummaryTable> make_cann_step_trace();
std::unique_ptr<SummaryTable> make_cann_fusion_op();
std::unique_ptr<SummaryTable> make_cann_msprof_tx();
std::unique_ptr<SummaryTable> make_cann_communication_statistic();
std::unique_ptr<SummaryTable> make_cann_aicpu();
std::unique_ptr<SummaryTable> make_cann_operator_memory();
std::unique_ptr<SummaryTable> make_cann_memory_record();
std::unique_ptr<SummaryTable> make_cann_dp();
std::unique_ptr<SummaryTable> make_cann_l2_cache();
std::unique_ptr<SummaryTable> make_cann_devices();
std::unique_ptr<TimelineLayer> make_svp_task_time();
std::unique_ptr<TimelineLayer> make_svp_acl();
std::unique_ptr<TimelineLayer> make_cann_calls();
std::unique_ptr<TimelineLayer> make_cann_user_ranges();
std::unique_ptr<TimelineLayer> make_cann_hardware();
std::unique_ptr<TimelineLayer> make_cann_steps();
std::unique_ptr<TimelineLayer> make_cann_frequency();
std::unique_ptr<TimelineLayer> make_cann_voltage();
std::unique_ptr<TimelineLayer> make_cann_communication();
std::unique_ptr<TimelineLayer> make_cann_memory();
std::unique_ptr<TimelineLayer> make_cann_overlap();

}  // namespace msprof
