// op_statistic: one row per operator name and unit of a capture. acl_statistic: one row per
// process, thread, type and name of the calls of a model. Longest total time first. The worked
// example of the vendor's manual has the same tables in files called task_time and acl.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/number.hpp"
#include "export/products.hpp"
#include "export/summary/svp_tables.hpp"
#include "store/row_cursor.hpp"

namespace msprof {

namespace {

using svp::LayerTotal;
using svp::SvpCapture;

struct StatisticRow {
  std::optional<std::int64_t> ids[2];
  svp::NameText texts[2];  // shared, as a foreign store may have long ones
  std::int64_t count = 0;
  std::optional<Fraction> weight;   // for the share
  Fraction rank;                    // weight if known, else a sum for sorting
  std::optional<Fraction> time_ns;  // of all records
  std::optional<std::int64_t> longest_ns;
  std::optional<std::int64_t> shortest_ns;
};
using StatisticRows = std::vector<StatisticRow>;

using KeyColumns = std::array<const char*, 4>;

constexpr KeyColumns kOpKeys = {"Task ID", "Stream ID", "OP Name", "Task Type"};
constexpr KeyColumns kCallKeys = {"Process ID", "Thread ID", "Type", "Name"};

class SvpStatistic : public SummaryTable {
 public:
  using Files = void (*)(const Database& db, const FileVisitor& visit);
  // Returns the rows of a file in the order of those with equal times.
  using Rows = StatisticRows (*)(const Database& db, const OutputFile& output_file);

  // `keys`: names of the columns of ids and texts.
  SvpStatistic(const TableInfo& info, const KeyColumns& keys, Files files, Rows rows)
      : SummaryTable(info), columns_(keys.begin(), keys.end()), files_(files), rows_(rows) {
    for (const char* column :
         {"Total Time Ratio(%)", "Total Time(us)", "Count", "Avg(us)", "Max(us)", "Min(us)"})
      columns_.emplace_back(column);
  }

  std::vector<std::string> columns(const Database&) const override { return columns_; }
  std::vector<OutputFile> output_files(const Database& db) const override {
    return collect_files(db);
  }
  void visit_files(const Database& db, const FileVisitor& visit) const override {
    files_(db, visit);
  }

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    StatisticRows rows = rows_(db, output_file);
    std::stable_sort(rows.begin(), rows.end(),
                     [](const StatisticRow& a, const StatisticRow& b) { return b.rank < a.rank; });
    std::vector<std::optional<Fraction>> weights;
    for (const StatisticRow& row : rows) weights.push_back(row.weight);
    const auto whole = svp::sum(weights);
    for (const StatisticRow& row : rows) write_row(out, row, whole);
  }

 private:
  static void write_row(RowBuilder& out, const StatisticRow& row,
                        const std::optional<Fraction>& whole) {
    for (const auto& id : row.ids) out.number_or_missing(id);
    for (const svp::NameText& text : row.texts) out.text(*text);
    out.number_or_missing(svp::percent(row.weight, whole));
    const auto format_us = [](const std::optional<Fraction>& ns, std::int64_t parts) {
      if (!ns) return std::optional<std::string>();
      return std::optional(Fraction(ns->numerator(), ns->denominator() * 1000 * parts).fixed(1, 3));
    };
    out.number_or_missing(format_us(row.time_ns, 1));
    out.number(row.count);
    out.number_or_missing(format_us(row.time_ns, row.count));
    for (const auto& ns : {row.longest_ns, row.shortest_ns})
      out.number_or_missing(ns ? std::optional(us_from_ns(*ns)) : std::nullopt);
    out.end_row();
  }

  std::vector<std::string> columns_;
  Files files_;
  Rows rows_;
};

void visit_op_statistic_files(const Database& db, const FileVisitor& visit) {
  svp::visit_captures(db, [&](const SvpCapture& capture) {
    return visit({fmt::format("op_statistic_{}_{}_{}_{}", capture.model.device_id,
                              capture.model.model_id, capture.current_pic_count, capture.number),
                  capture.step_id, capture.model.row, 0});
  });
}

void visit_task_time_files(const Database& db, const FileVisitor& visit) {
  svp::visit_captures(db, [&](const SvpCapture& capture) {
    return visit({fmt::format("task_time_{}_{}_{}", capture.model.device_id, capture.model.model_id,
                              capture.number),
                  capture.step_id, capture.model.row, 0});
  });
}

// Without a frequency no shares can be computed if CPU operators ran, too. Cycles and ns still sort
// the layers of each kind.
Fraction sort_weight(const LayerTotal& layer, const std::optional<Fraction>& weight) {
  if (weight) return *weight;
  if (layer.is_on_cpu) return Fraction(layer.duration_sum_ns.value_or(0), 1);
  return Fraction(layer.counters[svp::kTotalCycles].value_or(0), 1);
}

void add_layer(StatisticRow& row, const StatisticRow& layer) {
  row.count += layer.count;
  row.weight = svp::sum({row.weight, layer.weight});
  row.rank += layer.rank;
  row.time_ns = svp::sum({row.time_ns, layer.time_ns});
  const bool both = row.longest_ns && layer.longest_ns;
  row.longest_ns =
      both ? std::optional(std::max(*row.longest_ns, *layer.longest_ns)) : std::nullopt;
  row.shortest_ns =
      both ? std::optional(std::min(*row.shortest_ns, *layer.shortest_ns)) : std::nullopt;
}

StatisticRows op_statistic_rows(const Database& db, const OutputFile& output_file) {
  const SvpCapture capture = svp::capture(db, output_file.step_id);
  const auto frequency_hz = capture.model.frequency_hz;
  const auto layers = svp::layer_totals(db, capture);
  const auto weights = svp::weights(layers, frequency_hz, false);
  std::vector<std::pair<std::int64_t, StatisticRow>> groups;  // with the first start
  std::map<std::pair<std::string_view, bool>, std::size_t> known;
  const auto core = std::make_shared<const std::string>("AA_CORE");
  const auto cpu = std::make_shared<const std::string>("AA_CPU");
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerTotal& layer = layers[i];
    const svp::NameText& name = layer.joined_name();
    const StatisticRow row{{std::nullopt, 0},  // an svp board has one stream
                           {name, layer.is_on_cpu ? cpu : core},
                           layer.count,
                           weights[i],
                           sort_weight(layer, weights[i]),
                           layer.time_ns(frequency_hz),
                           layer.longest_ns,
                           layer.shortest_ns};
    const auto [at, is_new] = known.try_emplace({*name, layer.is_on_cpu}, groups.size());
    if (is_new) {
      groups.emplace_back(layer.first_start_ns, row);
    } else {
      auto& [first_start_ns, group] = groups[at->second];
      first_start_ns = std::min(first_start_ns, layer.first_start_ns);
      add_layer(group, row);
    }
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  StatisticRows rows;
  for (auto& group : groups) {
    group.second.ids[0] = static_cast<std::int64_t>(rows.size());
    rows.push_back(std::move(group.second));
  }
  std::sort(rows.begin(), rows.end(), [](const StatisticRow& a, const StatisticRow& b) {
    return std::tie(*a.texts[0], *a.texts[1]) < std::tie(*b.texts[0], *b.texts[1]);
  });
  return rows;
}

// `table` begins the names of the files.
void visit_call_files(const Database& db, const char* table, const FileVisitor& visit) {
  std::set<std::int64_t> with_calls;
  Statement read =
      db.prepare("SELECT DISTINCT model_row FROM api_call WHERE model_row IS NOT NULL");
  while (read.step()) with_calls.insert(read.integer(0));
  for (const svp::SvpModel& model : svp::models(db)) {
    if (with_calls.contains(model.row) &&
        !visit({fmt::format("{}_{}_{}_0", table, model.device_id, model.model_id), kNull, model.row,
                0}))
      return;
  }
}

void visit_acl_statistic_files(const Database& db, const FileVisitor& visit) {
  visit_call_files(db, "acl_statistic", visit);
}

void visit_acl_files(const Database& db, const FileVisitor& visit) {
  visit_call_files(db, "acl", visit);
}

// Process, thread (-1: unknown), type and name ids.
using CallKey = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

struct CallTotal {
  int128 sum_ns = 0;
  std::int64_t count = 0;
  std::int64_t longest_ns = 0;
  std::int64_t shortest_ns = INT64_MAX;
  bool is_known = true;  // every call has a start and an end
};

std::map<CallKey, CallTotal> read_call_totals(const Database& db, std::int64_t model_row) {
  std::map<CallKey, CallTotal> totals;
  RowCursor<ApiCallRow> calls(
      db,
      {&ApiCallRow::process_id, &ApiCallRow::thread_id, &ApiCallRow::type_name_id,
       &ApiCallRow::name_id, &ApiCallRow::start_ns, &ApiCallRow::end_ns},
      {.equal = {{&ApiCallRow::model_row, model_row}}});
  while (calls.next()) {
    CallTotal& total =
        totals[{given(calls->process_id).value_or(-1), given(calls->thread_id).value_or(-1),
                calls->type_name_id, calls->name_id}];
    ++total.count;
    if (calls->start_ns == kNull || calls->end_ns == kNull) {
      total.is_known = false;
      continue;
    }
    const std::int64_t duration = saturating_subtract(calls->end_ns, calls->start_ns);
    total.sum_ns += duration;
    total.longest_ns = std::max(total.longest_ns, duration);
    total.shortest_ns = std::min(total.shortest_ns, duration);
  }
  return totals;
}

StatisticRows acl_statistic_rows(const Database& db, const OutputFile& output_file) {
  svp::NameTexts names(db);
  const auto missing = std::make_shared<const std::string>("N/A");
  const auto read_name = [&](std::int64_t id) {
    const svp::NameText& name = names.find(id);
    return name ? name : missing;
  };
  const auto known_id = [](std::int64_t id) { return id < 0 ? std::nullopt : std::optional(id); };
  StatisticRows rows;
  for (const auto& [key, total] : read_call_totals(db, output_file.model_row)) {
    const auto& [process, thread, type, call] = key;
    StatisticRow& row = rows.emplace_back();
    row.ids[0] = known_id(process);
    row.ids[1] = known_id(thread);
    row.texts[0] = read_name(type);
    row.texts[1] = read_name(call);
    row.count = total.count;
    row.rank = Fraction(total.sum_ns, 1);
    if (!total.is_known) continue;
    row.weight = row.time_ns = row.rank;
    row.longest_ns = total.longest_ns;
    row.shortest_ns = total.shortest_ns;
  }
  std::stable_sort(rows.begin(), rows.end(), [](const StatisticRow& a, const StatisticRow& b) {
    return *a.texts[1] < *b.texts[1];
  });
  return rows;
}

}  // namespace

std::unique_ptr<SummaryTable> make_svp_op_statistic() {
  return std::make_unique<SvpStatistic>(
      TableInfo{.name = "op_statistic",
                .title = "Op statistic",
                .help = "total, mean, longest and shortest time of every operator",
                .needs = {"aicore|aicpu", true},
                .is_shown = true,
                .dialect = Dialect::svp},
      kOpKeys, visit_op_statistic_files, op_statistic_rows);
}

std::unique_ptr<SummaryTable> make_svp_acl_statistic() {
  return std::make_unique<SvpStatistic>(
      TableInfo{.name = "acl_statistic",
                .title = "Acl statistic",
                .help = "total, mean, longest and shortest time of every ACL call",
                .needs = {"acl_api", true},
                .is_shown = true,
                .dialect = Dialect::svp},
      kCallKeys, visit_acl_statistic_files, acl_statistic_rows);
}

std::unique_ptr<SummaryTable> make_svp_acl_sample() {
  return std::make_unique<SvpStatistic>(
      TableInfo{.name = "acl",
                .title = "Acl statistic",
                .help = "acl_statistic under the file name of the manual's example",
                .needs = {"acl_api", true},
                .is_default = false,
                .dialect = Dialect::svp},
      kCallKeys, visit_acl_files, acl_statistic_rows);
}

std::unique_ptr<SummaryTable> make_svp_task_time_sample() {
  return std::make_unique<SvpStatistic>(
      TableInfo{.name = "task_time",
                .title = "Op statistic",
                .help = "op_statistic under the file name of the manual's example",
                .needs = {"aicore|aicpu", true},
                .is_default = false,
                .dialect = Dialect::svp},
      kOpKeys, visit_task_time_files, op_statistic_rows);
}

}  // namespace msprof
