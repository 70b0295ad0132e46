#include "session/clock_map.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

using msprof::ClockMap;
using msprof::ClockStart;

namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

// The capture of cann_host.md 1.7.2.
ClockStart documented() {
  ClockStart start;
  start.count = 3'666'503'140'109;
  start.monotonic_ns = 36'471'130'547'330;
  start.frequency_hz = 100'000'000;
  start.begin_monotonic_ns = 36'471'130'547'330;
  start.wall_offset_ns = 1'700'902'984'041'176'000 - start.begin_monotonic_ns;
  return start;
}

// The capture of the shared cases.
ClockStart recorded(std::uint64_t count, std::int64_t hz) {
  ClockStart start;
  start.count = count;
  start.monotonic_ns = 9'691'377'161'797'070;
  start.frequency_hz = hz;
  start.begin_monotonic_ns = 9'691'377'159'398'230;
  start.wall_offset_ns = 1'715'760'307'197'379'000 - start.begin_monotonic_ns;
  return start;
}

// Integers of any size as decimal digits, lowest first: slow, but simple enough to be correct.
class BigNumber {
 public:
  explicit BigNumber(std::uint64_t value) {
    for (; value != 0; value /= 10) digits_.push_back(static_cast<int>(value % 10));
  }
  BigNumber& append_zeros(int count) {
    if (!digits_.empty()) {
      digits_.insert(digits_.begin(), static_cast<std::size_t>(count), 0);
    }
    return *this;
  }
  // Long division; sets `rest` to the remainder.
  std::string divided_by(std::uint64_t divisor, std::uint64_t& rest) const {
    std::string quotient;
    rest = 0;
    for (auto digit = digits_.rbegin(); digit != digits_.rend(); ++digit) {
      rest = rest * 10 + static_cast<std::uint64_t>(*digit);
      quotient += static_cast<char>('0' + rest / divisor);
      rest %= divisor;
    }
    return quotient;
  }

 private:
  std::vector<int> digits_;
};

// `ticks` in picoseconds, rounded half away from zero; the result must fit 64 bits.
std::int64_t slow_ps(std::uint64_t ticks, std::uint64_t hz) {
  std::uint64_t rest = 0;
  const std::string quotient = BigNumber(ticks).append_zeros(12).divided_by(hz, rest);
  return (quotient.empty() ? 0 : std::stoll(quotient)) + (rest * 2 >= hz ? 1 : 0);
}

std::int64_t slow_ns(const ClockStart& start, std::uint64_t count) {
  const bool before = count < start.count;
  const std::int64_t ps = slow_ps(before ? start.count - count : count - start.count,
                                  static_cast<std::uint64_t>(start.frequency_hz));
  const std::int64_t base = start.monotonic_ns + start.wall_offset_ns;
  if (!before) return base + ps / 1000;
  // truncated towards zero: the base is positive
  return base - ps / 1000 - (ps % 1000 != 0 ? 1 : 0);
}

}  // namespace

TEST_CASE("the documented time is shown as by both documented paths of the vendor's tool") {
  const ClockMap clock(documented());
  CHECK(clock.ns(3'666'503'140'109 + 100) == 1'700'902'984'041'177'000);
  CHECK(clock.vendor_ns(3'666'503'140'109 + 100) == 1'700'902'984'041'177'130);
  CHECK(clock.ns(3'666'503'140'109) == 1'700'902'984'041'176'000);
}

TEST_CASE("displayed times of host counts equal those of a recorded memory_record") {
  const ClockMap clock(recorded(969'137'716'179'707, 100'000'000));
  CHECK(clock.vendor_ns(969'137'716'402'985) == 1'715'760'307'202'010'650);
  CHECK(clock.vendor_ns(969'137'716'404'029) == 1'715'760'307'202'021'091);
  CHECK(clock.vendor_ns(969'137'716'550'193) == 1'715'760'307'203'482'730);
  CHECK(clock.vendor_ns(969'137'716'838'807) == 1'715'760'307'206'368'870);
}

TEST_CASE("milliseconds of ticks give the times of a recorded aicpu") {
  const ClockMap clock(recorded(484'576'969'200'418, 50'000'000));
  const double start_ms = clock.vendor_monotonic_ms(484'576'969'308'193);
  const double end_ms = clock.vendor_monotonic_ms(484'576'969'310'082);
  CHECK(clock.to_vendor_ns(start_ms * 1000) == 1'715'760'307'201'933'372);
  CHECK(std::llround((end_ms - start_ms) * 1e6) == 37'779);
  CHECK(clock.to_vendor_ns(clock.vendor_monotonic_ms(484'576'969'331'916) * 1000) ==
        1'715'760'307'202'407'831);
}

TEST_CASE("ticks of 20 ns give whole nanoseconds, also before the start") {
  const ClockMap clock(recorded(484'576'969'200'418, 50'000'000));
  const std::int64_t start_ns = 1'715'760'307'199'777'840;
  CHECK(clock.ns(484'576'969'200'418) == start_ns);
  CHECK(clock.ns(484'576'969'200'419) == start_ns + 20);
  CHECK(clock.ns(484'576'969'200'417) == start_ns - 20);
  CHECK(clock.duration_ns(5033) == 100'660);
}

TEST_CASE("a fraction of a nanosecond is truncated") {
  ClockStart start = recorded(1000, 49'000'000);
  const ClockMap clock(start);
  const std::int64_t base = start.monotonic_ns + start.wall_offset_ns;
  CHECK(clock.ns(1001) == base + 20);  // 20.408
  CHECK(clock.ns(1049) == base + 1000);
  CHECK(clock.ns(999) == base - 21);  // base - 20.408, truncated
  CHECK(clock.duration_ns(3) == 61);  // 61.224
  // 19.9999996 ns are 20.000 when rounded to picoseconds.
  start.frequency_hz = 50'000'001;
  CHECK(ClockMap(start).ns(1001) == base + 20);
}

TEST_CASE("a host counter of 1000 MHz is the monotonic clock") {
  ClockStart start = recorded(5, 1'000'000'000);
  start.counts_are_ns = true;
  const ClockMap clock(start);
  CHECK(clock.ns(9'691'377'159'398'230) == 1'715'760'307'197'379'000);
  start.counts_are_ns = false;  // memory events: cann_host.md 1.7.2
  CHECK(ClockMap(start).ns(6) == start.monotonic_ns + start.wall_offset_ns + 1);
}

TEST_CASE("any count has a time, including the largest, the smallest and times before 1970") {
  const std::array<std::int64_t, 5> frequencies = {1, 49'000'000, 50'000'000, 999'999'937,
                                                   1'000'000'000'000};
  for (const std::int64_t hz : frequencies) {
    CAPTURE(hz);
    const ClockMap clock(recorded(1'000'000, hz));
    const std::int64_t last = clock.ns(std::numeric_limits<std::uint64_t>::max());
    CHECK(last > clock.ns(1'000'000));
    CHECK(clock.duration_ns(std::numeric_limits<std::uint64_t>::max()) > 0);
    CHECK(clock.ns(std::uint64_t{1} << 63) <= last);
    const ClockMap late(recorded(std::numeric_limits<std::uint64_t>::max(), hz));
    CHECK(late.ns(0) <= late.ns(std::uint64_t{1} << 63));
    CHECK(late.ns(std::uint64_t{1} << 63) < clock.ns(1'000'000));
    // The floating-point conversion may give any result.
    CHECK(clock.vendor_ns(std::numeric_limits<std::uint64_t>::max()) > 0);
    CHECK(late.vendor_ns(0) > 0);
  }
  CHECK(ClockMap(recorded(0, 1)).ns(std::numeric_limits<std::uint64_t>::max()) == kMax);
  ClockStart early;
  early.count = 1'000'000'000;
  early.frequency_hz = 50'000'000;
  CHECK(ClockMap(early).ns(0) == -20'000'000'000);
  CHECK(ClockMap(early).vendor_ns(0) == 0);
}

TEST_CASE("a clock without a frequency does not divide by zero") {
  CHECK(ClockMap(ClockStart{}).ns(7) == 7'000'000'000);
}

TEST_CASE("integer arithmetic equals long division for 300000 random counts") {
  std::mt19937_64 random(7);
  const std::array<std::int64_t, 10> frequencies = {
      24'000'000,  38'400'000, 49'000'000,    50'000'000, 62'500'000,
      100'000'000, 96'500'000, 1'000'500'000, 19'200'000, 999'999'937};
  for (int i = 0; i < 300'000; ++i) {
    const std::int64_t hz = frequencies[static_cast<std::size_t>(i) % frequencies.size()];
    const ClockStart start = recorded(random() % 1'000'000'000'000'000, hz);
    const ClockMap clock(start);
    // Near the start, like real records, and up to a month from it.
    const std::uint64_t month = static_cast<std::uint64_t>(hz) * 2'592'000;
    const std::uint64_t distance = random() % (i % 2 == 0 ? 1'000'000'000 : month);
    const bool before = i % 5 == 0 && distance < start.count;
    const std::uint64_t count = before ? start.count - distance : start.count + distance;
    if (clock.ns(count) != slow_ns(start, count)) {
      CAPTURE(hz, start.count, count);
      REQUIRE(clock.ns(count) == slow_ns(start, count));
    }
  }
}

TEST_CASE("the rounding of cntvct_diff in the Python path affects only displayed times") {
  ClockStart start = documented();
  start.vendor_extra_ns = 1;
  CHECK(ClockMap(start).ns(start.count) == 1'700'902'984'041'176'000);
  CHECK(ClockMap(start).vendor_ns(start.count) - ClockMap(documented()).vendor_ns(start.count) ==
        1);
}

TEST_CASE("a count more than a year after the start has no time") {
  const ClockMap clock(documented());
  const std::uint64_t year = std::uint64_t{366} * 86'400 * 100'000'000;
  CHECK(clock.is_possible(0));
  CHECK(clock.is_possible(documented().count + year));
  CHECK_FALSE(clock.is_possible(documented().count + year + 1));
  ClockStart ns = documented();
  ns.counts_are_ns = true;
  const auto last = static_cast<std::uint64_t>(ns.monotonic_ns) + year * 10;
  CHECK(ClockMap(ns).is_possible(last));
  CHECK_FALSE(ClockMap(ns).is_possible(last + 1));
  // If start plus one year overflows, every count is possible.
  ClockStart late = documented();
  late.count = std::numeric_limits<std::uint64_t>::max() - 5;
  CHECK(ClockMap(late).is_possible(std::numeric_limits<std::uint64_t>::max()));
}
