#include "analyze/cluster/cluster_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/number.hpp"
#include "base/words.hpp"
#include "cluster/products/step_times.hpp"
#include "store/row_cursor.hpp"

namespace msprof {

namespace {

using cluster::ClusterView;

constexpr double kNsPerMsOfCluster = 1e6;

std::string ms_text(int128 ns) {
  return fixed(ns, 1'000'000, 3);
}
std::string percent_text(double percent) {
  return fmt::format("{:.1f}", percent);
}

void summarize_steps(const ClusterView& view, ClusterSummary& summary) {
  const std::vector<bool> with_steps = cluster::members_with_steps(view);
  summary.by_member.resize(view.members().size());
  summary.has_steps = std::find(with_steps.begin(), with_steps.end(), true) != with_steps.end();
  RowCursor<cluster::RankStepRow> rows(view.part().db());
  while (rows.next()) {
    if (summary.has_steps && rows->step == kNull) continue;
    const auto place = static_cast<std::size_t>(view.member(rows->member_id).id - 1);
    if (summary.steps.empty() || summary.steps.back().step != rows->step) {
      summary.steps.emplace_back();
      summary.steps.back().step = rows->step;
    }
    StepSummary& step = summary.steps.back();
    if (step.sum.count == 0 || rows->duration_ns > step.longest_ns) {
      step.longest_ns = rows->duration_ns;
      step.longest_member = rows->member_id;
    }
    step.sum.add(*rows);
    summary.by_member[place].add(*rows);
    summary.mean.add(*rows);
  }
}

void summarize_ops(const ClusterView& view, ClusterSummary& summary) {
  cluster::OpTotals totals(view.part());
  while (totals.next()) {
    OpSummary op;
    op.name = view.text(totals->name_id);
    op.type = view.text(totals->type_name_id);
    op.unit = view.text(totals->unit_name_id);
    op.count = totals->count;
    op.duration_ns = totals->duration_ns;
    op.median_ns = totals->histogram.quantile_ns(1, 2);
    op.p95_ns = totals->histogram.quantile_ns(95, 100);
    op.longest_ns = totals->longest_ns;
    op.longest_member = totals->longest_member;
    summary.ops.push_back(std::move(op));
  }
  std::stable_sort(summary.ops.begin(), summary.ops.end(),
                   [](const auto& a, const auto& b) { return a.duration_ns > b.duration_ns; });
}

template <typename Row>
void add_collectives(const ClusterView& view,
                     std::map<std::pair<std::int64_t, std::int64_t>, CollectiveSummary>& sums) {
  RowCursor<Row> rows(view.part().db());
  CollectiveSummary* sum = nullptr;
  std::pair<std::int64_t, std::int64_t> last{-1, -1};
  while (rows.next()) {
    const std::pair key(rows->operation_name_id, rows->group_name_id);
    if (sum == nullptr || key != last) sum = &sums[key];
    last = key;
    std::int64_t count = 1;
    if constexpr (requires { rows->count; }) count = rows->count;
    sum->count = saturating_add(sum->count, count);
    sum->duration_ns = saturating_add(sum->duration_ns, rows->duration_ns);
    sum->wait_ns = saturating_add(sum->wait_ns, rows->wait_ns);
    sum->transit_ns = saturating_add(sum->transit_ns, rows->transit_ns);
    sum->size_bytes = saturating_add(sum->size_bytes, rows->size_bytes);
  }
}

void summarize_collectives(const ClusterView& view, ClusterSummary& summary) {
  std::map<std::pair<std::int64_t, std::int64_t>, CollectiveSummary> sums;
  if (summary.has_detail) {
    add_collectives<cluster::RankCollectiveRow>(view, sums);
  } else {
    add_collectives<cluster::CollectiveTotalRow>(view, sums);
  }
  for (auto& [key, sum] : sums) {
    sum.operation = view.text(key.first);
    sum.group = view.text(key.second);
    if (const auto* group = view.find_group(key.second))
      sum.group_ranks = static_cast<std::int64_t>(group->ranks.size());
    summary.collectives.push_back(std::move(sum));
  }
  std::stable_sort(
      summary.collectives.begin(), summary.collectives.end(), [](const auto& a, const auto& b) {
        return std::tuple(b.wait_ns, b.duration_ns) < std::tuple(a.wait_ns, a.duration_ns);
      });
}

std::string format_percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? "0.0" : fixed(static_cast<int128>(part) * 100, whole, 1);
}

ClusterTable slowest_steps(const ClusterView& view, const ClusterSummary& summary,
                           std::size_t top) {
  ClusterTable table{"steps",
                     summary.has_steps ? "Slowest steps, mean of all ranks"
                                       : "Whole runs, mean of all ranks (no steps recorded)",
                     {}};
  table.rows.begin(std::vector<std::string>{"Step", "Time(ms)", "Slowest Rank", "Mean(ms)",
                                            "Computing(%)", "Not Overlapped(%)", "Free(%)"});
  RowBuilder row(table.rows);
  std::vector<const StepSummary*> steps;
  for (const StepSummary& step : summary.steps) steps.push_back(&step);
  std::stable_sort(steps.begin(), steps.end(),
                   [](auto* a, auto* b) { return a->longest_ns > b->longest_ns; });
  if (steps.size() > top) steps.resize(top);
  for (const StepSummary* step : steps) {
    step->step == kNull ? row.text("-") : row.number(step->step);
    row.number(std::string_view(ms_text(step->longest_ns)));
    row.number(view.product_rank(step->longest_member));
    row.number(std::string_view(ms_text(
        divide_rounded(step->sum.duration_ns, std::max<std::int64_t>(step->sum.count, 1)))));
    for (const auto part : {&StepSum::computing_ns, &StepSum::not_overlapped_ns, &StepSum::free_ns})
      row.number(std::string_view(percent_text(step->sum.percent(part))));
    row.end_row();
  }
  table.rows.end();
  return table;
}

ClusterTable top_ops(const ClusterView& view, const ClusterSummary& summary, std::size_t top) {
  ClusterTable table{"operators", "Operators by time, all ranks", {}};
  table.rows.begin(std::vector<std::string>{"Operator", "Count", "Total(ms)", "Mean(us)", "P95(us)",
                                            "Max(us)", "Max Rank"});
  RowBuilder row(table.rows);
  for (std::size_t i = 0; i < std::min(top, summary.ops.size()); ++i) {
    const OpSummary& op = summary.ops[i];
    row.text(op.name);
    row.number(op.count);
    row.number(std::string_view(ms_text(op.duration_ns)));
    row.number(std::string_view(
        fixed(op.duration_ns, std::max<int128>(static_cast<int128>(op.count) * 1000, 1), 3)));
    row.number(op.p95_ns == kNull ? 0 : op.p95_ns, CellForm::us);
    row.number(op.longest_ns == kNull ? 0 : op.longest_ns, CellForm::us);
    op.longest_member == kNull ? row.missing() : row.number(view.product_rank(op.longest_member));
    row.end_row();
  }
  table.rows.end();
  return table;
}

ClusterTable top_collectives(const ClusterSummary& summary, std::size_t top) {
  ClusterTable table{"collectives", "Collectives by waiting time, all ranks", {}};
  table.rows.begin(std::vector<std::string>{"Operation", "Group", "Ranks", "Count", "Wait(ms)",
                                            "Wait(%)", "Size(MB)"});
  RowBuilder row(table.rows);
  for (std::size_t i = 0; i < std::min(top, summary.collectives.size()); ++i) {
    const CollectiveSummary& one = summary.collectives[i];
    row.text(one.operation);
    row.text(one.group);
    row.number(one.group_ranks);
    row.number(one.count);
    row.number(std::string_view(ms_text(one.wait_ns)));
    row.number(std::string_view(format_percent(one.wait_ns, one.duration_ns)));
    row.number(std::string_view(fixed(one.size_bytes, 1'000'000, 1)));
    row.end_row();
  }
  table.rows.end();
  return table;
}

}  // namespace

void StepSum::add(const cluster::RankStepRow& row) {
  ++count;
  duration_ns += row.duration_ns;
  computing_ns += row.computing_ns;
  not_overlapped_ns += row.not_overlapped_ns;
  free_ns += row.free_ns;
}

double StepSum::mean_ms(int128 StepSum::*part) const {
  return count == 0 ? 0 : double(this->*part) / double(count) / kNsPerMsOfCluster;
}

double StepSum::percent(int128 StepSum::*part) const {
  return duration_ns <= 0 ? 0 : double(this->*part) * 100 / double(duration_ns);
}

ClusterSummary cluster_summary(const ClusterView& view) {
  ClusterSummary summary;
  summary.ranks = view.ranks();
  summary.captures = static_cast<std::int64_t>(view.members().size());
  summary.has_detail = view.part().facts().has_detail;
  summarize_steps(view, summary);
  summarize_ops(view, summary);
  summarize_collectives(view, summary);
  return summary;
}

std::string cluster_line(const ClusterSummary& summary) {
  std::string line = counted(static_cast<std::uint64_t>(summary.captures), "rank");
  line += " on " + counted(static_cast<std::uint64_t>(summary.ranks.hosts), "host");
  if (summary.has_steps) return line + ", " + counted(summary.steps.size(), "step");
  return line + ", no steps recorded";
}

std::vector<std::string> lacking_lines(const ClusterSummary& summary) {
  std::vector<std::string> lines;
  const cluster::Ranks& ranks = summary.ranks;
  for (const cluster::LackingRanks& lacking : lacking_ranks(ranks)) lines.push_back(lacking.line());
  if (ranks.unknown > 0) {
    lines.push_back(fmt::format("{} not know its rank",
                                ranks.unknown == 1 ? std::string("1 capture does")
                                                   : fmt::format("{} captures do", ranks.unknown)));
  }
  if (!summary.has_detail) {
    lines.push_back(
        "per-rank rows of single collectives were omitted: only the three shortest and three "
        "longest ranks are kept (raise --detail-rows of merge)");
  }
  return lines;
}

std::string mean_line(const ClusterSummary& summary) {
  const StepSum& mean = summary.mean;
  if (mean.count == 0) return "no work recorded";
  return fmt::format(
      "mean {} {:.3f} ms: computing {:.1f} %, not overlapped {:.1f} %, free {:.1f} %",
      summary.has_steps ? "step" : "run", mean.mean_ms(&StepSum::duration_ns),
      mean.percent(&StepSum::computing_ns), mean.percent(&StepSum::not_overlapped_ns),
      mean.percent(&StepSum::free_ns));
}

std::vector<ClusterTable> cluster_tables(const ClusterView& view, const ClusterSummary& summary,
                                         std::size_t top) {
  std::vector<ClusterTable> tables;
  tables.push_back(slowest_steps(view, summary, top));
  tables.push_back(top_ops(view, summary, top));
  tables.push_back(top_collectives(summary, top));
  std::erase_if(tables, [](const ClusterTable& table) { return table.rows.rows.empty(); });
  return tables;
}

}  // namespace msprof
