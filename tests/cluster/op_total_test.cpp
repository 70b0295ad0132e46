// Operator durations: bins, sums and quantiles calculated by hand.
#include "cluster/op_total.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

namespace msprof::cluster {

namespace {

using Bins = std::vector<std::pair<std::uint32_t, std::int64_t>>;

OpTotal make_total(const std::vector<std::int64_t>& durations, std::int64_t member) {
  OpTotal total;
  for (const std::int64_t ns : durations) total.add(ns, member);
  return total;
}

bool same_totals(const OpTotal& a, const OpTotal& b) {
  return a.count == b.count && a.duration_ns == b.duration_ns && a.square_sum == b.square_sum &&
         a.shortest_ns == b.shortest_ns && a.shortest_member == b.shortest_member &&
         a.longest_ns == b.longest_ns && a.longest_member == b.longest_member &&
         a.histogram.bins() == b.histogram.bins();
}

bool is_garbage(std::string_view bytes) {
  return !Histogram().add_encoded(bytes);
}

}  // namespace

TEST_CASE("durations below 128 ns have a bin each, then an octave has 64") {
  const std::pair<std::int64_t, std::uint32_t> known[] = {
      {INT64_MIN, 0},
      {-1, 0},
      {0, 0},
      {1, 1},
      {127, 127},
      {128, 128},
      {129, 128},
      {130, 129},
      {255, 191},
      {256, 192},
      {259, 192},
      {260, 193},
      {511, 255},
      {512, 256},
      // 2^20 is 13 octaves above 2^7; its second bin starts at 2^20 + 2^14.
      {1 << 20, 128 + 64 * 13},
      {(1 << 20) + (1 << 14), 128 + 64 * 13 + 1},
      {(1 << 20) + (1 << 14) - 1, 128 + 64 * 13},
      // The last bin, 2^62 to 2^63, is octave 55 above 2^7.
      {INT64_MAX, 128 + 64 * 55 + 63}};
  for (const auto& [ns, bin] : known) {
    INFO(ns << " ns");
    CHECK(Histogram::to_bin(ns) == bin);
  }
  CHECK(Histogram::bin_start(127) == 127);
  CHECK(Histogram::bin_start(129) == 130);
  CHECK(Histogram::bin_start(128 + 64 * 13 + 1) == (1 << 20) + (1 << 14));
  CHECK(Histogram::bin_start(128 + 64 * 55 + 63) == INT64_MAX - (std::int64_t{1} << 56) + 1);
}

TEST_CASE("a bin starts at its value, and no bin is wider than a 64th of its start") {
  for (std::uint32_t bin = 0; bin < 128 + 64 * 56; ++bin) {
    const std::int64_t begin = Histogram::bin_start(bin);
    REQUIRE(Histogram::to_bin(begin) == bin);
    if (bin == 0) continue;
    REQUIRE(Histogram::to_bin(begin - 1) == bin - 1);
    REQUIRE(begin - Histogram::bin_start(bin - 1) <= std::max<std::int64_t>(1, begin / 64));
  }
}

TEST_CASE("a quantile is the start of the bin with its rank") {
  Histogram histogram;
  CHECK(histogram.quantile_ns(1, 2) == kNull);
  for (const std::int64_t ns : {10, 20, 20, 30, 1000}) histogram.add(ns);
  CHECK(histogram.quantile_ns(0, 100) == 10);   // never below the first
  CHECK(histogram.quantile_ns(20, 100) == 10);  // ceil(1.0) = 1
  CHECK(histogram.quantile_ns(21, 100) == 20);  // ceil(1.05) = 2
  CHECK(histogram.quantile_ns(50, 100) == 20);  // ceil(2.5) = 3
  CHECK(histogram.quantile_ns(80, 100) == 30);
  CHECK(histogram.quantile_ns(95, 100) == 1000);
  CHECK(histogram.quantile_ns(1, 1) == 1000);
  CHECK(histogram.quantile_ns(2, 1) == 1000);  // above the maximum
  Histogram many;
  many.add(5, INT64_MAX);
  many.add(6, INT64_MAX);
  CHECK(many.quantile_ns(1, 2) == 5);
  CHECK(many.quantile_ns(51, 100) == 6);
}

TEST_CASE("a histogram is encoded as distances and counts") {
  Histogram histogram;
  histogram.add(3);
  histogram.add(300, 2);  // bin 192 + 11 = 203
  histogram.add(3, 299);
  CHECK(histogram.bins() == Bins{{3, 300}, {203, 2}});
  // 300 is 0xac 0x02 as a varint, 200 is 0xc8 0x01.
  CHECK(histogram.encoded() == std::string("\x03\xac\x02\xc8\x01\x02", 6));
  Histogram read;
  read.add(3, 1);
  REQUIRE(read.add_encoded(histogram.encoded()));
  CHECK(read.bins() == Bins{{3, 301}, {203, 2}});
  Histogram wide;
  wide.add(0, INT64_MAX);
  wide.add(INT64_MAX, INT64_MAX);
  Histogram again;
  REQUIRE(again.add_encoded(wide.encoded()));
  CHECK(again.bins() == wide.bins());
  CHECK(Histogram().encoded().empty());
  CHECK(again.add_encoded(""));
}

TEST_CASE("invalid histogram bytes are detected") {
  using namespace std::string_view_literals;
  CHECK(is_garbage("\x03"sv));                  // no count
  CHECK(is_garbage("\x03\x80"sv));              // an unterminated varint
  CHECK(is_garbage("\x03\x00"sv));              // a count of 0
  CHECK(is_garbage("\x03\x01\x00\x01"sv));      // the same bin again
  CHECK(is_garbage("\x80\x1d\x01"sv));          // bin 3712, one past the last
  CHECK(is_garbage("\xff\x1c\x01\x01\x01"sv));  // the same, reached by the second distance
  // A count above INT64_MAX, and distances that would overflow.
  CHECK(is_garbage("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv));
  CHECK(is_garbage("\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01"sv));
  CHECK_FALSE(is_garbage("\xff\x1c\x01"sv));  // the last bin
  // Random bytes are either rejected or read; no crash.
  std::uint64_t state = 1;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes;
    for (std::uint64_t size = state % 24; bytes.size() < size;) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      bytes += static_cast<char>(state >> 60 == 0 ? state >> 33 : state >> 33 & 0x1f);
    }
    state = state * 6364136223846793005u + 1442695040888963407u;
    Histogram read;
    if (!read.add_encoded(bytes)) continue;
    Histogram again;
    REQUIRE(again.add_encoded(read.encoded()));
    REQUIRE(again.bins() == read.bins());
  }
}

TEST_CASE("the executions of an operator are counted exactly") {
  OpTotal total;
  CHECK(total.shortest_ns == kNull);
  total.add(30, 4);
  total.add(10, 9);
  total.add(10, 4);
  total.add(40, 4);
  CHECK(total.count == 4);
  CHECK(total.duration_ns == 90);
  CHECK(total.square_sum == 900 + 100 + 100 + 1600);
  CHECK(std::pair(total.longest_ns, total.longest_member) == std::pair(40l, 4l));
  CHECK(total.shortest_ns == 10);
  CHECK(total.histogram.bins() == Bins{{10, 2}, {30, 1}, {40, 1}});
}

TEST_CASE("squares of long durations do not overflow, sums stop at the largest number") {
  const std::int64_t hour_ns = 3'600'000'000'000;
  OpTotal total;
  for (int i = 0; i < 1000; ++i) total.add(hour_ns, 1);
  CHECK(total.square_sum == uint128{1000} * hour_ns * hour_ns);
  OpTotal largest = make_total({INT64_MAX, INT64_MAX}, 1);
  CHECK(largest.duration_ns == INT64_MAX);
  CHECK(largest.square_sum == static_cast<uint128>(INT64_MAX) * INT64_MAX * 2);
  largest.add(largest);
  CHECK(largest.count == 4);
  CHECK(largest.duration_ns == INT64_MAX);
}

TEST_CASE("the order and grouping of totals does not matter") {
  const std::vector<OpTotal> parts = {make_total({5, 900, 70'000}, 3), make_total({5, 70'000}, 1),
                                      make_total({}, 2), make_total({1'000'000, 6}, 2),
                                      make_total({5, 70'000, 127, 128}, 4)};
  std::vector<std::size_t> order = {0, 1, 2, 3, 4};
  OpTotal first;
  for (const std::size_t i : order) first.add(parts[i]);
  CHECK(first.shortest_member == 1);  // the smallest member among those that took 5 ns
  CHECK(first.longest_member == 2);
  CHECK(first.count == 11);
  do {
    OpTotal left, right;
    for (std::size_t i = 0; i < order.size(); ++i) (i < 2 ? left : right).add(parts[order[i]]);
    right.add(left);
    REQUIRE(same_totals(right, first));
  } while (std::next_permutation(order.begin(), order.end()));
}

}  // namespace msprof::cluster
