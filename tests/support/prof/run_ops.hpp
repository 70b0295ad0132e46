// The operators of a generated run, their tensors and counters. For ProfRun.
#pragma once

#include <cstdint>
#include <vector>

#include "support/prof/prof_scene.hpp"

namespace msprof::test::prof {

// SplitMix64: gives the same numbers with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x2545f4914f6cdd1d + 1) {}
  std::uint64_t next() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
  }
  // A number from 0 to limit - 1.
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }

 private:
  std::uint64_t state_;
};

struct RunOp {
  OpKind kind;
  std::uint64_t duration_ns = 0;
};

bool is_mix(const OpKind& op);
// Makes `count` uniquely named operators that the chip can run; the first four are neither AI CPU
// nor MIX operators.
std::vector<RunOp> make_ops(Random& random, std::size_t count, const ProfSetup& setup);
TaskPmu make_pmu(Random& random, const OpKind& op, const DeviceSpan& span);

}  // namespace msprof::test::prof
