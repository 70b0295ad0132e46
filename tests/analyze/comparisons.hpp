// Hand-made comparisons for the tests of the report.
#pragma once

#include <fmt/format.h>

#include "analyze/compare/comparison.hpp"

namespace msprof::test {

inline OpChange op_change(const std::string& name, std::optional<double> base_us,
                          std::optional<double> new_us, double noise_us = 1) {
  OpChange op;
  if (base_us) op.base_names = {name};
  if (new_us) op.new_names = {name};
  if (base_us) op.base_type = "Conv2D";
  if (new_us) op.new_type = "Conv2D";
  op.unit = "AA_CORE";
  op.matched_by = base_us && new_us ? MatchedBy::name : MatchedBy::unmatched;
  op.time = {base_us, new_us, noise_us};
  op.base_count = base_us ? 60 : 0;
  op.new_count = new_us ? 60 : 0;
  return op;
}

// A decomposed activation was fused: three layers become one, another is removed, one is new.
inline Comparison made_comparison() {
  Comparison made;
  made.base = {{"JOBBASE"}, {}, "SS928", 1000, {"mish"}, {1}, 1, 60, 60};
  made.now = {{"JOBNEW"}, {}, "SS928", 1000, {"leaky_relu"}, {1}, 1, 60, 60};
  made.unit = "one execution";
  made.noise_basis = "the larger of 5 % and three times the MAD of the executions";
  made.total = {23299, 14190, 1165};
  made.verdict = Verdict::faster;
  OpChange fused = op_change("act1", 9000, 1000, 50);
  fused.base_names = {"act1_softplus", "act1_tanh", "act1_mul"};
  fused.base_type = "Softplus+Tanh+Mul";
  fused.new_type = "LeakyRelu";
  fused.matched_by = MatchedBy::fusion;
  fused.share = 87.8;
  fused.ratios = {{"mac_ppen_ratio", 41.3, 60.25}};
  made.ops = {fused, op_change("gone", 2000, std::nullopt), op_change("fresh", std::nullopt, 900),
              op_change("conv1", 6000, 6010, 300), op_change("conv2", 6299, 6280, 300)};
  made.ops[1].share = 22;
  made.ops[2].share = -9.9;
  made.matches = {2, 0, 1, 1, 1};
  made.types = {{"Softplus+Tanh+Mul", {9000, std::nullopt, 100}, 3, 0, 98.8},
                {"LeakyRelu", {std::nullopt, 1000, 100}, 0, 1, -11}};
  CallChange call;
  call.name = "svp_acl_mdl_execute";
  call.time = {23400, 14300, 1200};
  call.base_count = call.new_count = 60;
  made.calls = {call};
  made.counters = {{"device", "hbm", "HBM 0 Read", "MB/s", 1000, 1700, 150, 64, 64},
                   {"host", "host_cpu", "CPU 0 Usage", "%", 50, 51, 5, 10, 12}};
  return made;
}

}  // namespace msprof::test
