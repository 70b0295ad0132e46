// Noise: which differences between runs of the same thing are chance. For compare().
//
// What the rules must hold: runs of one model, compared with each other, show no change
// (scripts/compare-noise tries it). Times are us of one execution.
#pragma once

#include <string>
#include <vector>

namespace msprof {

// What was measured of one thing on one side: its time in every run, and how far the executions
// of a run usually lie from their median.
struct Measured {
  std::vector<double> runs_us;
  double mad_us = 0;

  double us() const;  // median of the runs; 0 without any
};

// The floor for the time of an execution. One run a side: the larger of 5 % and three times the
// MAD. Up to five runs: also twice the largest difference between two runs of a side. From six on:
// from the spread of the runs alone, but at least 2 %.
double total_noise_us(const Measured& base, const Measured& now);
// In words, with the numbers.
std::string noise_basis(const Measured& base, const Measured& now);

// The floor for a part of the execution, an operator: as above from its own times, and at least
// what the drift between the runs and the number of comparisons ask for.
double op_noise_us(const Measured& base, const Measured& now, const Measured& base_total,
                   const Measured& now_total);

// The floor for a call on the host; `calls_per_execution` on the side with more of them.
double call_noise_us(const Measured& base, const Measured& now, double calls_per_execution,
                     const Measured& base_total, const Measured& now_total);

}  // namespace msprof
