#include "base/recent_map.hpp"

#include <catch2/catch.hpp>

#include <string>

using msprof::RecentMap;

namespace {

// A map whose values count how often they were created.
struct CountedMap {
  const std::string& get(int key) {
    return map.get(key, [this](int missing) {
      ++made;
      return std::to_string(missing);
    });
  }
  RecentMap<int, std::string, 8> map;
  int made = 0;
};

}  // namespace

TEST_CASE("A cache of recent values creates each value once while few are used") {
  CountedMap numbers;
  for (int round = 0; round < 3; ++round) {
    for (int key = 0; key < 4; ++key) CHECK(numbers.get(key) == std::to_string(key));
  }
  CHECK(numbers.made == 4);
}

TEST_CASE("A cache of recent values keeps frequently used values") {
  CountedMap numbers;
  numbers.get(-1);
  for (int key = 0; key < 100; ++key) {
    CHECK(numbers.get(key) == std::to_string(key));
    CHECK(numbers.get(-1) == "-1");
  }
  CHECK(numbers.made == 101);
  // The first entries have been evicted.
  CHECK(numbers.get(0) == "0");
  CHECK(numbers.made == 102);
}

TEST_CASE("A cached value stays valid while others are added") {
  CountedMap numbers;
  const std::string& first = numbers.get(1);
  for (int key = 2; key < 5; ++key) numbers.get(key);
  CHECK(first == "1");
}
