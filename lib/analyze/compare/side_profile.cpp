#include "analyze/compare/side_profile.hpp"

#include <algorithm>

#include "analyze/compare/op_matcher.hpp"

namespace msprof {

namespace {

void add_facts(const RunProfile& run, ComparedSide& facts) {
  facts.captures.push_back(run.capture);
  if (facts.chip.empty()) facts.chip = run.chip;
  if (!facts.frequency_mhz) facts.frequency_mhz = run.frequency_mhz;
  for (const std::string& model : run.models) {
    if (std::find(facts.models.begin(), facts.models.end(), model) == facts.models.end())
      facts.models.push_back(model);
  }
  facts.devices = std::max(facts.devices, run.devices);
  facts.executions += run.executions;
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

// An operator that a run does not have took no time in it.
void fill_missing(SideProfile& side, std::size_t runs) {
  for (Measured& times : side.op_times) times.runs_us.resize(runs, 0);
}

}  // namespace

SideProfile merge_runs(const std::vector<RunProfile>& runs) {
  SideProfile side;
  Batches batches;
  for (const RunProfile& run : runs) {
    add_facts(run, side.facts);
    batches.add(run.batches);
    side.total.add_run(run.total_us, run.mad_us, run.fastest_us);
    add_ops(run, side);
    for (const CallProfile& call : run.calls) {
      auto& known = side.calls[call.name];
      known.time.add_run(call.us, call.mad_us, call.fastest_us);
      known.count += call.count;
    }
    side.largest_ratio = std::max(side.largest_ratio, run.largest_ratio);
  }
  fill_missing(side, runs.size());
  side.facts.batches = batches.values();
  if (!side.facts.batches.empty()) side.facts.pictures = batches.pictures();
  return side;
}

}  // namespace msprof
