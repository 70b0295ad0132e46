#include "store/pages/record.hpp"

#include <cmath>
#include <string_view>

namespace msprof::pages {

namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

double decode_real(const std::byte* bytes) {
  return std::bit_cast<double>(big_endian_64(bytes));
}

// Truncates towards zero and saturates.
std::int64_t cut(double value) {
  if (value <= -kTwoTo63) return INT64_MIN;
  if (value >= kTwoTo63) return INT64_MAX;
  return static_cast<std::int64_t>(value);
}

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// Returns the integer at the start of a text, saturated; 0 if there is no digit.
std::int64_t leading_integer(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && is_space(text[at])) ++at;
  bool is_negative = false;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) is_negative = text[at++] == '-';
  constexpr std::uint64_t kMax = INT64_MAX;
  const std::int64_t limit = is_negative ? INT64_MIN : INT64_MAX;
  std::uint64_t value = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    const auto digit = static_cast<std::uint64_t>(text[at] - '0');
    if (value > (kMax - digit) / 10) return limit;
    value = value * 10 + digit;
  }
  return is_negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
}

}  // namespace

std::int64_t decode_other_value(std::uint64_t type, const std::byte* bytes) {
  if (type == cell_type::kZero) return 0;
  if (type == cell_type::kOne) return 1;
  if (is_null(type, bytes)) return kNoValue;
  if (type == cell_type::kReal) return cut(decode_real(bytes));
  const std::int64_t value =
      leading_integer({reinterpret_cast<const char*>(bytes), value_bytes(type)});
  return value == 0 ? kNoValue : value;  // a text that converts to 0 counts as not a number
}

bool is_null(std::uint64_t type, const std::byte* bytes) {
  return type == cell_type::kNothing || (type > cell_type::kOne && type < cell_type::kFirstBytes) ||
         (type == cell_type::kReal && std::isnan(decode_real(bytes)));
}

bool is_equal(std::uint64_t type, const std::byte* bytes, std::int64_t value) {
  if (is_integer(type)) return decode_value(type, bytes) == value;
  if (type != cell_type::kReal) return false;
  const double real = decode_real(bytes);
  return real >= -kTwoTo63 && real < kTwoTo63 && std::trunc(real) == real && cut(real) == value;
}

}  // namespace msprof::pages
