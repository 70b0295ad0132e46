// Selects the kinds of boards, ways of transfer and moments that a case tests: a sample chosen by
// the case's name and MSPROF_TEST_SEED, so that all cases together cover everything. With
// MSPROF_TEST_WHOLE each case tests all.
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

// Returns the seed for the current test case.
inline std::uint32_t case_seed() {
  const std::string name = Catch::getResultCapture().getCurrentTestName();
  return test_seed() + static_cast<std::uint32_t>(std::hash<std::string>()(name));
}

// sample() by case_seed(). For GENERATE_COPY(from_range(...)).
template <typename Value>
std::vector<Value> sample_for_case(const std::vector<Value>& values, std::size_t count) {
  return sample(values, count, case_seed());
}

// Returns one of the SSH servers found on boards: OpenSSH and dropbear alternate between passes of
// a case (one section, one set of generated values). If tests_whole(), each pass uses both.
inline BoardKind each_kind() {
  if (tests_whole()) return GENERATE(BoardKind::openssh, BoardKind::dropbear);
  static std::map<std::uint32_t, std::uint32_t> passes;  // by seed
  const std::uint32_t seed = case_seed();
  return (seed + passes[seed]++) % 2 == 0 ? BoardKind::openssh : BoardKind::dropbear;
}

}  // namespace msprof::test
