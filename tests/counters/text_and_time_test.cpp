// Code shared by the kinds of counters: parsing of text, time order, counter wraparound.
#include <catch2/catch.hpp>
#include <random>

#include "counters/counter_capture.hpp"
#include "import/cann/counters/text_kind.hpp"
#include "import/cann/counters/time_order.hpp"

using namespace msprof::cann;
using namespace msprof::test;

TEST_CASE("a line is split into words, and numbers must be digits in range") {
  const LineWords words("  12 \t0x3 18446744073709551615 18446744073709551616 -1 7\r");
  REQUIRE(words.size() == 6);
  std::uint64_t value = 0;
  CHECK((words.number(0, value) && value == 12));
  CHECK_FALSE(words.number(1, value));
  CHECK((words.number(2, value) && value == UINT64_MAX));
  CHECK_FALSE(words.number(3, value));
  CHECK_FALSE(words.number(4, value));
  CHECK((words.number(5, value) && value == 7));
  CHECK_FALSE(words.number(6, value));
  CHECK(LineWords("").size() == 0);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "1 ";
  CHECK(LineWords(many).size() == LineWords::kMaxCount + 1);
  CHECK_FALSE(LineWords(many).number(LineWords::kMaxCount, value));
}

TEST_CASE("timestamps have nine digits of nanoseconds, decimals at most the requested places") {
  CHECK(parse_stamp_ns("12:000000345") == 12'000'000'345u);
  for (const char* const none : {"12:00000345", "12:0000003450", "12000000345", ":000000345",
                                 "9300000000:000000000", "1:00000000x", "", ":"}) {
    INFO(none);
    CHECK_FALSE(parse_stamp_ns(none));
  }
  CHECK(parse_scaled_decimal("12.34", 2) == 1234);
  CHECK(parse_scaled_decimal("12", 6) == 12'000'000);
  CHECK(parse_scaled_decimal("0.5", 1) == 5);
  for (const char* const none : {"12.345", "12.", ".5", "-1", "1e3", "92233720368547758.08", ""}) {
    INFO(none);
    CHECK_FALSE(parse_scaled_decimal(none, 2));
  }
}

TEST_CASE("late samples are sorted, and samples with equal times keep their order") {
  TimeOrder<int> order;
  std::vector<std::pair<std::int64_t, int>> given;
  const auto take = [&](std::int64_t time, int item) { given.emplace_back(time, item); };
  for (const auto& [time, item] : std::vector<std::pair<std::int64_t, int>>{
           {10, 1}, {30, 2}, {20, 3}, {20, 4}, {30, 5}, {5, 6}})
    CHECK(order.add(time, item, take));
  CHECK(given.empty());
  order.finish(take);
  CHECK(given == std::vector<std::pair<std::int64_t, int>>{
                     {5, 6}, {10, 1}, {20, 3}, {20, 4}, {30, 2}, {30, 5}});
}

TEST_CASE("a sample later than the window is refused, and memory is limited to the window") {
  TimeOrder<int> order;
  std::int64_t last = -1;
  std::size_t count = 0;
  const auto take = [&](std::int64_t time, int) {
    CHECK(time >= last);
    last = time;
    ++count;
  };
  constexpr int kSamples = 20'000;
  for (int i = 0; i < kSamples; ++i) order.add(i, i, take);
  CHECK(count == kSamples - TimeOrder<int>::kWindow);
  CHECK_FALSE(order.add(last - 1, 0, take));
  CHECK(order.add(last, 0, take));
  order.finish(take);
  CHECK(count == kSamples + 1);
}

TEST_CASE("32-bit microseconds continue after 71.6 minutes, and an older sample stays older") {
  Clock32 clock;
  CHECK(clock.unwrapped(4'000'000'000u) == 4'000'000'000u);
  CHECK(clock.unwrapped(UINT32_MAX) == UINT32_MAX);
  CHECK(clock.unwrapped(5) == (std::uint64_t{1} << 32) + 5);
  CHECK(clock.unwrapped(UINT32_MAX) == UINT32_MAX);
  CHECK(clock.unwrapped(4'000'000'000u) == 4'000'000'000u);
  CHECK(clock.unwrapped(6) == (std::uint64_t{1} << 32) + 6);
  Clock32 early;
  CHECK(early.unwrapped(10) == 10);
  // No time is before the start, so a smaller value means that the counter wrapped around.
  CHECK(early.unwrapped(4'294'967'290u) == 4'294'967'290u);
}

TEST_CASE("lines across slices: each byte is read once, and damage has its offset") {
  CounterCapture capture;
  std::mt19937 random(7);
  // The same lines, cut into slices at any position, give the same samples.
  std::string text;
  for (int i = 1; i <= 200; ++i)
    text += "4:" + std::to_string(1'001'000'000 + 1000 * i).substr(1) + " " +
            std::to_string(i * 10) + " " + std::to_string(i * 20) + "\n";
  Lines whole;
  for (int trial = 0; trial < 5; ++trial) {
    CounterCapture pieces;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t length = trial == 0 ? text.size() : 1 + random() % 700;
      pieces.device("hccs.data", text.substr(at, length));
      pieces.prof().next_slice("hccs.data", 0);
      at += length;
    }
    pieces.process();
    CHECK(pieces.findings("hccs").empty());
    if (trial == 0) whole = pieces.samples("hccs");
    CHECK(whole.size() == 398);
    CHECK(pieces.samples("hccs") == whole);
  }
}

TEST_CASE("show has a line per counter of each kind with mean, peak, its object and time") {
  CounterCapture capture;
  capture.device("hccs.data", "4:001000000 0 0\n4:002000000 1048576 0\n4:004000000 7340032 0\n");
  capture.process();
  // 1000 MB/s for 1 ms, then 3000 for 2 ms: the mean is weighted by duration.
  CHECK(capture.shown("counters") ==
        Lines{"0|lpm_freq|AI Core Freq|MHz|1|1000.0|1000.0|AI Core|0.000",
              "0|hccs|Rx|MB/s|1|0.0|0.0|HCCS|2.000",
              "0|hccs|Tx|MB/s|1|2333.333|3000.0|HCCS|4.000"});
}
