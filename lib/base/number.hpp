// Numbers as products print them. Exact decimal output of fractions: rounded once, from integers,
// half away from zero; sums of times that stop instead of overflowing; and doubles as the vendor's
// products show them. For the summaries and timelines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace msprof {

__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

// numerator / denominator rounded half away from zero; the denominator is not 0.
int128 divide_rounded(int128 numerator, int128 denominator);

// numerator / denominator with `decimals` digits after the point: fixed(1, 3, 3) is "0.333".
std::string fixed(int128 numerator, int128 denominator, int decimals);

// Nanoseconds as microseconds with three decimals: "1234.567".
std::string us_from_ns(std::int64_t ns);
void append_us_from_ns(std::string& out, std::int64_t ns);
// The same into 24 bytes; returns the end of the text.
char* put_us_from_ns(char* out, std::int64_t ns);
// What that text is read back as; empty where only the text says.
inline std::optional<double> us_as_read(std::int64_t ns) {
  // The quotient of two whole numbers that doubles hold is the double nearest to it.
  constexpr std::int64_t kMaxWhole = std::int64_t{1} << 53;
  if (ns > kMaxWhole || ns < -kMaxWhole) return std::nullopt;
  return static_cast<double>(ns) / 1000.0;
}
// Nanoseconds from microseconds that someone else's doubles made: rounded as text with three
// decimals is (the double's exact value decides, a tie goes to the even digit). What does not fit
// becomes INT64_MAX or its negative.
std::int64_t ns_from_us(double us);

// A sum of fractions with small denominators, kept exact: a sum of means over different counts.
class Fraction {
 public:
  Fraction() = default;
  Fraction(int128 numerator, int128 denominator);
  Fraction& operator+=(const Fraction& other);
  int128 numerator() const { return numerator_; }
  int128 denominator() const { return denominator_; }
  bool operator<(const Fraction& other) const;
  // Returns this value times `factor`, with `decimals` digits after the point.
  std::string fixed(int128 factor, int decimals) const;
  // part / whole times `factor`; `whole` is not 0.
  static std::string ratio(const Fraction& part, const Fraction& whole, int128 factor,
                           int decimals);

 private:
  void reduce();
  int128 numerator_ = 0;
  int128 denominator_ = 1;
};

// Sums and differences of 64-bit times that stop at the largest or smallest value instead of
// overflowing. For times of a store, which may come from elsewhere and hold anything.
constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? INT64_MIN : INT64_MAX;
}

constexpr std::int64_t saturating_subtract(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? INT64_MAX : INT64_MIN;
}

// Doubles as the vendor's products show them: rounded and written by SQLite, by Python and by
// printf, whose cells users compare. For the summaries of CANN captures.
// Source: cann_device.md 6.5, 12.3, 15.1.

// ROUND(value, 3) of SQLite: half away from zero of a value taken at about 15 significant digits,
// so that 4.0424999999999995 is 4.043.
double sqlite_round3(double value);
// SQLite's text of the rounded value: at least one decimal, at most three: "0.0", "2.0", "0.32".
void append_sqlite_round3(std::string& out, double value);
// What that text is read back as; empty where only the text says.
std::optional<double> sqlite_round3_as_read(double value);

// printf("%.3f"): "0.000", "100.000".
void append_fixed3(std::string& out, double value);
// What that text is read back as; empty where only the text says.
std::optional<double> fixed3_as_read(double value);
// printf("%.3f") without zeros, and a point, at its end: "12.5", "4", "100".
void append_fixed3_trimmed(std::string& out, double value);

// round(value, digits) of Python, 0 to 6 digits: half to even of the exact value.
double python_round(double value, int digits);
// repr() of Python: the shortest text that reads back as the same: "12.5", "3.0", "1e-05".
void append_python_float(std::string& out, double value);

}  // namespace msprof
