// Writes cluster_step_trace_time.csv: times of ranks and stages in each step.
#include "cluster/products/step_times.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/atomic_file.hpp"
#include "base/number.hpp"
#include "cluster/products/products.hpp"
#include "export/table/table_writers.hpp"
#include "store/row_cursor.hpp"

namespace msprof::cluster {

const std::array<std::string_view, kStepTimes> kStepTimeTitles = {
    "Computing",  "Communication(Not Overlapped)",
    "Overlapped", "Communication",
    "Free",       "Stage",
    "Bubble",     "Communication(Not Overlapped and Exclude Receive)",
    "Preparing"};

StepTimes make_step_times(const RankStepRow& row) {
  const std::int64_t end_to_end =
      saturating_add(saturating_add(row.computing_ns, row.not_overlapped_ns), row.free_ns);
  return {row.computing_ns,
          row.not_overlapped_ns,
          saturating_subtract(row.communication_ns, row.not_overlapped_ns),
          row.communication_ns,
          row.free_ns,
          saturating_subtract(end_to_end, row.bubble_ns),
          row.bubble_ns,
          saturating_subtract(row.not_overlapped_ns, row.not_overlapped_receive_ns),
          row.preparing_ns};
}

std::vector<bool> members_with_steps(const ClusterView& view) {
  std::vector<bool> with_steps(view.members().size());
  RowCursor<RankStepRow> rows(view.part().db(), {&RankStepRow::member_id},
                              {.not_null = {&RankStepRow::step}});
  while (rows.next())
    with_steps[static_cast<std::size_t>(view.member(rows->member_id).id - 1)] = true;
  return with_steps;
}

void for_each_step_times(const ClusterView& view,
                         const std::function<void(const StepTimesRow&)>& take) {
  std::map<std::int64_t, std::size_t> stage_of;  // by rank
  for (std::size_t i = 0; i < view.stages().size(); ++i) {
    for (const std::int64_t rank : view.stages()[i]) stage_of.emplace(rank, i);
  }
  std::map<std::pair<std::int64_t, std::size_t>, StepTimes> stages;
  const std::vector<bool> with_steps = members_with_steps(view);
  RowCursor<RankStepRow> rows(view.part().db());
  while (rows.next()) {
    const MemberRow& member = view.member(rows->member_id);
    if (rows->step == kNull && with_steps[static_cast<std::size_t>(member.id - 1)]) continue;
    StepTimesRow row;
    row.step = rows->step;
    row.rank = view.product_rank(member.id);
    row.times = make_step_times(*rows);
    take(row);
    const auto stage = stage_of.find(row.rank);
    if (stage == stage_of.end()) continue;
    const auto [most, is_first] = stages.emplace(std::pair(row.step, stage->second), row.times);
    for (std::size_t i = 0; !is_first && i < kStepTimes; ++i)
      most->second[i] = std::max(most->second[i], row.times[i]);
  }
  for (const auto& [key, times] : stages)
    take({key.first, true, 0, &view.stages()[key.second], times});
}

std::string rank_tuple(const std::vector<std::int64_t>& ranks, std::string_view between) {
  return fmt::format("({})", fmt::join(ranks, between));
}

void write_step_trace_csv(const ClusterView& view, const std::filesystem::path& file,
                          std::vector<TemporaryFile>& finished) {
  AtomicFile out(file);
  CsvWriter csv(out);
  std::vector<std::string> columns = {"Step", "Type", "Index"};
  columns.insert(columns.end(), kStepTimeTitles.begin(), kStepTimeTitles.end());
  csv.begin(columns);
  RowBuilder cells(csv);
  for_each_step_times(view, [&](const StepTimesRow& row) {
    row.step == kNull ? cells.text("") : cells.number(row.step);
    cells.text(row.is_stage ? "stage" : "rank");
    row.is_stage ? cells.text(rank_tuple(*row.stage)) : cells.number(row.rank);
    for (const std::int64_t ns : row.times) cells.number(ns, CellForm::us);
    cells.end_row();
    out.drain();
  });
  csv.end();
  finished.push_back(out.finish());
}

}  // namespace msprof::cluster
