#include "analyze/compare/run_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "analyze/compare/task_times.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "export/table/table_reader.hpp"
#include "query/query_db.hpp"
#include "store/database.hpp"
#include "store/row_cursor.hpp"
#include "store/rows/host_rows.hpp"

namespace msprof {

namespace {

// Reads ratios and loads from op_summary.

// Fields before the ratios. For name, type and time, each variant of op_summary has one of two
// names.
const std::vector<WantedField> kFixedFields = {
    {"op_name"},       {"layer_name"},          {"op_type"},   {"layer_type"}, {"input_shapes"},
    {"output_shapes"}, {"task_duration", true}, {"time", true}};

bool is_ratio(std::string_view field) {
  // A share of the run's time, not a load.
  if (field == "time_ratio") return false;
  for (const std::string_view end : {"_ratio", "_bound", "_utilization", "_rate"})
    if (field.ends_with(end)) return true;
  return false;
}

std::vector<std::string> ratio_fields(const Database& db) {
  const auto table = find_table(db, "op_summary");
  if (table == nullptr) return {};
  auto fields = field_names(db, *table);
  std::erase_if(fields, [](const std::string& field) { return !is_ratio(field); });
  return fields;
}

std::string make_key(std::string_view name, std::string_view type, std::string_view shapes) {
  std::string key = std::string(name) + '\n' + std::string(type) + '\n' + std::string(shapes);
  // op_summary quotes shapes.
  key.erase(std::remove(key.begin(), key.end(), '"'), key.end());
  return key;
}

struct WeightedMeans {
  std::vector<double> sums;
  std::vector<double> weights;
};

const TableValue& first_known(const TableValue& a, const TableValue& b) {
  return a.text != "N/A" ? a : b;
}

class RatioCollector {
 public:
  RatioCollector(std::vector<std::string> fields, const RunProfile& run)
      : fields_(std::move(fields)) {
    const WeightedMeans none{std::vector<double>(fields_.size()),
                             std::vector<double>(fields_.size())};
    for (const OpProfile& op : run.ops) means_.emplace(make_key(op.name, op.type, op.shapes), none);
  }

  void add(std::span<const TableValue> row) {
    const double weight = first_known(row[6], row[7]).number.value_or(0);
    if (!(weight > 0)) return;
    const TableValue& name = first_known(row[0], row[1]);
    const TableValue& type = first_known(row[2], row[3]);
    WeightedMeans* const means = by_cells_.get({&name, &type, &row[4], &row[5]}, [&] {
      std::string shapes(row[4].text == "N/A" ? "" : row[4].text);
      if (row[5].text != "N/A") shapes.append(" > ").append(row[5].text);
      const auto known = means_.find(make_key(name.text, type.text, shapes));
      return known == means_.end() ? nullptr : &known->second;
    });
    if (means == nullptr) return;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const auto& value = row[kFixedFields.size() + i].number;
      if (!value) continue;
      means->sums[i] += weight * *value;
      means->weights[i] += weight;
    }
  }

  void give_to(RunProfile& run) const {
    for (OpProfile& op : run.ops) {
      const WeightedMeans& means = means_.at(make_key(op.name, op.type, op.shapes));
      for (std::size_t i = 0; i < fields_.size(); ++i) {
        if (!(means.weights[i] > 0)) continue;
        const double mean = means.sums[i] / means.weights[i];
        op.ratios.emplace(fields_[i], mean);
        if (fields_[i].ends_with("_ratio")) run.largest_ratio = std::max(run.largest_ratio, mean);
      }
    }
    run.largest_ratio = run.largest_ratio > 1.5 ? 100 : 1;
  }

 private:
  std::vector<std::string> fields_;
  std::unordered_map<std::string, WeightedMeans> means_;
  ByCells<4, WeightedMeans> by_cells_;
};

// Sets OpProfile::ratios (time-weighted means) and RunProfile::largest_ratio.
void read_ratios(const Database& db, RunProfile& run) {
  const auto fields = ratio_fields(db);
  std::vector<WantedField> wanted = kFixedFields;
  for (const std::string& field : fields) wanted.push_back({field, true});
  RatioCollector collector(fields, run);
  read_table(db, "op_summary", wanted,
             [&](std::span<const TableValue> row) { collector.add(row); });
  collector.give_to(run);
}

// Minimum number of executions per half to detect a trend.
constexpr std::size_t kHalf = 10;
// A longer list of layers is not a real fusion but untrusted data.
constexpr std::size_t kMaxOriginals = 64;
// Operators beyond these limits share one entry; only an untrusted store has more.
constexpr std::size_t kMaxOperators = 100'000;
constexpr std::size_t kMaxOperatorBytes = 16 << 20;
constexpr std::string_view kOthers = "(others)";
// Names of models, and calls and ranges with their names. Further ones are ignored.
constexpr std::size_t kMaxModels = 10'000;
constexpr std::size_t kMaxCallNames = 10'000;  // applications may give each range a unique name
constexpr std::size_t kMaxCallBytes = 8 << 20;

std::string read_text(const Statement& row, int column) {
  return valid_utf8(row.text(column));
}

void read_facts(const TraceDb& store, const QueryDb& db, RunProfile& run) {
  run.dialect = store.meta("dialect");
  run.chip = valid_utf8(store.meta("chip"));
  run.unit_loads = read_unit_loads(store.database());
  run.layout_origin = read_layout_origin(store.database());
  Statement devices =
      db.prepare("SELECT chip, frequency_mhz FROM v_devices ORDER BY device_id, chip");
  while (devices.step()) {
    if (run.chip.empty()) run.chip = read_text(devices, 0);
    if (!run.frequency_mhz) run.frequency_mhz = devices.maybe_real(1);
  }
  Statement models = db.prepare(
      "SELECT DISTINCT substr(name, 1, 1000) FROM v_models WHERE name IS NOT NULL ORDER BY 1");
  while (run.models.size() < kMaxModels && models.step())
    run.models.push_back(read_text(models, 0));
  run.batches = read_batches(db);
}

std::vector<std::string> split_originals(const std::string& joined, const std::string& name) {
  std::vector<std::string> originals;
  for (const std::string_view one : split(joined, '+'))
    if (!one.empty()) originals.emplace_back(one);
  if (originals.empty() || originals.size() > kMaxOriginals) originals = {name};
  return originals;
}

// Layers fused by CANN's compiler, joined by '+', by operator name. CANN operators have no model
// here; a name with different layers in two models is left out.
using FusedNames = std::map<std::string, std::string>;

FusedNames read_fused_names(const Database& db) {
  FusedNames fused;
  Statement read = db.prepare(
      "SELECT op.text, min(replace(original.text, ';', '+')) FROM fusion_op AS f"
      " JOIN name AS op ON op.id = f.name_id"
      " JOIN name AS original ON original.id = f.original_names_name_id"
      " GROUP BY op.text HAVING count(DISTINCT original.text) = 1");
  for (std::size_t bytes = 0; bytes < kMaxOperatorBytes && read.step();) {
    const std::string& originals = fused[read_text(read, 0)] = read_text(read, 1);
    bytes += read.text(0).size() + originals.size();
  }
  return fused;
}

// Operators of v_ops; a model's operators on several devices share one entry.
struct OpSlots {
  std::vector<OpProfile> ops;
  std::unordered_map<std::int64_t, std::size_t> slot_of_op;
  std::size_t bytes = 0;  // of the texts

  bool is_full() const { return ops.size() >= kMaxOperators || bytes >= kMaxOperatorBytes; }
  void add(OpProfile op) {
    bytes += op.model.size() + op.name.size() + op.type.size() + op.shapes.size();
    for (const std::string& original : op.originals) bytes += original.size();
    ops.push_back(std::move(op));
  }
};

// An operator that is known only by its type.
OpProfile operator_of_type(const std::string& type) {
  OpProfile op;
  op.name = op.type = type;
  op.originals = {type};
  return op;
}

// Adds one entry for the operators with this id and all higher ones, without reading their texts.
void add_others(const QueryDb& db, std::int64_t first_id, OpSlots& slots) {
  Statement read = db.prepare("SELECT op_id FROM op_time WHERE op_id >= ?");
  for (read.bind(1, first_id); read.step();)
    slots.slot_of_op.emplace(read.integer(0), slots.ops.size());
  slots.ops.push_back(operator_of_type(std::string(kOthers)));
}

OpSlots read_ops(const QueryDb& db, const FusedNames& fused) {
  OpSlots slots;
  std::map<std::string, std::size_t> known;
  // As v_ops, which sorts its rows with their texts.
  Statement read = db.prepare(
      "SELECT op.id, (SELECT text FROM name WHERE id = model.name_id), position,"
      " (SELECT text FROM name WHERE id = op.name_id),"
      " (SELECT text FROM name WHERE id = original_name_id),"
      " (SELECT text FROM name WHERE id = type_name_id),"
      " (SELECT text FROM name WHERE id = unit_name_id),"
      " (SELECT text FROM name WHERE id = input_shapes_name_id),"
      " (SELECT text FROM name WHERE id = output_shapes_name_id) FROM op_time"
      " JOIN op ON op.id = op_id LEFT JOIN model ON model.id = model_row ORDER BY op_id");
  while (read.step()) {
    if (slots.is_full()) {
      add_others(db, read.integer(0), slots);
      break;
    }
    OpProfile op;
    op.model = read_text(read, 1);
    op.name = read_text(read, 3);
    op.type = read_text(read, 5);
    op.unit = read_text(read, 6);
    op.shapes = read_text(read, 7);
    if (!read.is_null(8)) op.shapes += " > " + read_text(read, 8);
    const auto parts = read.is_null(4) ? fused.find(op.name) : fused.end();
    op.originals =
        split_originals(parts == fused.end() ? read_text(read, 4) : parts->second, op.name);
    const std::int64_t id = read.integer(0);
    if (!read.is_null(2)) {
      const auto key = fmt::format("{}\n{}\n{}\n{}", op.model, read.integer(2), op.name, op.type);
      const auto [place, is_new] = known.emplace(key, slots.ops.size());
      slots.slot_of_op[id] = place->second;
      if (!is_new) continue;
    } else {
      slots.slot_of_op[id] = slots.ops.size();
    }
    slots.add(std::move(op));
  }
  return slots;
}

// Collectives have a new name in each execution, so they are grouped by type.
void add_collectives(const QueryDb& db, TaskTimes& times, OpSlots& ops) {
  std::map<std::string, std::size_t> slots;
  Statement read = db.prepare(
      "SELECT ifnull(type, name), device_id, model_id, start_ns, duration_us FROM v_collectives"
      " WHERE duration_us >= 0 ORDER BY device_id, start_ns, name");
  while (read.step()) {
    std::string type = read_text(read, 0);
    if (ops.bytes >= kMaxOperatorBytes && !slots.contains(type)) type = kOthers;
    const auto [slot, is_new] = slots.try_emplace(std::move(type));
    if (is_new) {
      slot->second = times.add_slot();
      OpProfile op = operator_of_type(slot->first);
      op.unit = "COMMUNICATION";
      ops.add(std::move(op));
    }
    times.add(slot->second, {read.integer(1), read.maybe_integer(2), 0, std::nullopt, read.real(3)},
              read.real(4));
  }
}

void fill_ops(const TaskTimes& times, std::vector<OpProfile> ops, RunProfile& run) {
  std::vector<std::size_t> order(ops.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return times.first_task(a) < times.first_task(b);
  });
  for (const std::size_t slot : order) {
    const TypicalTime time = times.of_op(slot);
    OpProfile& op = ops[slot];
    op.us = time.us;
    op.mad_us = time.mad_us;
    op.fastest_us = time.fastest_us;
    op.count = times.count_of_op(slot);
    // Skips operators that ran only outside of executions.
    if (op.count > 0 && time.us > 0) run.ops.push_back(std::move(op));
  }
}

void fill_total(const TaskTimes& times, RunProfile& run) {
  const auto& executions = times.executions();
  run.executions = static_cast<std::int64_t>(executions.size());
  const TypicalTime total = times.of_execution();
  run.total_us = total.us;
  run.mad_us = total.mad_us;
  run.fastest_us = total.fastest_us;
  if (run.unit == ProfileUnit::execution || run.unit == ProfileUnit::picture) {
    run.fastest_us = 0;
    for (const OpProfile& op : run.ops) run.fastest_us += op.fastest_us;
  }
  run.outside_share = times.outside_share();
  if (run.unit == ProfileUnit::whole_run) {
    double squares = 0;
    for (const OpProfile& op : run.ops) squares += op.mad_us * op.mad_us;
    run.mad_us = std::sqrt(squares);
  }
  const bool is_one_group = std::all_of(executions.begin(), executions.end(),
                                        [](const ModelExecution& e) { return e.group == 0; });
  if (!is_one_group || executions.size() < 2 * kHalf) return;
  std::vector<double> first, second;
  for (std::size_t i = 0; i < executions.size(); ++i)
    (i < executions.size() / 2 ? first : second).push_back(executions[i].us);
  run.first_half_us = median(first);
  run.second_half_us = median(second);
}

// Durations in us by name.
class CallTimes {
 public:
  // Returns null for an empty name and for names beyond the limit.
  std::vector<double>* find(std::string_view name) {
    if (name.empty()) return nullptr;
    auto known = durations_.find(name);
    if (known == durations_.end()) {
      if (durations_.size() >= kMaxCallNames || bytes_ >= kMaxCallBytes) return nullptr;
      bytes_ += name.size();
      known = durations_.emplace(name, std::vector<double>()).first;
    }
    return &known->second;
  }

  std::vector<CallProfile> profiles() const {
    std::vector<CallProfile> calls;
    for (const auto& [name, each] : durations_) {
      const double middle = median(each);
      calls.push_back({valid_utf8(name), middle, median_deviation(each, middle),
                       *std::min_element(each.begin(), each.end()),
                       static_cast<std::int64_t>(each.size())});
    }
    return calls;
  }

 private:
  std::map<std::string, std::vector<double>, std::less<>> durations_;
  std::size_t bytes_ = 0;  // of the names
};

std::vector<CallProfile> read_calls(const Database& db) {
  CallTimes times;
  std::unordered_map<std::int64_t, std::vector<double>*> times_of;
  Statement text = db.prepare("SELECT text FROM name WHERE id = ?");
  const auto find = [&](std::int64_t name_id) {
    text.reset();
    text.bind(1, name_id);
    return text.step() ? times.find(text.text(0)) : nullptr;
  };
  using Call = ApiCallRow;
  RowCursor<Call> calls(db, {&Call::name_id, &Call::start_ns, &Call::end_ns},
                        {.not_null = {&Call::name_id, &Call::start_ns, &Call::end_ns}});
  while (calls.next()) {
    const std::int64_t ns = saturating_subtract(calls->end_ns, calls->start_ns);
    if (ns < 0) continue;
    const auto [known, is_new] = times_of.try_emplace(calls->name_id, nullptr);
    if (is_new) known->second = find(calls->name_id);
    if (known->second != nullptr) known->second->push_back(static_cast<double>(ns) / 1000);
  }
  return times.profiles();
}

// Marks have no duration.
std::vector<CallProfile> read_ranges(const QueryDb& db) {
  CallTimes times;
  Statement read = db.prepare(
      "SELECT message, duration_us FROM v_user_ranges WHERE duration_us > 0 ORDER BY start_ns");
  while (read.step()) {
    if (auto* const known = times.find(read.text(0))) known->push_back(read.real(1));
  }
  return times.profiles();
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double median_deviation(const std::vector<double>& values, double middle) {
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - middle));
  return median(std::move(distances));
}

ProfileUnit natural_unit(const TraceDb& store) {
  const QueryDb db(store);
  Statement executions = db.prepare("SELECT 1 FROM v_steps WHERE executions > 0 LIMIT 1");
  if (executions.step()) return ProfileUnit::execution;
  Statement iterations = db.prepare("SELECT 1 FROM v_iterations WHERE duration_us > 0 LIMIT 1");
  return iterations.step() ? ProfileUnit::iteration : ProfileUnit::whole_run;
}

double outside_iterations(const TraceDb& store) {
  const QueryDb db(store);
  OpSlots slots = read_ops(db, {});
  TaskTimes times(store.database(), db, ProfileUnit::iteration, slots.slot_of_op, slots.ops.size());
  add_collectives(db, times, slots);
  return times.outside_share();
}

RunProfile read_run(const TraceDb& store, const std::string& capture, bool is_partial,
                    ProfileUnit unit) {
  const QueryDb db(store);
  RunProfile run;
  run.capture = valid_utf8(capture);
  run.is_partial = is_partial;
  run.unit = unit;
  read_facts(store, db, run);
  OpSlots slots = read_ops(db, read_fused_names(store.database()));
  TaskTimes times(store.database(), db, unit, slots.slot_of_op, slots.ops.size());
  add_collectives(db, times, slots);
  fill_ops(times, std::move(slots.ops), run);
  fill_total(times, run);
  if (run.ops.empty() || run.total_us <= 0) {
    throw Error(
        Exit::nothing_to_do,
        fmt::format("{} has no operator times to compare; `msprof import` reports what is missing",
                    capture));
  }
  run.devices = times.device_count();
  run.calls = read_calls(store.database());
  run.ranges = read_ranges(db);
  read_ratios(store.database(), run);
  run.counters = read_counters(store.database());
  return run;
}

}  // namespace msprof
