#include "analyze/compare/run_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "analyze/compare/run_ratios.hpp"
#include "analyze/compare/task_times.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

// Fewer executions than this in a half say nothing of a trend.
constexpr std::size_t kHalf = 10;
// More layers than this are never fused into one; a store from elsewhere may say so.
constexpr std::size_t kMostOriginals = 64;

std::string text_of(const Statement& row, int column) {
  return valid_utf8(row.text(column));
}

void read_facts(const TraceDb& store, const QueryDb& db, RunProfile& run) {
  run.dialect = store.meta("dialect");
  run.chip = valid_utf8(store.meta("chip"));
  Statement devices =
      db.prepare("SELECT chip, frequency_mhz FROM v_devices ORDER BY device_id, chip");
  while (devices.step()) {
    if (run.chip.empty()) run.chip = text_of(devices, 0);
    if (!run.frequency_mhz) run.frequency_mhz = devices.maybe_real(1);
  }
  Statement models =
      db.prepare("SELECT DISTINCT name FROM v_models WHERE name IS NOT NULL ORDER BY name");
  while (models.step()) run.models.push_back(text_of(models, 0));
  run.batches = read_batches(db);
}

std::vector<std::string> originals_of(const std::string& joined, const std::string& name) {
  std::vector<std::string> originals;
  for (const std::string_view one : split(joined, '+'))
    if (!one.empty()) originals.emplace_back(one);
  if (originals.empty() || originals.size() > kMostOriginals) originals = {name};
  return originals;
}

// Operators of v_ops; those of a model that is on several devices are one.
struct OpSlots {
  std::vector<OpProfile> ops;
  std::unordered_map<std::int64_t, std::size_t> slot_of_op;
};

OpSlots read_ops(const QueryDb& db) {
  OpSlots slots;
  std::map<std::string, std::size_t> known;
  Statement read = db.prepare(
      "SELECT op_id, model, position, name, original_names, type, unit, input_shapes,"
      " output_shapes FROM v_ops ORDER BY op_id");
  while (read.step()) {
    OpProfile op;
    op.model = text_of(read, 1);
    op.name = text_of(read, 3);
    op.type = text_of(read, 5);
    op.unit = text_of(read, 6);
    op.shapes = text_of(read, 7);
    if (!read.is_null(8)) op.shapes += " > " + text_of(read, 8);
    op.originals = originals_of(text_of(read, 4), op.name);
    const std::int64_t id = read.integer(0);
    if (!read.is_null(2)) {
      const auto key = fmt::format("{}\n{}\n{}\n{}", op.model, read.integer(2), op.name, op.type);
      const auto [place, is_new] = known.emplace(key, slots.ops.size());
      slots.slot_of_op[id] = place->second;
      if (!is_new) continue;
    } else {
      slots.slot_of_op[id] = slots.ops.size();
    }
    slots.ops.push_back(std::move(op));
  }
  return slots;
}

// A collective has a name of its own in every execution; its type stays.
void add_collectives(const QueryDb& db, TaskTimes& times, std::vector<OpProfile>& ops) {
  std::map<std::string, std::size_t> slots;
  Statement read = db.prepare(
      "SELECT ifnull(type, name), device_id, model_id, start_ns, duration_us FROM v_collectives"
      " WHERE duration_us >= 0 ORDER BY device_id, start_ns, name");
  while (read.step()) {
    const std::string type = text_of(read, 0);
    auto slot = slots.find(type);
    if (slot == slots.end()) {
      slot = slots.emplace(type, times.add_slot()).first;
      OpProfile op;
      op.name = op.type = type;
      op.unit = "COMMUNICATION";
      op.originals = {type};
      ops.push_back(std::move(op));
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
    // What ran outside of every execution only.
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
  if (run.unit == TimeUnit::execution || run.unit == TimeUnit::picture) {
    run.fastest_us = 0;
    for (const OpProfile& op : run.ops) run.fastest_us += op.fastest_us;
  }
  run.outside_share = times.outside_share();
  if (run.unit == TimeUnit::whole_run) {
    double squares = 0;
    for (const OpProfile& op : run.ops) squares += op.mad_us * op.mad_us;
    run.mad_us = std::sqrt(squares);
  }
  const bool is_one_group = std::all_of(executions.begin(), executions.end(),
                                        [](const Execution& e) { return e.group == 0; });
  if (!is_one_group || executions.size() < 2 * kHalf) return;
  std::vector<double> first, second;
  for (std::size_t i = 0; i < executions.size(); ++i)
    (i < executions.size() / 2 ? first : second).push_back(executions[i].us);
  run.first_half_us = median_of(first);
  run.second_half_us = median_of(second);
}

void read_calls(const QueryDb& db, RunProfile& run) {
  std::map<std::string, std::vector<double>, std::less<>> durations;
  Statement read = db.prepare("SELECT name, duration_us FROM v_api_calls ORDER BY call_id");
  while (read.step()) {
    if (!(read.real(1) >= 0) || read.is_null(1)) continue;
    const std::string_view name = read.text(0);
    if (name.empty()) continue;
    auto known = durations.find(name);
    if (known == durations.end()) known = durations.emplace(name, std::vector<double>()).first;
    known->second.push_back(read.real(1));
  }
  for (const auto& [name, each] : durations) {
    const double middle = median_of(each);
    run.calls.push_back({valid_utf8(name), middle, deviation_of(each, middle),
                         *std::min_element(each.begin(), each.end()),
                         static_cast<std::int64_t>(each.size())});
  }
}

}  // namespace

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double deviation_of(const std::vector<double>& values, double middle) {
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - middle));
  return median_of(std::move(distances));
}

TimeUnit natural_unit(const TraceDb& store) {
  const QueryDb db(store);
  Statement executions = db.prepare("SELECT 1 FROM v_steps WHERE executions > 0 LIMIT 1");
  if (executions.step()) return TimeUnit::execution;
  Statement iterations = db.prepare("SELECT 1 FROM v_iterations WHERE duration_us > 0 LIMIT 1");
  return iterations.step() ? TimeUnit::iteration : TimeUnit::whole_run;
}

double outside_iterations(const TraceDb& store) {
  const QueryDb db(store);
  OpSlots slots = read_ops(db);
  TaskTimes times(db, TimeUnit::iteration, slots.slot_of_op, slots.ops.size());
  add_collectives(db, times, slots.ops);
  return times.outside_share();
}

RunProfile read_run(const TraceDb& store, const std::string& capture, bool is_partial,
                    TimeUnit unit) {
  const QueryDb db(store);
  RunProfile run;
  run.capture = valid_utf8(capture);
  run.is_partial = is_partial;
  run.unit = unit;
  read_facts(store, db, run);
  OpSlots slots = read_ops(db);
  TaskTimes times(db, unit, slots.slot_of_op, slots.ops.size());
  add_collectives(db, times, slots.ops);
  fill_ops(times, std::move(slots.ops), run);
  fill_total(times, run);
  if (run.ops.empty() || run.total_us <= 0) {
    throw Error(Exit::nothing_to_do,
                fmt::format("{} has no operator with a time, so there is nothing to compare;"
                            " `msprof import` says what is missing",
                            capture));
  }
  run.devices = times.device_count();
  read_calls(db, run);
  read_ratios(store.database(), run);
  return run;
}

}  // namespace msprof
