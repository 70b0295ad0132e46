#include "analyze/compare/side_profile.hpp"

#include <algorithm>

#include "analyze/compare/op_matcher.hpp"
#include "analyze/compare/run_profile.hpp"

namespace msprof {

namespace {

void add_info(const RunProfile& run, ComparedSide& info) {
  info.captures.push_back(run.capture);
  if (!run.run.empty()) info.runs.push_back(run.run);
  if (info.chip.empty()) info.chip = run.chip;
  if (!info.frequency_mhz) info.frequency_mhz = run.frequency_mhz;
  if (run.unit_loads == UnitLoads::modelled) info.unit_loads = UnitLoads::modelled;
  info.layout_origin = std::max(info.layout_origin, run.layout_origin);
  for (const std::string& model : run.models) {
    if (std::find(info.models.begin(), info.models.end(), model) == info.models.end())
      info.models.push_back(model);
  }
  info.devices = std::max(info.devices, run.devices);
  info.executions += run.executions;
}

void add_op(const OpProfile& op, SideProfile& side) {
  side.ops.push_back(op);
  side.op_times.emplace_back();
  side.op_times.back().add_run(op.us, op.mad_us, op.fastest_us);
  side.op_counts.push_back(op.count);
}

void add_ops(const RunProfile& run, SideProfile& side) {
  for (const OpMatch& match : match_ops(side.ops, run.ops)) {
    const bool is_pair = match.base.size() == 1 && match.now.size() == 1;
    if (!is_pair) {
      for (const std::size_t i : match.now) add_op(run.ops[i], side);
      continue;
    }
    const OpProfile& op = run.ops[match.now[0]];
    side.op_times[match.base[0]].add_run(op.us, op.mad_us, op.fastest_us);
    side.op_counts[match.base[0]] += op.count;
  }
}

void add_calls(const std::vector<CallProfile>& calls,
               std::map<std::string, SideProfile::Call>& known) {
  for (const CallProfile& call : calls) {
    SideProfile::Call& one = known[call.name];
    one.time.add_run(call.us, call.mad_us, call.fastest_us);
    one.count += call.count;
  }
}

// An operator missing in a run took no time in it.
void fill_missing(SideProfile& side, std::size_t runs) {
  for (Measured& times : side.op_times) times.runs_us.resize(runs, 0);
}

}  // namespace

SideProfile merge_runs(const std::vector<RunProfile>& runs) {
  SideProfile side;
  Batches batches;
  for (const RunProfile& run : runs) {
    add_info(run, side.info);
    batches.add(run.batches);
    side.total.add_run(run.total_us, run.mad_us, run.fastest_us);
    add_ops(run, side);
    add_calls(run.calls, side.calls);
    add_calls(run.ranges, side.ranges);
    side.largest_ratio = std::max(side.largest_ratio, run.largest_ratio);
  }
  fill_missing(side, runs.size());
  side.info.batches = batches.values();
  if (!side.info.batches.empty()) side.info.pictures = batches.pictures();
  return side;
}

}  // namespace msprof
