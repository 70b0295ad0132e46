#include "base/number.hpp"

#include <catch2/catch.hpp>

#include "base/varint.hpp"

using namespace msprof;

TEST_CASE("a quotient is rounded half away from zero") {
  const auto [numerator, denominator, expected] = GENERATE(table<int, int, int>({
      {0, 5, 0},
      {1, 2, 1},
      {-1, 2, -1},
      {3, 2, 2},
      {-3, 2, -2},
      {1, 3, 0},
      {2, 3, 1},
      {-2, 3, -1},
      {7, -2, -4},
      {5, 10, 1},
      {4, 10, 0},
  }));
  CHECK(static_cast<int>(divide_rounded(numerator, denominator)) == expected);
}

TEST_CASE("fractions are printed with exactly the decimals asked for") {
  CHECK(fixed(1, 3, 3) == "0.333");
  CHECK(fixed(2, 3, 3) == "0.667");
  CHECK(fixed(1, 2000, 3) == "0.001");
  CHECK(fixed(49, 100000, 3) == "0.000");
  CHECK(fixed(-1, 2000, 3) == "-0.001");
  CHECK(fixed(-1, 3000, 3) == "0.000");
  CHECK(fixed(100, 1, 3) == "100.000");
  CHECK(fixed(5, 2, 0) == "3");
  CHECK(fixed(-5, 2, 0) == "-3");
  CHECK(fixed(1999999, 1000000, 5) == "2.00000");
  CHECK(fixed(INT64_MAX, 1, 3) == "9223372036854775807.000");
}

TEST_CASE("nanoseconds are printed as microseconds, also negative ones and the smallest") {
  CHECK(us_from_ns(0) == "0.000");
  CHECK(us_from_ns(1) == "0.001");
  CHECK(us_from_ns(999) == "0.999");
  CHECK(us_from_ns(1000) == "1.000");
  CHECK(us_from_ns(-1) == "-0.001");
  CHECK(us_from_ns(-1234567) == "-1234.567");
  CHECK(us_from_ns(INT64_MAX) == "9223372036854775.807");
  CHECK(us_from_ns(INT64_MIN) == "-9223372036854775.808");
  std::string text = "ts:";
  append_us_from_ns(text, 1'000'020'000);
  CHECK(text == "ts:1000020.000");
}

TEST_CASE("sums of fractions are exact") {
  Fraction sum;
  for (int i = 0; i < 3; ++i) sum += Fraction(1, 3);
  CHECK(sum.fixed(1, 6) == "1.000000");
  Fraction halves(1, 2);
  halves += Fraction(1, 6);
  halves += Fraction(-2, 3);
  CHECK(static_cast<int>(halves.numerator()) == 0);
  CHECK(Fraction(6001, 1000).fixed(1, 3) == "6.001");
  CHECK(Fraction(1, 8).fixed(100, 1) == "12.5");
}

TEST_CASE("sums over many different counts are exact to the printed digits") {
  Fraction sum;
  for (int i = 1; i <= 100; ++i) sum += Fraction(1, i);
  CHECK(sum.fixed(1, 3) == "5.187");
}

TEST_CASE("fractions are ordered, and divided by each other") {
  CHECK(Fraction(1, 3) < Fraction(1, 2));
  CHECK_FALSE(Fraction(1, 2) < Fraction(1, 2));
  CHECK_FALSE(Fraction(2, 4) < Fraction(1, 2));
  CHECK(Fraction(-1, 2) < Fraction(1, 3));
  CHECK(Fraction(INT64_MAX - 1, 7) < Fraction(INT64_MAX, 7));
  CHECK(Fraction::ratio(Fraction(1, 3), Fraction(2, 3), 100, 3) == "50.000");
  CHECK(Fraction::ratio(Fraction(1, 1), Fraction(3, 1), 100, 3) == "33.333");
}

TEST_CASE("sums over the longest possible run do not overflow") {
  // A million layers of 2^53 ns.
  const auto sum = static_cast<int128>(std::int64_t{1} << 53) * 1'000'000;
  const Fraction total(sum * 1'000'000'000, 840'000'000);
  CHECK(Fraction::ratio(total, total, 100, 3) == "100.000");
  CHECK(fixed(sum * 100, sum, 3) == "100.000");
  CHECK(fixed(sum, 1000, 3) == "9007199254740992000.000");
}

TEST_CASE("sums and differences of times stop at the largest and the smallest") {
  CHECK(saturating_add(2, 3) == 5);
  CHECK(saturating_add(INT64_MAX, 1) == INT64_MAX);
  CHECK(saturating_add(INT64_MAX, INT64_MAX) == INT64_MAX);
  CHECK(saturating_add(INT64_MIN, -1) == INT64_MIN);
  CHECK(saturating_add(INT64_MIN, INT64_MAX) == -1);
  CHECK(saturating_subtract(2, 3) == -1);
  CHECK(saturating_subtract(INT64_MAX, -1) == INT64_MAX);
  CHECK(saturating_subtract(INT64_MIN, 1) == INT64_MIN);
  CHECK(saturating_subtract(0, INT64_MIN) == INT64_MAX);
}

TEST_CASE("a varint has seven bits a byte and is read back") {
  std::string bytes;
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{300}, UINT64_MAX})
    append_varint(bytes, value);
  CHECK(bytes == std::string("\0\xac\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13));
  std::string_view rest = bytes;
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{300}, UINT64_MAX}) {
    std::uint64_t read = 1;
    CHECK(take_varint(rest, read));
    CHECK(read == value);
  }
  CHECK(rest.empty());
}

TEST_CASE("a truncated or overlong varint is invalid") {
  std::uint64_t value = 0;
  std::string_view nothing;
  CHECK_FALSE(take_varint(nothing, value));
  std::string_view cut = "\xac";
  CHECK_FALSE(take_varint(cut, value));
  std::string_view longer = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
  CHECK_FALSE(take_varint(longer, value));
}
