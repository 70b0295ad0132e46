#include "analyze/report/operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "export/table/table_reader.hpp"
#include "export/table/table_writers.hpp"
#include "store/unit_loads.hpp"

namespace msprof::report {

namespace {

constexpr const char* kTotalTime = "Total Time(us)";
// Limits for damaged stores.
constexpr std::size_t kMaxOperators = 200'000;
constexpr std::size_t kMaxBytes = 24 << 20;  // of all operators' names and types
constexpr std::size_t kMaxCellBytes = 1000;  // more than html::escaped() shows of a cell

std::size_t find_column(const std::vector<std::string>& columns, std::string_view field) {
  const auto at = std::find_if(columns.begin(), columns.end(), [&](const std::string& column) {
    return field_name(column) == field;
  });
  return static_cast<std::size_t>(at - columns.begin());
}

// Sorts by time, longest first; stable.
void sort_by_time(Operators& operators) {
  std::vector<std::size_t> order(operators.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return operators.costs[a].time_us > operators.costs[b].time_us;
  });
  auto rows = std::exchange(operators.rows, {});
  auto costs = std::exchange(operators.costs, {});
  for (const std::size_t at : order) {
    operators.rows.push_back(std::move(rows[at]));
    operators.costs.push_back(costs[at]);
  }
}

// Removes the column if it is empty in all rows.
void drop_if_empty(Operators& operators, std::size_t column) {
  const bool is_used = std::any_of(operators.rows.begin(), operators.rows.end(),
                                   [&](const auto& row) { return !row[column].text.empty(); });
  if (is_used) return;
  const auto at = static_cast<std::ptrdiff_t>(column);
  operators.columns.erase(operators.columns.begin() + at);
  for (auto& row : operators.rows) row.erase(row.begin() + at);
}

// Returns the layers of a step, as in op_summary but without the total row.
Operators read_layers(const Database& db, const SummaryTable& table, const StepInfo* step) {
  Operators result;
  const auto columns = table.columns(db);
  const std::size_t name = find_column(columns, "layer_name");
  const std::size_t original = find_column(columns, "ori_layer_name");
  const std::size_t id = find_column(columns, "layer_id");
  const std::size_t time = find_column(columns, "time");
  const std::size_t bound = find_column(columns, "memory_bound");
  // The most important columns come first: a phone shows three.
  std::vector<std::size_t> places{name, time, find_column(columns, "time_ratio"), bound};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (std::find(places.begin(), places.end(), i) == places.end()) places.push_back(i);
  }
  std::erase_if(places, [&](std::size_t place) { return place >= columns.size(); });
  for (const std::size_t place : places) result.columns.push_back(columns[place]);
  result.modelled_columns = table.unit_loads(db);
  result.knows_memory_bound = bound < columns.size();
  std::vector<WantedField> wanted;
  for (const std::string& column : columns) wanted.push_back({field_name(column)});
  TableReader rows(std::move(wanted), [&](std::span<const TableValue> row) {
    if (id < row.size() && row[id].text == "-") return;
    std::vector<OperatorCell> cells;
    for (const std::size_t place : places) {
      std::string_view text = row[place].text;
      const bool is_repeated = place == original && text == row[name].text;
      if (text == "N/A" || is_repeated) text = {};
      cells.push_back({std::string(text.substr(0, kMaxCellBytes)), row[place].cell.is_number()});
    }
    Operators::Cost cost;
    if (time < row.size()) cost.time_us = row[time].number.value_or(0);
    if (bound < row.size()) cost.memory_bound = row[bound].number;
    result.total_us += cost.time_us;
    result.rows.push_back(std::move(cells));
    result.costs.push_back(cost);
  });
  rows.begin(columns);
  RowBuilder builder(rows);
  table.visit_files(db, [&](const OutputFile& file) {
    if (step != nullptr && file.step_id != step->step_id) return true;
    table.write(db, file, builder);
    return false;
  });
  const std::size_t names = find_column(result.columns, "ori_layer_name");
  if (names < result.columns.size()) drop_if_empty(result, names);
  return result;
}

// Sums for one operator of an Atlas machine.
struct OpSums {
  std::size_t count = 0;
  double time_us = 0;
  double longest_us = 0;
  std::vector<double> weighted;  // one per ratio
  std::vector<double> weights_us;
};

bool is_load(const std::string& field) {
  return field.ends_with("_ratio") || field == "cube_utilization";
}

class OperatorSums {
 public:
  explicit OperatorSums(std::vector<std::string> loads)
      : loads_(std::move(loads)), used_(loads_.size()) {}

  std::vector<WantedField> wanted() const {
    std::vector<WantedField> fields = {
        {"op_name"}, {"op_type"}, {"task_type"}, {"task_duration", true}};
    for (const std::string& load : loads_) fields.push_back({load, true});
    return fields;
  }

  void add(std::span<const TableValue> values) {
    OpSums* const known = by_cells_.get({&values[0], &values[1], &values[2]},
                                        [&] { return find_or_add_sums(values); });
    if (known == nullptr) return;
    OpSums& sums = *known;
    const double time = std::max(values[3].number.value_or(0), 0.0);
    ++sums.count;
    sums.time_us += time;
    sums.longest_us = std::max(sums.longest_us, time);
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      const auto& load = values[4 + i].number;
      if (!load) continue;
      sums.weighted[i] += *load * time;
      sums.weights_us[i] += time;
      if (*load > 0) used_[i] = true;
    }
  }

  Operators operators() const {
    Operators result;
    result.columns = {"Op Name",      kTotalTime,     "Time Ratio(%)", "Count",
                      "Avg Time(us)", "Max Time(us)", "OP Type",       "Task Type"};
    for (const auto& [key, sums] : sums_) result.total_us += sums.time_us;
    const auto is_used = [&](std::size_t load) { return used_[load]; };
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      if (is_used(i)) result.columns.push_back(loads_[i]);
    }
    result.knows_memory_bound = can_bound();
    if (result.knows_memory_bound) result.columns.push_back("memory_bound");
    for (const auto& [key, sums] : sums_) {
      const auto number = [](double value) {
        return OperatorCell{fmt::format("{:.3f}", value), true};
      };
      const double part = result.total_us > 0 ? 100 * sums.time_us / result.total_us : 0;
      std::vector<OperatorCell> cells = {
          {std::get<0>(key)},
          number(sums.time_us),
          number(part),
          {std::to_string(sums.count), true},
          number(sums.time_us / static_cast<double>(sums.count)),
          number(sums.longest_us),
          {std::get<1>(key)},
          {std::get<2>(key)},
      };
      for (std::size_t i = 0; i < loads_.size(); ++i) {
        if (!is_used(i)) continue;
        const auto mean = load(sums, i);
        cells.push_back(mean ? number(*mean) : OperatorCell{"", true});
      }
      const auto bound = transfer_ratio(sums);
      if (result.knows_memory_bound)
        cells.push_back(bound ? number(*bound) : OperatorCell{"", true});
      result.rows.push_back(std::move(cells));
      result.costs.push_back({sums.time_us, bound});
    }
    return result;
  }

 private:
  // Returns null for operators beyond the limit.
  OpSums* find_or_add_sums(std::span<const TableValue> values) {
    const auto key = std::tuple(std::string(values[0].text), std::string(values[1].text),
                                std::string(values[2].text));
    auto at = sums_.find(key);
    if (at == sums_.end()) {
      if (sums_.size() >= kMaxOperators || bytes_ >= kMaxBytes) return nullptr;
      for (std::size_t i = 0; i < 3; ++i) bytes_ += values[i].text.size();
      at = sums_.emplace(key, OpSums{}).first;
      at->second.weighted.resize(loads_.size());
      at->second.weights_us.resize(loads_.size());
    }
    return &at->second;
  }
  static std::optional<double> load(const OpSums& sums, std::size_t i) {
    if (sums.weights_us[i] <= 0) return {};
    return sums.weighted[i] / sums.weights_us[i];
  }

  std::optional<double> largest(const OpSums& sums,
                                std::initializer_list<std::string_view> names) const {
    std::optional<double> result;
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      if (std::find(names.begin(), names.end(), loads_[i]) == names.end()) continue;
      const auto value = load(sums, i);
      if (value) result = std::max(result.value_or(0), *value);
    }
    return result;
  }

  // Data movement time relative to computing time. Source: cann_device.md 6.4.
  std::optional<double> transfer_ratio(const OpSums& sums) const {
    const auto moves = largest(sums, {"aic_mte2_ratio", "aiv_mte2_ratio", "mte2_ratio"});
    const auto computes = largest(
        sums, {"aic_mac_ratio", "aiv_vec_ratio", "mac_ratio", "vec_ratio", "aic_vec_ratio"});
    if (!moves || !computes || *computes <= 0) return {};
    return *moves / *computes;
  }
  bool can_bound() const {
    return std::any_of(sums_.begin(), sums_.end(),
                       [&](const auto& one) { return transfer_ratio(one.second).has_value(); });
  }

  std::vector<std::string> loads_;
  std::map<std::tuple<std::string, std::string, std::string>, OpSums> sums_;
  std::size_t bytes_ = 0;  // of its keys
  ByCells<3, OpSums> by_cells_;
  std::vector<bool> used_;  // one per load
};

void set_bars(Operators& operators) {
  for (const std::string& column : operators.columns) {
    const std::string field = field_name(column);
    double full = 0;
    if (field == "time" || column == kTotalTime) {
      if (!operators.costs.empty()) full = operators.costs.front().time_us;
    } else if (is_load(field) && !field.starts_with("time")) {
      const bool is_percent = operators.are_layers || field == "cube_utilization";
      full = is_percent ? 100 : 1;
    }
    operators.full.push_back(full);
  }
}

}  // namespace

std::optional<double> parse_number(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  return read.ec == std::errc() && read.ptr == end ? std::optional(value) : std::nullopt;
}

Operators read_operators(const Database& db, const StepInfo* step) {
  const auto table = find_table(db, "op_summary");
  Operators result;
  if (table == nullptr || !table->has_files(db)) return result;
  const auto columns = table->columns(db);
  if (find_column(columns, "layer_name") < columns.size()) {
    result = read_layers(db, *table, step);
    result.are_layers = true;
  } else {
    std::vector<std::string> loads;
    for (std::string& field : field_names(db, *table)) {
      if (is_load(field)) loads.push_back(std::move(field));
    }
    OperatorSums totals(std::move(loads));
    read_table(db, "op_summary", totals.wanted(),
               [&](std::span<const TableValue> values) { totals.add(values); });
    result = totals.operators();
    result.modelled_columns = unit_load_fields(db, *table);
    result.modelled_columns.push_back("memory_bound");
  }
  if (read_unit_loads(db) == UnitLoads::measured) result.modelled_columns.clear();
  sort_by_time(result);
  set_bars(result);
  return result;
}

}  // namespace msprof::report
