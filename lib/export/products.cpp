#include "export/products.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "store/meta.hpp"

namespace msprof {

namespace {

template <typename Product>
std::vector<std::unique_ptr<Product>> of_dialect(const Database& db,
                                                 std::vector<std::unique_ptr<Product>> all) {
  const std::string dialect = read_meta(db, "dialect");
  std::erase_if(all,
                [&](const auto& product) { return dialect_name(product->dialect()) != dialect; });
  return all;
}

}  // namespace

std::vector<std::unique_ptr<SummaryTable>> all_summary_tables() {
  std::vector<std::unique_ptr<SummaryTable>> all;
  all.push_back(make_svp_op_summary());
  all.push_back(make_svp_op_statistic());
  all.push_back(make_svp_acl_statistic());
  all.push_back(make_svp_frequency());
  all.push_back(make_cann_op_summary());
  all.push_back(make_cann_task_time());
  all.push_back(make_cann_op_statistic());
  all.push_back(make_cann_api_statistic());
  all.push_back(make_cann_step_trace());
  all.push_back(make_cann_communication_statistic());
  all.push_back(make_cann_fusion_op());
  all.push_back(make_cann_msprof_tx());
  all.push_back(make_cann_aicpu());
  all.push_back(make_cann_operator_memory());
  all.push_back(make_cann_memory_record());
  all.push_back(make_cann_dp());
  all.push_back(make_cann_l2_cache());
  all.push_back(make_cann_devices());
  return all;
}

std::vector<std::unique_ptr<SummaryTable>> summary_tables(const Database& db) {
  return of_dialect(db, all_summary_tables());
}

std::vector<std::unique_ptr<TimelineLayer>> all_timeline_layers() {
  std::vector<std::unique_ptr<TimelineLayer>> all;
  all.push_back(make_svp_task_time());
  all.push_back(make_svp_acl());
  all.push_back(make_cann_calls());
  all.push_back(make_cann_user_ranges());
  all.push_back(make_cann_hardware());
  all.push_back(make_cann_steps());
  all.push_back(make_cann_frequency());
  all.push_back(make_cann_voltage());
  all.push_back(make_cann_communication());
  all.push_back(make_cann_memory());
  all.push_back(make_cann_overlap());
  return all;
}

std::vector<std::unique_ptr<TimelineLayer>> timeline_layers(const Database& db) {
  return of_dialect(db, all_timeline_layers());
}

namespace {

std::string products_folder(const Database& db, std::string_view of_svp) {
  return read_meta(db, "dialect") == dialect_name(Dialect::cann) ? "mindstudio_profiler_output"
                                                                 : std::string(of_svp);
}

}  // namespace

void check_style(const Database& db, const ExportScope& scope, ExportStyle style) {
  if (read_meta(db, "dialect") == dialect_name(Dialect::cann)) return;
  if (style == ExportStyle::cann5) {
    throw Error(Exit::usage,
                "--style cann5 is for captures of Atlas machines (PROF…); this one is of a board "
                "(JOB…): leave it out");
  }
  if (scope.model_number || scope.iteration) {
    throw Error(Exit::usage,
                "--model-id and --iteration-id are for captures of Atlas machines (PROF…); a board "
                "(JOB…) records no iterations: leave them out");
  }
}

std::string summary_folder(const Database& db) {
  return products_folder(db, "summary");
}

std::string timeline_folder(const Database& db) {
  return products_folder(db, "timeline");
}

bool has_unified_db(const Database& db) {
  return read_meta(db, "dialect") == dialect_name(Dialect::cann);
}

}  // namespace msprof
