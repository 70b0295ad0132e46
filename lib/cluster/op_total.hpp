// OpTotal sums up the executions of an operator over any number of ranks: count, sum, sum of
// squares, shortest, longest, and a histogram of durations with 64 bins per octave. Sums are exact
// and do not depend on the order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/number.hpp"
#include "store/cells.hpp"

namespace msprof::cluster {

// Counts durations by bin. Below 128 ns there is one bin per ns; above, each octave has 64 bins of
// equal width: bin 128 + 64 (e - 7) + i starts at 2^e + i 2^(e-6) ns.
class Histogram {
 public:
  static constexpr std::uint32_t kExact = 128;
  static constexpr std::uint32_t kPerOctave = 64;

  // Negative durations count as 0.
  static std::uint32_t to_bin(std::int64_t ns);
  static std::int64_t bin_start(std::uint32_t bin);

  void add(std::int64_t ns, std::int64_t count = 1);
  void add(const Histogram& other);
  // Returns the start of the bin that contains the `numerator`/`denominator` quantile q: of n
  // durations, the one at rank ceil(n q), at least 1. Returns kNull if empty.
  std::int64_t quantile_ns(std::int64_t numerator, std::int64_t denominator) const;
  // Non-empty bins with their counts, in order.
  const std::vector<std::pair<std::uint32_t, std::int64_t>>& bins() const { return bins_; }

  // Encodes each bin as two varints: distance from the previous bin, and count.
  std::string encoded() const;
  // Adds an encoded histogram. Returns false if the data is invalid.
  bool add_encoded(std::string_view bytes);

 private:
  std::vector<std::pair<std::uint32_t, std::int64_t>> bins_;
};

struct OpTotal {
  std::int64_t name_id = kNull;  // key: name, type and unit
  std::int64_t type_name_id = kNull;
  std::int64_t unit_name_id = kNull;  // unit that executed it
  std::int64_t count = 0;
  std::int64_t duration_ns = 0;
  uint128 square_sum = 0;
  std::int64_t shortest_ns = kNull;
  std::int64_t shortest_member = kNull;  // lowest member id with this duration
  std::int64_t longest_ns = kNull;
  std::int64_t longest_member = kNull;
  Histogram histogram;

  void add(std::int64_t ns, std::int64_t member);
  // Adds a total with the same key; its member ids must refer to the same part.
  void add(const OpTotal& other);
};

}  // namespace msprof::cluster
