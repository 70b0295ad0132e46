// SideProfile, the runs of one side, and NoiseFloor: which differences between runs of the same
// thing are chance. For compare().
//
// The rules must hold: runs of one model, compared with each other, show no change
// (scripts/compare-noise tries it). Times are us of one execution.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyze/compare/comparison.hpp"
#include "analyze/compare/run_profile.hpp"

namespace msprof {

// Measurements of one thing on one side.
struct Measured {
  std::vector<double> runs_us;  // its time in every run
  double mad_us = 0;            // how far the executions of a run usually lie from their median
  double fastest_us = 0;        // of all executions

  double us() const;  // median of the runs; 0 without any
  // Of another run, or of a part that is added.
  void add_run(double us, double mad_us, double fastest_us);
  void add_part(const Measured& part);
};

// Says if an operator of one side is one on the other. What was fused, came or went changed in any
// case; only how much is uncertain.
enum class Correspondence { pair, other };

class NoiseFloor {
 public:
  NoiseFloor(Measured base, Measured now);

  // For the time of an execution. One run a side: the larger of 5 % and three times the MAD; up to
  // five runs also twice the largest difference between two runs of a side. From six runs on: from
  // the spread of the runs alone, but at least 2 %. Of few runs, a change must also show in the
  // fastest executions, because a busy machine makes all others slower; and where no operator
  // changed beyond noise, up to 8 % are drift.
  double total_us(bool some_operator_changed) const;
  // For an operator: as above, and what changes by less than 10 % or by less than 2 % of an
  // execution is noise. 0 for what is only on one side.
  double op_us(const Measured& base, const Measured& now, Correspondence as) const;
  // For a call on the host; `calls_per_execution` on the side with more of them.
  double call_us(const Measured& base, const Measured& now, double calls_per_execution) const;
  // For a range that the application named. One that is there a few times has no spread of its own,
  // and the machine's makes a time longer by a factor, never as much shorter.
  double range_us(const Measured& base, const Measured& now, double ranges_per_execution) const;
  // In words, with the numbers.
  std::string basis() const;

 private:
  double whole_us() const;
  double own_part() const;

  Measured base_;
  Measured now_;
};

// For the mean of a counter over a run: as op_us of a pair, without its part of an execution; a
// difference up to `least` is noise in any case. In the counter's unit.
double counter_noise(const Measured& base, const Measured& now, double least);

// The runs of one side, operator by operator.
struct SideProfile {
  ComparedSide info;
  Measured total;
  std::vector<OpProfile> ops;  // those of the first run, then what only later ones have
  std::vector<Measured> op_times;
  std::vector<std::int64_t> op_counts;  // of all runs
  struct Call {
    Measured time;
    std::int64_t count = 0;
  };
  std::map<std::string, Call> calls;
  std::map<std::string, Call> ranges;
  double largest_ratio = 1;
};

SideProfile merge_runs(const std::vector<RunProfile>& runs);

}  // namespace msprof
