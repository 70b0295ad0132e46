#include "base/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace msprof {

namespace {

int128 absolute(int128 value) {
  return value < 0 ? -value : value;
}

int128 greatest_common_divisor(int128 a, int128 b) {
  a = absolute(a);
  b = absolute(b);
  while (b != 0) {
    const int128 rest = a % b;
    a = b;
    b = rest;
  }
  return a == 0 ? 1 : a;
}

std::string decimal_digits(int128 value) {
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  } while (value != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

// Limit of exact sums. Means stay far below it; larger sums lose precision instead of overflowing.
constexpr int128 kMax = static_cast<int128>(1) << 94;

// "000" to "999".
constexpr std::array<char, 3000> kTriples = [] {
  std::array<char, 3000> digits{};
  for (std::size_t i = 0; i < 1000; ++i) {
    digits[3 * i] = static_cast<char>('0' + i / 100);
    digits[3 * i + 1] = static_cast<char>('0' + i / 10 % 10);
    digits[3 * i + 2] = static_cast<char>('0' + i % 10);
  }
  return digits;
}();

inline char* put_triple(char* out, std::uint64_t below_1000) {
  std::memcpy(out, &kTriples[3 * static_cast<std::size_t>(below_1000)], 3);
  return out + 3;
}

char* put_digits(char* out, std::uint64_t value) {
  constexpr std::uint64_t kMillion = 1'000'000;
  if (value < 10) {
    *out = static_cast<char>('0' + value);
    return out + 1;
  }
  if (value < kMillion) return std::to_chars(out, out + 20, value).ptr;
  out = put_digits(out, value / kMillion);
  return put_triple(put_triple(out, value % kMillion / 1000), value % 1000);
}

}  // namespace

int128 divide_rounded(int128 numerator, int128 denominator) {
  if (denominator < 0) {
    numerator = -numerator;
    denominator = -denominator;
  }
  const int128 quotient = absolute(numerator) / denominator;
  const int128 rest = absolute(numerator) % denominator;
  const int128 rounded = rest >= denominator - rest ? quotient + 1 : quotient;
  return numerator < 0 ? -rounded : rounded;
}

std::string fixed(int128 numerator, int128 denominator, int decimals) {
  int128 scale = 1;
  for (int i = 0; i < decimals; ++i) scale *= 10;
  int128 scaled = 0;
  // Larger than in any real run: a rounded value is better than a wrapped one.
  if (__builtin_mul_overflow(numerator, scale, &scaled)) {
    return fmt::format("{:.{}f}", static_cast<double>(numerator) / static_cast<double>(denominator),
                       decimals);
  }
  const int128 value = divide_rounded(scaled, denominator);
  std::string digits = decimal_digits(absolute(value));
  const auto places = static_cast<std::size_t>(decimals);
  if (decimals > 0) {
    if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
    digits.insert(digits.size() - places, ".");
  }
  return value < 0 ? "-" + digits : digits;
}

char* put_us_from_ns(char* out, std::int64_t ns) {
  // Unsigned, since INT64_MIN has no positive counterpart.
  auto magnitude = static_cast<std::uint64_t>(ns);
  if (ns < 0) {
    *out++ = '-';
    magnitude = ~magnitude + 1;
  }
  out = put_digits(out, magnitude / 1000);
  *out++ = '.';
  return put_triple(out, magnitude % 1000);
}

void append_us_from_ns(std::string& out, std::int64_t ns) {
  char digits[24];
  out.append(digits, put_us_from_ns(digits, ns));
}

std::string us_from_ns(std::int64_t ns) {
  std::string text;
  append_us_from_ns(text, ns);
  return text;
}

std::int64_t ns_from_us(double us) {
  constexpr double kMaxUs = 9e15;
  if (!(std::fabs(us) < kMaxUs)) return us > 0 ? INT64_MAX : -INT64_MAX;
  char text[32] = {};
  const char* end = fmt::format_to_n(text, sizeof(text), "{:.3f}", std::fabs(us)).out;
  std::int64_t ns = 0;
  for (const char* c = text; c != end; ++c) {
    if (*c != '.') ns = ns * 10 + (*c - '0');
  }
  return us < 0 ? -ns : ns;
}

Fraction::Fraction(int128 numerator, int128 denominator)
    : numerator_(numerator), denominator_(denominator) {
  reduce();
}

void Fraction::reduce() {
  const int128 divisor = greatest_common_divisor(numerator_, denominator_);
  numerator_ /= divisor;
  denominator_ /= divisor;
}

Fraction& Fraction::operator+=(const Fraction& other) {
  // Coprime denominators could grow without bound. At 2^20 the resolution (1e-6 of a cycle) is
  // still far finer than what is printed.
  constexpr int128 kMaxDenominator = static_cast<int128>(1) << 20;
  const int128 divisor = greatest_common_divisor(denominator_, other.denominator_);
  const int128 common = denominator_ / divisor * other.denominator_;
  if (common <= kMaxDenominator && absolute(numerator_) < kMax / 2 &&
      absolute(other.numerator_) < kMax / 2) {
    numerator_ =
        numerator_ * (common / denominator_) + other.numerator_ * (common / other.denominator_);
    denominator_ = common;
  } else {
    // Saturates if the integer part overflows, as only in damaged or malicious stores.
    static constexpr int128 kMaxPlainHalf = static_cast<int128>(1) << 125;
    const auto on_grid = [](const Fraction& value) {
      int128 product = 0;
      if (!__builtin_mul_overflow(value.numerator_, kMaxDenominator, &product)) {
        return std::clamp(divide_rounded(product, value.denominator_), -kMaxPlainHalf,
                          kMaxPlainHalf);
      }
      const int128 whole = value.numerator_ / value.denominator_;
      if (!__builtin_mul_overflow(whole, kMaxDenominator, &product)) {
        return std::clamp(product, -kMaxPlainHalf, kMaxPlainHalf);
      }
      return value.numerator_ < 0 ? -kMaxPlainHalf : kMaxPlainHalf;
    };
    numerator_ = on_grid(*this) + on_grid(other);
    denominator_ = kMaxDenominator;
  }
  reduce();
  return *this;
}

bool Fraction::operator<(const Fraction& other) const {
  const int128 left_whole = numerator_ / denominator_;
  const int128 right_whole = other.numerator_ / other.denominator_;
  if (left_whole != right_whole) return left_whole < right_whole;
  return (numerator_ % denominator_) * other.denominator_ <
         (other.numerator_ % other.denominator_) * denominator_;
}

std::string Fraction::fixed(int128 factor, int decimals) const {
  int128 product = 0;
  if (__builtin_mul_overflow(numerator_, factor, &product)) product = numerator_;
  return msprof::fixed(product, denominator_, decimals);
}

std::string Fraction::ratio(const Fraction& part, const Fraction& whole, int128 factor,
                            int decimals) {
  int128 numerator = 0;
  int128 denominator = 0;
  if (__builtin_mul_overflow(part.numerator_, whole.denominator_, &numerator) ||
      __builtin_mul_overflow(numerator, factor, &numerator) ||
      __builtin_mul_overflow(part.denominator_, whole.numerator_, &denominator)) {
    // Rounds both operands to whole units, which are still far finer than the printed digits.
    numerator = divide_rounded(part.numerator_, part.denominator_) * factor;
    denominator = std::max<int128>(1, divide_rounded(whole.numerator_, whole.denominator_));
  }
  return msprof::fixed(numerator, denominator, decimals);
}

}  // namespace msprof
