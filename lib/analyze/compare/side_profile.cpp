#include "analyze/compare/side_profile.hpp"

#include <algorithm>

#include "analyze/compare/op_matcher.hpp"

namespace msprof {

namespace {

void add_facts(const RunProfile& run, ComparedSide& facts) {
  facts.captures.push_back(run.capture);
  if (facts.chip.empty()) facts.chip = run.chip;
  if (!facts.frequency_mhz) facts.frequency_mhz = run.frequency_mhz;
  if (!facts.batch) facts.batch = run.batch;
  for (const std::string& model : run.models) {
    if (std::find(facts.models.begin(), facts.models.end(), model) == facts.models.end())
      facts.models.push_back(model);
  }
  facts.devices = std::max(facts.devices, run.devices);
  facts.executions += run.executions;
}

void add_op(const OpProfile& op, SideProfile& side) {
  side.ops.push_back(op);
  side.op_times.push_back({{op.us}, op.mad_us});
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
    Measured& times = side.op_times[match.base[0]];
    times.runs_us.push_back(op.us);
    times.mad_us = std::max(times.mad_us, op.mad_us);
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
  std::vector<double> mads;
  for (const RunProfile& run : runs) {
    add_facts(run, side.facts);
    side.total.runs_us.push_back(run.total_us);
    mads.push_back(run.mad_us);
    add_ops(run, side);
    for (const CallProfile& call : run.calls) {
      auto& known = side.calls[call.name];
      known.time.runs_us.push_back(call.us);
      known.time.mad_us = std::max(known.time.mad_us, call.mad_us);
      known.count += call.count;
    }
    side.largest_ratio = std::max(side.largest_ratio, run.largest_ratio);
  }
  side.total.mad_us = median_of(mads);
  fill_missing(side, runs.size());
  return side;
}

}  // namespace msprof
