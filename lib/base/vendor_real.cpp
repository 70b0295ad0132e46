#include "base/vendor_real.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/number.hpp"

namespace msprof {

namespace {

// Limit of scaled values: below it a double has enough digits after the point to round reliably.
constexpr double kMaxScaled = 1e11;
// Distance from a tie, in units, beyond which every rounding method gives the same result.
constexpr double kNearTie = 1e-3;

// Rounds `scaled` to the nearest integer; false if it is near a tie or too large.
bool rounds_plainly(double scaled, std::int64_t& nearest) {
  if (!(scaled < kMaxScaled)) return false;
  nearest = static_cast<std::int64_t>(scaled);
  const double rest = scaled - static_cast<double>(nearest);
  if (std::abs(rest - 0.5) < kNearTie) return false;
  if (rest > 0.5) ++nearest;
  return true;
}

// mantissa * 2^exponent with 64 bits, as x86-64 computes long double. On other machines long
// double has another size.
struct Extended {
  uint128 mantissa;
  int exponent;  // -128 < exponent <= 0
};

// Rounds a product or quotient to 64 bits, ties to even. `has_more`: the value is slightly larger.
Extended rounded(uint128 mantissa, int exponent, bool has_more = false) {
  const int excess = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(mantissa >> 64)));
  if (excess == 0) return {mantissa, exponent};
  uint128 kept = mantissa >> excess;
  const uint128 cut = mantissa - (kept << excess);
  const uint128 half = uint128{1} << (excess - 1);
  if (cut > half || (cut == half && (has_more || kept % 2 == 1))) ++kept;
  return {kept, exponent + excess};
}

std::uint64_t whole(const Extended& value) {
  return static_cast<std::uint64_t>(value.mantissa >> -value.exponent);
}

// SQLite's printf("%!.3f"): adds slightly more than half a unit, then extracts digits from the
// front in long double arithmetic. 0.0004 < value < 2^36.
std::int64_t sqlite_thousandths(double value) {
  const auto in_units = [](double number) { return static_cast<uint128>(std::ldexp(number, 64)); };
  Extended rest = rounded(in_units(value) + in_units(std::fma(value, 3e-16, 5.0e-04)), -64);
  int exponent = 0;
  std::uint64_t scale = 1;
  for (; whole(rest) >= 10 * scale; ++exponent) scale *= 10;
  if (scale > 1) {
    const uint128 dividend = rest.mantissa << 60;
    rest = rounded(dividend / scale, rest.exponent - 60, dividend % scale != 0);
  }
  for (; whole(rest) == 0 && exponent > -4; --exponent)
    rest = rounded(rest.mantissa * 10, rest.exponent);
  std::int64_t thousandths = 0;
  for (; exponent >= -3; --exponent) {
    const std::uint64_t digit = whole(rest);
    thousandths = thousandths * 10 + static_cast<std::int64_t>(digit);
    rest = rounded((rest.mantissa - (uint128{digit} << -rest.exponent)) * 10, rest.exponent);
  }
  return thousandths;
}

// Writes thousandths without trailing zeros, but with at least `least` decimals.
char* put_thousandths(char* out, std::int64_t thousandths, int least) {
  char* end = put_us_from_ns(out, thousandths);
  for (int decimals = 3; decimals > least && end[-1] == '0'; --decimals) --end;
  return end[-1] == '.' ? end - 1 : end;
}

// Writes a value of any size with 15 significant digits and always a decimal point.
char* put_15_digits(char* out, double value) {
  std::string text = fmt::format("{:.15g}", value);
  if (std::isfinite(value) && text.find('.') == std::string::npos) {
    text.insert(std::min(text.find('e'), text.size()), ".0");
  }
  return std::copy(text.begin(), text.end(), out);
}

// Rounds to thousandths as SQLite does; false if the value is too large.
bool sqlite_rounded(double magnitude, std::int64_t& thousandths) {
  constexpr double kMaxPlainHalf = 68719476736.0;  // 2^36: beyond it SQLite adds exactly 0.5 units
  if (!(magnitude < kMaxPlainHalf)) return false;
  if (!rounds_plainly(magnitude * 1000.0, thousandths)) thousandths = sqlite_thousandths(magnitude);
  return true;
}

char* put_fixed3(char* out, double value, int least) {
  std::int64_t thousandths = 0;
  if (rounds_plainly(std::abs(value) * 1000.0, thousandths)) {
    if (std::signbit(value)) *out++ = '-';
    return put_thousandths(out, thousandths, least);
  }
  out = fmt::format_to(out, "{:.3f}", value);
  if (least == 3 || !std::isfinite(value)) return out;
  while (out[-1] == '0') --out;
  return out[-1] == '.' ? out - 1 : out;
}

void append_real(std::string& out, double value, char* (*put)(char* out, double value)) {
  char text[kMaxRealBytes];
  out.append(text, put(text, value));
}

}  // namespace

double sqlite_round3(double value) {
  std::int64_t thousandths = 0;
  if (sqlite_rounded(std::abs(value), thousandths)) {
    return std::copysign(static_cast<double>(thousandths) / 1000.0, value);
  }
  constexpr double kWholeBeyond = 4503599627370496.0;  // 2^52: SQLite does not round these
  if (!(std::abs(value) < kWholeBeyond)) return value;
  return std::strtod(fmt::format("{:.3f}", value).c_str(), nullptr);
}

char* put_sqlite_round3(char* out, double value) {
  if (value == 0) {  // usual for a task that did not run
    std::memcpy(out, "0.0", 3);
    return out + 3;
  }
  std::int64_t thousandths = 0;
  if (!sqlite_rounded(std::abs(value), thousandths))
    return put_15_digits(out, sqlite_round3(value));
  if (value < 0 && thousandths != 0) *out++ = '-';
  return put_thousandths(out, thousandths, 1);
}

void append_sqlite_round3(std::string& out, double value) {
  append_real(out, value, put_sqlite_round3);
}

std::optional<double> sqlite_round3_as_read(double value) {
  std::int64_t thousandths = 0;
  if (!sqlite_rounded(std::abs(value), thousandths)) return std::nullopt;
  const double magnitude = static_cast<double>(thousandths) / 1000.0;
  return value < 0 && thousandths != 0 ? -magnitude : magnitude;
}

std::optional<double> fixed3_as_read(double value) {
  std::int64_t thousandths = 0;
  if (!rounds_plainly(std::abs(value) * 1000.0, thousandths)) return std::nullopt;
  return std::copysign(static_cast<double>(thousandths) / 1000.0, value);
}

char* put_fixed3(char* out, double value) {
  return put_fixed3(out, value, 3);
}

void append_fixed3(std::string& out, double value) {
  append_real(out, value, put_fixed3);
}

char* put_fixed3_trimmed(char* out, double value) {
  return put_fixed3(out, value, 0);
}

void append_fixed3_trimmed(std::string& out, double value) {
  append_real(out, value, put_fixed3_trimmed);
}

double python_round(double value, int digits) {
  static constexpr std::array<double, 7> kPowers = {1, 10, 100, 1e3, 1e4, 1e5, 1e6};
  digits = std::clamp(digits, 0, static_cast<int>(kPowers.size()) - 1);
  const double power = kPowers[static_cast<std::size_t>(digits)];
  std::int64_t nearest = 0;
  if (rounds_plainly(std::abs(value) * power, nearest)) {
    return std::copysign(static_cast<double>(nearest) / power, value);
  }
  if (!std::isfinite(value)) return value;
  return std::strtod(fmt::format("{:.{}f}", value, digits).c_str(), nullptr);
}

char* put_python_float(char* out, double value) {
  constexpr double kMinFixed = 1e-4;
  constexpr double kMaxFixed = 1e16;
  const double magnitude = std::abs(value);
  const bool is_fixed = magnitude == 0 || (magnitude >= kMinFixed && magnitude < kMaxFixed);
  char* end = std::to_chars(out, out + kMaxRealBytes, value,
                            is_fixed ? std::chars_format::fixed : std::chars_format::scientific)
                  .ptr;
  if (!is_fixed || std::find(out, end, '.') != end) return end;
  std::memcpy(end, ".0", 2);
  return end + 2;
}

void append_python_float(std::string& out, double value) {
  append_real(out, value, put_python_float);
}

}  // namespace msprof
