// Which kinds of boards, ways and moments a case tries. Each case tries some of them, chosen by its
// name and MSPROF_TEST_SEED, so that the cases together try all. With MSPROF_TEST_WHOLE each case
// tries all.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "support/board_server.hpp"
#include "support/sample.hpp"

namespace msprof::test {

// A seed for the case that runs.
inline std::uint32_t case_seed() {
  const std::string name = Catch::getResultCapture().getCurrentTestName();
  return test_seed() + static_cast<std::uint32_t>(std::hash<std::string>()(name));
}

// sample() by case_seed(). For GENERATE_COPY(from_range(...)).
template <typename Value>
std::vector<Value> sample_for_case(const std::vector<Value>& values, std::size_t count) {
  return sample(values, count, case_seed());
}

// One of the servers that boards have: OpenSSH and dropbear take turns from one pass of a case
// (one section, one set of generated values) to the next. In a whole run, both for each.
inline BoardKind each_kind() {
  if (tests_whole()) return GENERATE(BoardKind::openssh, BoardKind::dropbear);
  static std::map<std::uint32_t, std::uint32_t> passes;  // by seed
  const std::uint32_t seed = case_seed();
  return (seed + passes[seed]++) % 2 == 0 ? BoardKind::openssh : BoardKind::dropbear;
}

}  // namespace msprof::test
