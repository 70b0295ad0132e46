// NoiseFloor decides which differences between runs are noise.
//
// Requirement: runs of the same model show no change when compared with each other (tested by
// scripts/compare-noise). Times are in us per execution.
#pragma once

#include <string>
#include <vector>

namespace msprof {

// Measurements of one item on one side.
struct Measured {
  std::vector<double> runs_us;  // one time per run
  double mad_us = 0;            // typical deviation of executions from the median of their run
  double fastest_us = 0;        // fastest of all executions

  double us() const;  // median of the runs; 0 if empty
  // Add another run; add a further part of the item to each run.
  void add_run(double us, double mad_us, double fastest_us);
  void add_part(const Measured& part);
};

// Whether an operator corresponds to exactly one operator of the other side. Fused, new and removed
// operators have changed in any case; only the amount is uncertain.
enum class Correspondence { pair, other };

class NoiseFloor {
 public:
  NoiseFloor(Measured base, Measured now);

  // Noise of the time of an execution. One run per side: the larger of 5 % and three times the MAD.
  // Up to five runs: also twice the largest difference between runs of a side. Six or more runs:
  // the spread of the runs, at least 2 %. With few runs, a change must also appear in the fastest
  // executions, because a busy machine slows all others; if no operator changed beyond noise, up to
  // 8 % count as drift.
  double total_us(bool some_operator_changed) const;
  // Noise of an operator: as above, but changes below 10 % or below 2 % of an execution are also
  // noise. 0 for operators on only one side.
  double op_us(const Measured& base, const Measured& now, Correspondence as) const;
  // Noise of a call on the host; `calls_per_execution` is the larger value of both sides.
  double call_us(const Measured& base, const Measured& now, double calls_per_execution) const;
  // Noise of a range named by the application. Ranges that occur rarely have no measurable spread.
  // The limit is relative to the shorter time, because a busy machine lengthens times by a factor.
  double range_us(const Measured& base, const Measured& now, double ranges_per_execution) const;
  // Explains the limits, with numbers.
  std::string basis() const;

 private:
  double whole_us() const;
  double own_part() const;

  Measured base_;
  Measured now_;
};

// Noise of the mean of a counter over a run, in its unit: like op_us() for a pair, but not relative
// to an execution. Differences up to `least` are always noise.
double counter_noise(const Measured& base, const Measured& now, double least);

}  // namespace msprof
