// Exact decimal output of fractions: what a product prints is rounded once, from integers, half
// away from zero. For the summaries and timelines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace msprof {

__extension__ using int128 = __int128;

// numerator / denominator rounded half away from zero; the denominator is not 0.
int128 divide_rounded(int128 numerator, int128 denominator);

// numerator / denominator with `decimals` digits after the point: fixed(1, 3, 3) is "0.333".
std::string fixed(int128 numerator, int128 denominator, int decimals);

// Nanoseconds as microseconds with three decimals: "1234.567".
std::string us_from_ns(std::int64_t ns);
void append_us_from_ns(std::string& out, std::int64_t ns);
// The other way, for microseconds that someone else's doubles made: rounded as text with three
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
  // This value times `factor`, with `decimals` digits after the point.
  std::string fixed(int128 factor, int decimals) const;
  // part / whole times `factor`; `whole` is not 0.
  static std::string ratio(const Fraction& part, const Fraction& whole, int128 factor,
                           int decimals);

 private:
  void reduce();
  int128 numerator_ = 0;
  int128 denominator_ = 1;
};

}  // namespace msprof
