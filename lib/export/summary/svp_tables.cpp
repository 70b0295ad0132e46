#include "export/summary/svp_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "store/rows/counter_rows.hpp"
#include "store/rows/time_rows.hpp"

namespace msprof::svp {

namespace {

// `where`: empty, or a condition whose parameter is `value`.
std::vector<SvpModel> read_models(const Database& db, const std::string& where,
                                  std::int64_t value) {
  std::vector<SvpModel> result;
  Statement read = db.prepare(
      "SELECT model.id, model.device_id, model.model_id, name.text, model.batch_num, "
      "CASE WHEN device.frequency_hz > 0 THEN device.frequency_hz END"
      " FROM model JOIN name ON name.id = model.name_id LEFT JOIN device ON device.id = "
      "model.device_id " +
      where + " ORDER BY model.id");
  if (!where.empty()) read.bind(1, value);
  while (read.step()) {
    result.push_back({read.integer(0), read.integer(1), read.integer(2), std::string(read.text(3)),
                      read.maybe_integer(4), read.maybe_integer(5)});
  }
  return result;
}

std::vector<SvpCapture> read_captures(const Database& db, const std::string& where,
                                      std::int64_t step_id, std::vector<SvpModel> models) {
  std::map<std::int64_t, SvpModel> by_row;
  for (SvpModel& model : models) by_row.emplace(model.row, std::move(model));
  std::vector<SvpCapture> result;
  Statement read = db.prepare(
      "SELECT id, model_row, number, batch_num, input_pic_num, current_pic_count, icache_hit, "
      "icache_miss"
      " FROM step WHERE " +
      where + " ORDER BY id");
  read.bind(1, step_id);
  while (read.step()) {
    const auto model = by_row.find(read.integer(1));
    if (model == by_row.end()) throw db.damaged("a step without its model");
    result.push_back({read.integer(0), model->second, read.integer(2), read.integer(3),
                      read.integer(4), read.integer(5), read.maybe_integer(6),
                      read.maybe_integer(7)});
  }
  return result;
}

constexpr std::array<std::string_view, kCounterCount> kCounterNames = {
    "total_cycles",    "mac_busy_cycles", "mac_ppen_cycles", "vec_busy_cycles",
    "vec_ppen_cycles", "dstr_cycles",     "dtrans_cycles",   "dld_cycles",
    "wld_cycles",      "ddr_read_bytes",  "ddr_write_bytes"};

// Indexes into task_pmu in the order of Counter; 0 if the session did not collect the counter.
using CounterPlaces = std::array<std::size_t, kCounterCount>;

CounterPlaces counter_places(const Database& db) {
  std::map<std::string, std::int64_t> columns;
  Statement read = db.prepare(
      "SELECT name.text, column_number FROM pmu_column JOIN name ON name.id = counter_name_id"
      " ORDER BY column_number");
  while (read.step()) columns[std::string(read.text(0))] = read.integer(1);
  CounterPlaces places{};
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto at = columns.find(std::string(kCounterNames[i]));
    if (at == columns.end()) continue;
    if (at->second < 0 || at->second >= static_cast<std::int64_t>(kPmuColumns))
      throw db.damaged("a counter refers to a missing column");
    places[i] = static_cast<std::size_t>(at->second) + 1;  // skips the id
  }
  return places;
}

using LayerTotals = std::map<std::int64_t, LayerTotal>;  // by op.id

LayerTotals read_totals(const Database& db, std::int64_t step_id, bool& is_in_order) {
  LayerTotals by_op;
  const CounterPlaces places = counter_places(db);
  enum Column { kOp = 2, kTasks, kExecutions, kFirstStart, kTotal, kMin, kMax, kFirstCounter };
  Statement read = db.prepare("SELECT * FROM layer_time WHERE step_id = ? ORDER BY id");
  read.bind(1, step_id);
  while (read.step()) {
    LayerTotal& total = by_op[read.integer(kOp)];
    total.count = read.integer(kTasks);
    if (total.count < 1) throw db.damaged("a layer without tasks");
    total.execution_count = read.integer(kExecutions);
    is_in_order = is_in_order && !read.is_null(kExecutions);
    total.first_start_ns = read.maybe_integer(kFirstStart).value_or(INT64_MAX);
    total.duration_sum_ns = read.maybe_integer(kTotal);
    total.shortest_ns = read.maybe_integer(kMin);
    total.longest_ns = read.maybe_integer(kMax);
    for (std::size_t i = 0; i < kCounterCount; ++i) {
      // Converts an index into task_pmu, after the id, to one after the times in layer_time.
      if (places[i] > 0 && places[i] <= LayerTimeRow::kCounters)
        total.counters[i] = read.maybe_integer(kFirstCounter + static_cast<int>(places[i]) - 1);
    }
  }
  return by_op;
}

// Exact but slower; for captures whose records are not in order of execution.
void count_executions(const Database& db, std::int64_t step_id, LayerTotals& by_op) {
  Statement read = db.prepare(
      "SELECT task.op_id, count(DISTINCT task.execution) FROM task_run AS run"
      " CROSS JOIN task ON task.id BETWEEN run.first_task_id AND run.last_task_id"
      " WHERE run.step_id = ? GROUP BY task.op_id ORDER BY task.op_id");
  read.bind(1, step_id);
  while (read.step()) by_op[read.integer(0)].execution_count = read.integer(1);
}

}  // namespace

std::vector<SvpModel> models(const Database& db) {
  return read_models(db, "", 0);
}

std::vector<SvpCapture> captures_with_tasks(const Database& db) {
  return read_captures(db, "id >= ? AND id IN (SELECT step_id FROM task_run)", 0, models(db));
}

SvpCapture capture(const Database& db, std::int64_t step_id) {
  // A product covers one capture; reading all models for each of thousands would dominate the time.
  auto found = read_captures(
      db, "id = ?", step_id,
      read_models(db, "WHERE model.id = (SELECT model_row FROM step WHERE id = ?)", step_id));
  if (found.empty()) {
    throw Error(Exit::internal_error, fmt::format("the store has no step {}", step_id));
  }
  return std::move(found.front());
}

std::string model_stem(const SvpModel& model) {
  return fmt::format("{}.{}.{}", model.device_id, file_name_part(model.name), model.model_id);
}

std::string frequency_mhz(std::optional<std::int64_t> frequency_hz) {
  if (!frequency_hz) return "";
  std::string text = fixed(*frequency_hz, 1'000'000, 6);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string icache_miss_rate(const SvpCapture& one) {
  if (!one.icache_hit || !one.icache_miss) return "";
  const int128 all = static_cast<int128>(*one.icache_hit) + *one.icache_miss;
  return all == 0 ? "" : fixed(*one.icache_miss, all, 4);
}

std::string or_na(const std::string& text) {
  return text.empty() ? "NA" : text;
}

std::optional<Fraction> LayerTotal::time_ns(std::optional<std::int64_t> frequency_hz) const {
  if (is_on_cpu) {
    if (!duration_sum_ns) return std::nullopt;
    return Fraction(*duration_sum_ns, 1);
  }
  if (!frequency_hz || !counters[kTotalCycles]) return std::nullopt;
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  const Fraction ns_per_cycle(kNsPerSecond, *frequency_hz);
  return Fraction(*counters[kTotalCycles] * ns_per_cycle.numerator(), ns_per_cycle.denominator());
}

std::vector<LayerTotal> layer_totals(const Database& db, const SvpCapture& capture) {
  bool is_in_order = true;
  LayerTotals by_op = read_totals(db, capture.step_id, is_in_order);
  if (!is_in_order) count_executions(db, capture.step_id, by_op);
  std::vector<LayerTotal> layers;
  Statement read = db.prepare(
      "SELECT op.id, op.layer_id, layer.text, original.text, type.text, unit.text = 'AA_CPU' FROM "
      "op"
      " JOIN name AS layer ON layer.id = op.name_id JOIN name AS original ON original.id = "
      "op.original_name_id"
      " JOIN name AS type ON type.id = op.type_name_id JOIN name AS unit ON unit.id = "
      "op.unit_name_id"
      " WHERE op.model_row = ?"
      " ORDER BY op.net_id, op.position NULLS LAST, op.layer_id NULLS LAST, unit.text, op.id");
  read.bind(1, capture.model.row);
  while (read.step()) {
    const auto at = by_op.find(read.integer(0));
    if (at == by_op.end()) continue;
    LayerTotal& layer = at->second;
    if (layer.execution_count < 1) throw db.damaged("tasks without an execution");
    layer.layer_id = read.maybe_integer(1);
    layer.name = read.text(2);
    layer.original_names = read.text(3);
    layer.type = read.text(4);
    layer.is_on_cpu = read.integer(5) != 0;
    layers.push_back(std::move(layer));
  }
  return layers;
}

std::vector<std::optional<Fraction>> weights(const std::vector<LayerTotal>& layers,
                                             std::optional<std::int64_t> frequency_hz,
                                             bool per_execution) {
  const bool any_cpu =
      std::any_of(layers.begin(), layers.end(), [](const auto& one) { return one.is_on_cpu; });
  std::vector<std::optional<Fraction>> result;
  for (const LayerTotal& layer : layers) {
    std::optional<Fraction> weight = layer.time_ns(frequency_hz);
    if (!frequency_hz && !any_cpu && layer.counters[kTotalCycles]) {
      weight = Fraction(*layer.counters[kTotalCycles], 1);
    }
    if (weight && per_execution) {
      weight = Fraction(weight->numerator(), weight->denominator() * layer.execution_count);
    }
    result.push_back(weight);
  }
  return result;
}

std::optional<Fraction> sum(const std::vector<std::optional<Fraction>>& parts) {
  if (parts.empty()) return std::nullopt;
  Fraction total;
  for (const auto& part : parts) {
    if (!part) return std::nullopt;
    total += *part;
  }
  return total;
}

std::optional<std::string> percent(const std::optional<Fraction>& part,
                                   const std::optional<Fraction>& whole) {
  if (!part || !whole || whole->numerator() == 0) return std::nullopt;
  return Fraction::ratio(*part, *whole, 100, 3);
}

}  // namespace msprof::svp
