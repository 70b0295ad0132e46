// OpTotal: the executions of an operator, over any number of ranks: count, sum, sum of squares,
// shortest, longest and the exact counts of durations in bins of 1/64 octave. Adding two is exact
// and does not depend on the order. For parts and their readers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/number.hpp"
#include "store/cells.hpp"

namespace msprof::cluster {

// Durations counted by bin. Bin v is the duration v for v < 128 ns; from there an octave has 64 of
// the same width: bin 128 + 64 (e - 7) + i begins at 2^e + i 2^(e-6) ns.
class Histogram {
 public:
  static constexpr std::uint32_t kExact = 128;
  static constexpr std::uint32_t kPerOctave = 64;

  // Negative durations count as 0.
  static std::uint32_t bin_of(std::int64_t ns);
  static std::int64_t begin_of(std::uint32_t bin);

  void add(std::int64_t ns, std::int64_t count = 1);
  void add(const Histogram& other);
  // Begin of the bin in which the `numerator`/`denominator` quantile lies: of n durations the one
  // of the rank ceil(n q), at least 1. Empty: kNull.
  std::int64_t quantile_ns(std::int64_t numerator, std::int64_t denominator) const;
  // Bins with their counts, in order.
  const std::vector<std::pair<std::uint32_t, std::int64_t>>& bins() const { return bins_; }

  // Pairs of (distance from the bin before, count) as varints.
  std::string encoded() const;
  // Adds an encoded one; false if it is none, after which this is of no use.
  bool add_encoded(std::string_view bytes);

 private:
  std::vector<std::pair<std::uint32_t, std::int64_t>> bins_;
};

struct OpTotal {
  std::int64_t name_id = kNull;  // key: name, type and unit
  std::int64_t type_name_id = kNull;
  std::int64_t unit_name_id = kNull;  // what ran it
  std::int64_t count = 0;
  std::int64_t duration_ns = 0;
  uint128 square_sum = 0;
  std::int64_t shortest_ns = kNull;
  std::int64_t shortest_member = kNull;  // the smallest that had it
  std::int64_t longest_ns = kNull;
  std::int64_t longest_member = kNull;
  Histogram histogram;

  void add(std::int64_t ns, std::int64_t member);
  // Of the same key, with the members of one part.
  void add(const OpTotal& other);
};

}  // namespace msprof::cluster
