#include "export/summary/svp_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "store/rows/counter_rows.hpp"
#include "store/rows/time_rows.hpp"

namespace msprof::svp {

namespace {

// Import reads names of models from names of files, which have at most 255 bytes. Without the
// limit, a foreign store could cause thousands of copies of a long text.
constexpr const char* kModelName = "SELECT substr(text, 1, 255) FROM name WHERE id = ?";

// The columns of an SvpModel.
constexpr const char* kModelColumns =
    "model.id, model.device_id, model.model_id, model.name_id, model.batch_num,"
    " CASE WHEN device.frequency_hz > 0 THEN device.frequency_hz END";
constexpr const char* kJoinDevice = " LEFT JOIN device ON device.id = model.device_id";

// Without the name.
SvpModel read_model(const Statement& read) {
  return {read.integer(0),       read.integer(1),      read.integer(2), {},
          read.maybe_integer(4), read.maybe_integer(5)};
}

std::string select_captures(const char* where) {
  return fmt::format(
      "SELECT {}, step.id, number, step.batch_num, input_pic_num, current_pic_count, icache_hit,"
      " icache_miss FROM step LEFT JOIN model ON model.id = step.model_row{} WHERE {}"
      " ORDER BY step.id",
      kModelColumns, kJoinDevice, where);
}

// Without the name of the model.
SvpCapture read_capture(const Database& db, const Statement& read) {
  if (read.is_null(0)) throw db.damaged("a step without its model");
  return {read.integer(6), read_model(read), read.integer(7),        read.integer(8),
          read.integer(9), read.integer(10), read.maybe_integer(11), read.maybe_integer(12)};
}

constexpr std::array<std::string_view, kCounterCount> kCounterNames = {
    "total_cycles",    "mac_busy_cycles", "mac_ppen_cycles", "vec_busy_cycles",
    "vec_ppen_cycles", "dstr_cycles",     "dtrans_cycles",   "dld_cycles",
    "wld_cycles",      "ddr_read_bytes",  "ddr_write_bytes"};

// Indexes into task_pmu in the order of Counter; 0 if the session did not collect the counter.
using CounterPlaces = std::array<std::size_t, kCounterCount>;

CounterPlaces counter_places(const Database& db) {
  std::map<std::string, std::int64_t> columns;
  Statement& read = db.reuse(
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
  Statement& read = db.reuse("SELECT * FROM layer_time WHERE step_id = ? ORDER BY id");
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

struct PlacedLayer {
  LayerTotals::iterator op;
  std::optional<std::int64_t> net_id;
  std::optional<std::int64_t> position;
  NameText unit;

  // Layers without a position or an id are last.
  bool operator<(const PlacedLayer& other) const {
    const auto key = [](const PlacedLayer& one) {
      const auto& layer_id = one.op->second.layer_id;
      return std::tuple(one.net_id, !one.position, one.position, !layer_id, layer_id,
                        std::string_view(*one.unit));
    };
    return key(*this) < key(other);
  }
};

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

const NameText& NameTexts::find(std::int64_t name_id) {
  const auto [known, is_new] = texts_.try_emplace(name_id);
  if (!is_new) return known->second;
  Statement& read = db_.reuse(select_);
  if (read.bind(1, name_id).step())
    known->second = std::make_shared<const std::string>(read.text(0));
  read.reset();
  return known->second;
}

std::vector<SvpModel> models(const Database& db) {
  std::vector<SvpModel> result;
  NameTexts names(db, kModelName);
  Statement read = db.prepare(
      fmt::format("SELECT {} FROM model{} ORDER BY model.id", kModelColumns, kJoinDevice));
  while (read.step()) {
    const NameText& name = names.find(read.integer(3));
    if (!name) continue;
    result.push_back(read_model(read));
    result.back().name = *name;
  }
  return result;
}

void visit_captures(const Database& db, const std::function<bool(const SvpCapture&)>& visit) {
  NameTexts names(db, kModelName);
  Statement read = db.prepare(select_captures(
      "step.id >= 0 AND EXISTS (SELECT 1 FROM task_run WHERE task_run.step_id = step.id)"));
  while (read.step()) {
    interrupt::check();
    SvpCapture capture = read_capture(db, read);
    const NameText& name = names.find(read.integer(3));
    if (!name) throw db.damaged("a model without its name");
    capture.model.name = *name;
    if (!visit(capture)) return;
  }
}

SvpCapture capture(const Database& db, std::int64_t step_id) {
  static const std::string kSelect = select_captures("step.id = ?");
  Statement& read = db.reuse(kSelect);
  if (!read.bind(1, step_id).step())
    throw Error(Exit::internal_error, fmt::format("the store has no step {}", step_id));
  SvpCapture capture = read_capture(db, read);
  read.reset();
  return capture;
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
  std::vector<PlacedLayer> placed;
  NameTexts texts(db);
  // By id: a foreign store may have many captures, each with few of the operators of a model.
  Statement& read = db.reuse(
      "SELECT net_id, position, layer_id, unit_name_id, name_id, original_name_id, type_name_id"
      " FROM op WHERE id = ? AND model_row = ?");
  for (auto op = by_op.begin(); op != by_op.end(); ++op) {
    read.reset();
    if (!read.bind(1, op->first).bind(2, capture.model.row).step()) continue;
    LayerTotal& layer = op->second;
    layer.name = texts.find(read.integer(4));
    layer.original_names = texts.find(read.integer(5));
    layer.type = texts.find(read.integer(6));
    const NameText unit = texts.find(read.integer(3));
    if (!unit || !layer.name || !layer.original_names || !layer.type) continue;
    if (layer.execution_count < 1) throw db.damaged("tasks without an execution");
    layer.layer_id = read.maybe_integer(2);
    layer.is_on_cpu = *unit == "AA_CPU";
    placed.push_back({op, read.maybe_integer(0), read.maybe_integer(1), unit});
  }
  read.reset();
  // Operators with equal keys stay in the order of their ids.
  std::stable_sort(placed.begin(), placed.end());
  std::vector<LayerTotal> layers;
  layers.reserve(placed.size());
  for (const PlacedLayer& one : placed) {
    layers.push_back(std::move(one.op->second));
    by_op.erase(one.op);
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
