// Outliers: critical values of Dixon's tables, just below and just above.
#include "cluster/outlier.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace msprof::cluster;

namespace {

// Tests `count` values with Dixon's ratio: the smallest value is `gap` below the value it is
// compared with, and the range is 10,000.
bool is_outlier(std::int64_t count, std::int64_t low, std::int64_t high, std::int64_t gap) {
  std::vector<std::int64_t> values = {0};
  for (std::int64_t i = 1; i < low; ++i) values.push_back(gap);
  for (std::int64_t i = low; i < count - 1 - high; ++i) values.push_back(gap);
  // Values outside the range of the ratio are far away.
  values.push_back(10'000);
  for (std::int64_t i = 0; i < high; ++i) values.push_back(1'000'000);
  REQUIRE(static_cast<std::int64_t>(values.size()) == count);
  return is_smallest_outlier(compute_spread(values));
}

}  // namespace

TEST_CASE("Dixon's ratio is r10, r11, r21 or r22, by the count of values") {
  struct Row {
    std::int64_t count, low, high, critical;
  };
  const std::vector<Row> table = {{3, 1, 0, 9940},  {7, 1, 0, 6800},  {8, 1, 1, 7250},
                                  {10, 1, 1, 6390}, {11, 2, 1, 7130}, {13, 2, 1, 6490},
                                  {14, 2, 2, 6740}, {20, 2, 2, 5620}, {30, 2, 2, 4830}};
  for (const Row& row : table) {
    CAPTURE(row.count);
    CHECK_FALSE(is_outlier(row.count, row.low, row.high, row.critical));
    CHECK(is_outlier(row.count, row.low, row.high, row.critical + 1));
  }
}

TEST_CASE("From 11 values on a second small value does not hide the smallest") {
  std::vector<std::int64_t> few = {0, 10, 990, 991, 992, 993, 994, 995, 996, 997};
  CHECK_FALSE(is_smallest_outlier(compute_spread(few)));
  few.push_back(998);
  CHECK(is_smallest_outlier(compute_spread(few)));
}

TEST_CASE("Many values: an outlier is more than three deviations below the mean") {
  // 99 values alternate between 1,000,000 and 1,001,000. With x among them the limit is x =
  // 998,914: (sum - 100 x)^2 = 9 (100 Q - sum^2).
  const auto with = [](std::int64_t smallest) {
    std::vector<std::int64_t> values = {smallest};
    for (std::int64_t i = 0; i < 99; ++i) values.push_back(1'000'000 + i % 2 * 1000);
    return is_smallest_outlier(compute_spread(values));
  };
  CHECK_FALSE(with(999'000));
  CHECK_FALSE(with(998'920));
  CHECK(with(998'905));
}

TEST_CASE("Equal, too few and extreme values have no outlier") {
  std::vector<std::int64_t> equal(9, 5);
  CHECK_FALSE(is_smallest_outlier(compute_spread(equal)));
  std::vector<std::int64_t> many(90, 5);
  CHECK_FALSE(is_smallest_outlier(compute_spread(many)));
  std::vector<std::int64_t> two = {1, 1'000'000};
  CHECK_FALSE(is_smallest_outlier(compute_spread(two)));
  std::vector<std::int64_t> none;
  CHECK_FALSE(is_smallest_outlier(compute_spread(none)));
  std::vector<std::int64_t> wide(50, INT64_MAX);
  wide.front() = INT64_MIN + 1;
  CHECK_FALSE(is_smallest_outlier(compute_spread(wide)));
  CollectiveRow row;
  row.rank_count = 8;  // no durations
  CHECK_FALSE(is_smallest_outlier(compute_spread(row)));
  row.rank_count = INT64_MAX;
  row.shortest_ns[0] = INT64_MIN + 1;
  row.duration_ns = INT64_MAX;
  row.square_high = -1;
  CHECK_FALSE(is_smallest_outlier(compute_spread(row)));
}
