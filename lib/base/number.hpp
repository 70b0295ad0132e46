// Numbers in the form of the products: exact decimals of fractions, computed from integers and
// rounded once, half away from zero; and sums of times that saturate. For summaries and timelines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace msprof {

__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

// Returns numerator / denominator, rounded half away from zero; the denominator must not be 0.
int128 divide_rounded(int128 numerator, int128 denominator);

// Returns numerator / denominator with `decimals` decimals: fixed(1, 3, 3) is "0.333".
std::string fixed(int128 numerator, int128 denominator, int decimals);

// Formats nanoseconds as microseconds with three decimals: "1234.567".
std::string us_from_ns(std::int64_t ns);
void append_us_from_ns(std::string& out, std::int64_t ns);
// Same, into a buffer of 24 bytes; returns the end of the text.
char* put_us_from_ns(char* out, std::int64_t ns);
// Returns the double that this text parses to; nullopt if only parsing can give it.
inline std::optional<double> us_as_read(std::int64_t ns) {
  // IEEE division of two integers below 2^53 yields the double nearest to the exact quotient.
  constexpr std::int64_t kMaxWhole = std::int64_t{1} << 53;
  if (ns > kMaxWhole || ns < -kMaxWhole) return std::nullopt;
  return static_cast<double>(ns) / 1000.0;
}
// Converts microseconds computed in doubles by other tools to nanoseconds. Rounds as
// printf("%.3f"): the double's exact value, ties to even. Saturates at INT64_MAX or -INT64_MAX.
std::int64_t ns_from_us(double us);

// Exact sum of fractions with small denominators, e.g. of means over different counts.
class Fraction {
 public:
  Fraction() = default;
  Fraction(int128 numerator, int128 denominator);
  Fraction& operator+=(const Fraction& other);
  int128 numerator() const { return numerator_; }
  int128 denominator() const { return denominator_; }
  bool operator<(const Fraction& other) const;
  // Returns this value times `factor`, with `decimals` decimals.
  std::string fixed(int128 factor, int decimals) const;
  // Returns `part` / `whole` * `factor`; `whole` must not be 0.
  static std::string ratio(const Fraction& part, const Fraction& whole, int128 factor,
                           int decimals);

 private:
  void reduce();
  int128 numerator_ = 0;
  int128 denominator_ = 1;
};

// Sums and differences of 64-bit times that saturate instead of overflowing. A store is untrusted
// and may hold any time.
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

}  // namespace msprof
