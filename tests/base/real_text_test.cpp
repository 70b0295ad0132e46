#include "base/number.hpp"
#include "base/vendor_real.hpp"

#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>

using namespace msprof;

namespace {

template <typename Append>
std::string appended_text(Append append, double value) {
  std::string out = "x";
  append(out, value);
  return out.substr(1);
}

std::string rounded(double value) {
  return appended_text(append_sqlite_round3, value);
}
std::string fixed3(double value) {
  return appended_text([](std::string& out, double v) { append_fixed3(out, v); }, value);
}
std::string trimmed(double value) {
  return appended_text(append_fixed3_trimmed, value);
}
std::string python(double value) {
  return appended_text(append_python_float, value);
}

// Computes the expected values with SQLite.
class SqliteRound {
 public:
  SqliteRound() {
    REQUIRE(sqlite3_open(":memory:", &db_) == SQLITE_OK);
    REQUIRE(sqlite3_prepare_v2(db_, "SELECT cast(round(?1, 3) AS TEXT), round(?1, 3)", -1,
                               &statement_, nullptr) == SQLITE_OK);
  }
  ~SqliteRound() {
    sqlite3_finalize(statement_);
    sqlite3_close(db_);
  }
  SqliteRound(const SqliteRound&) = delete;
  SqliteRound& operator=(const SqliteRound&) = delete;

  void ask(double value) {
    sqlite3_reset(statement_);
    sqlite3_bind_double(statement_, 1, value);
    REQUIRE(sqlite3_step(statement_) == SQLITE_ROW);
    const void* bytes = sqlite3_column_blob(statement_, 0);
    text.assign(static_cast<const char*>(bytes),
                static_cast<std::size_t>(sqlite3_column_bytes(statement_, 0)));
    number = sqlite3_column_double(statement_, 1);
  }
  std::string text;
  double number = 0;

 private:
  sqlite3* db_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
};

// Values typical of counters: quotients of integers of all magnitudes, many at or near rounding
// ties.
double some_value(std::mt19937_64& random, int i) {
  const double whole = static_cast<double>(random() % 10'000'000);
  switch (i % 4) {
    case 0:
      return whole / static_cast<double>(1 + random() % 100'000);
    case 1:
      return whole / 2000.0;  // half of them are ties
    case 2:
      return std::nextafter(whole / 2000.0, i % 8 == 2 ? 0.0 : 1e300);
    default:
      return std::ldexp(static_cast<double>(random() % (std::uint64_t{1} << 53)),
                        static_cast<int>(random() % 60) - 70);
  }
}

}  // namespace

TEST_CASE("SQLite rounds at about 15 digits, half away from zero") {
  CHECK(rounded(4.0424999999999995) == "4.043");
  CHECK(rounded(0.1825) == "0.183");
  CHECK(rounded(0) == "0.0");
  CHECK(rounded(2) == "2.0");
  CHECK(rounded(0.32) == "0.32");
  CHECK(rounded(16.1219) == "16.122");
  CHECK(rounded(0.9996) == "1.0");
  CHECK(rounded(-0.0001) == "0.0");
  CHECK(rounded(-1.5) == "-1.5");
  CHECK(rounded(8192.0 * 1e9) == "8192000000000.0");
  CHECK(rounded(1e15) == "1.0e+15");
  CHECK(sqlite_round3(4.0424999999999995) == 4.043);
  CHECK(sqlite_round3(-0.0625) == -0.063);
}

TEST_CASE("a million values are rounded and written as SQLite does") {
  SqliteRound sqlite;
  std::mt19937_64 random(11);
  int different = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const double value = some_value(random, i);
    sqlite.ask(value);
    // Above the range of counters, SQLite itself loses the last digit.
    if (value > 6e10) {
      CHECK(std::abs(sqlite_round3(value) - sqlite.number) <= 0.0011 + value * 1e-15);
      continue;
    }
    if (rounded(value) == sqlite.text && sqlite_round3(value) == sqlite.number) continue;
    if (++different <= 3) {
      CAPTURE(value, i, sqlite.text, sqlite.number, sqlite_round3(value));
      CHECK(rounded(value) == sqlite.text);
    }
  }
  CHECK(different == 0);
}

TEST_CASE("three decimals are those of printf, at ties and for values of any size") {
  CHECK(fixed3(0) == "0.000");
  CHECK(fixed3(100) == "100.000");
  CHECK(fixed3(0.0625) == "0.062");
  CHECK(fixed3(-0.0001) == "-0.000");
  CHECK(fixed3(8.3334) == "8.333");
  std::mt19937_64 random(12);
  for (int i = 0; i < 200'000; ++i) {
    const double value = some_value(random, i);
    char expected[400];
    std::snprintf(expected, sizeof(expected), "%.3f", value);
    if (fixed3(value) != expected) REQUIRE(fixed3(value) == expected);
  }
  CHECK(fixed3(1e300).size() == 305);
}

TEST_CASE("the value of a printed number is predicted without parsing it") {
  const auto read = [](const std::string& text) { return std::strtod(text.c_str(), nullptr); };
  std::mt19937_64 random(13);
  int known = 0;
  for (int i = 0; i < 400'000; ++i) {
    const double value = some_value(random, i) * (i % 3 == 0 ? -1 : 1);
    if (const auto as_read = sqlite_round3_as_read(value)) {
      ++known;
      if (*as_read != read(rounded(value))) REQUIRE(*as_read == read(rounded(value)));
    }
    if (const auto as_read = fixed3_as_read(value)) {
      ++known;
      if (*as_read != read(fixed3(value))) REQUIRE(*as_read == read(fixed3(value)));
    }
    const auto ns = static_cast<std::int64_t>(random() >> (i % 64)) * (i % 2 == 0 ? -1 : 1);
    if (const auto as_read = us_as_read(ns)) {
      ++known;
      if (*as_read != read(us_from_ns(ns))) REQUIRE(*as_read == read(us_from_ns(ns)));
    }
  }
  CHECK(known > 800'000);
  // Not predictable without the text: values outside the range of a double, and values that SQLite
  // writes with 15 digits.
  CHECK_FALSE(us_as_read(INT64_MAX));
  CHECK_FALSE(us_as_read(INT64_MIN));
  CHECK_FALSE(sqlite_round3_as_read(1e15));
  CHECK_FALSE(fixed3_as_read(1e300));
}

TEST_CASE("trailing zeros and a trailing point can be removed") {
  CHECK(trimmed(12.5) == "12.5");
  CHECK(trimmed(4) == "4");
  CHECK(trimmed(100) == "100");
  CHECK(trimmed(0) == "0");
  CHECK(trimmed(8.517) == "8.517");
  CHECK(trimmed(33.02) == "33.02");
  CHECK(trimmed(1200.0001) == "1200");
  CHECK(trimmed(0.0625) == "0.062");
  CHECK(trimmed(2.0625) == "2.062");
  CHECK(trimmed(2.5e12) == "2500000000000");
}

TEST_CASE("Python rounds the exact value, half to even") {
  CHECK(python_round(2.675, 2) == 2.67);
  CHECK(python_round(0.125, 2) == 0.12);
  CHECK(python_round(0.375, 2) == 0.38);
  CHECK(python_round(1.2849, 2) == 1.28);
  CHECK(python_round(-2.5, 0) == -2.0);
  CHECK(python_round(0.1825, 3) == 0.182);
  CHECK(python_round(37.779, 3) == 37.779);
  CHECK(python_round(1e22, 3) == 1e22);
  CHECK(std::isinf(python_round(std::numeric_limits<double>::infinity(), 3)));
}

TEST_CASE("Python writes the shortest text that reads back") {
  CHECK(python(12.5) == "12.5");
  CHECK(python(3) == "3.0");
  CHECK(python(300) == "300.0");
  CHECK(python(0) == "0.0");
  CHECK(python(0.1) == "0.1");
  CHECK(python(8388608) == "8388608.0");
  CHECK(python(10.010000000000002) == "10.010000000000002");
  CHECK(python(1e15) == "1000000000000000.0");
  CHECK(python(1e16) == "1e+16");
  CHECK(python(0.0001) == "0.0001");
  CHECK(python(0.00001) == "1e-05");
  CHECK(python(-2.5e-7) == "-2.5e-07");
}
