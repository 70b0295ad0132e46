#include "base/json_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "base/text.hpp"

namespace msprof {

void append_json_string(std::string& out, std::string_view text) {
  std::string repaired;
  if (!is_valid_utf8(text)) {
    repaired = valid_utf8(text);
    text = repaired;
  }
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

std::string json_string(std::string_view text) {
  std::string result;
  append_json_string(result, text);
  return result;
}

// Eight bytes at a time: the highest bit of a byte is set in the result if it needs a closer look.
bool is_plain_json(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = kOnes << 7;
  const auto odd_bytes = [](std::uint64_t bytes) {
    const std::uint64_t quote = bytes ^ kOnes * '"';
    const std::uint64_t backslash = bytes ^ kOnes * '\\';
    return (bytes | (bytes - kOnes * ' ') | (quote - kOnes) | (backslash - kOnes)) & kHigh;
  };
  for (; text.size() >= sizeof(std::uint64_t); text.remove_prefix(sizeof(std::uint64_t))) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data(), sizeof bytes);
    if (odd_bytes(bytes) != 0) return false;
  }
  std::uint64_t bytes = kOnes * 'a';
  if (!text.empty()) std::memcpy(&bytes, text.data(), text.size());
  return odd_bytes(bytes) == 0;
}

namespace {

constexpr std::int64_t kMaxInteger = std::int64_t{1} << 53;
// A double holds every decimal with up to kAlwaysHeld significant digits; the shortest text of a
// double always has fewer than kNeverHeld.
constexpr std::size_t kAlwaysHeld = 15;
constexpr std::size_t kNeverHeld = 18;

// Returns the digits without sign, point, exponent and leading zeros: "120" for "0.0120".
std::string significant(std::string_view number) {
  std::string digits;
  for (const char c : number.substr(0, number.find_first_of("eE"))) {
    if (c >= '0' && c <= '9' && !(digits.empty() && c == '0')) digits += c;
  }
  return digits;
}

std::string without_last_zeros(std::string digits) {
  return digits.erase(digits.find_last_not_of('0') + 1);
}

}  // namespace

bool fits_double(std::int64_t value) {
  return value >= -kMaxInteger && value <= kMaxInteger;
}

bool fits_double(std::string_view digits) {
  if (digits.size() <= kAlwaysHeld) return true;
  const char* end = digits.data() + digits.size();
  if (digits.find_first_of(".eE") == std::string_view::npos) {
    std::int64_t whole = 0;
    return std::from_chars(digits.data(), end, whole).ec == std::errc() && fits_double(whole);
  }
  const std::string wanted = significant(digits);
  if (wanted.size() <= kAlwaysHeld) return true;
  double real = 0;
  // Also false if the digits end in zeros and a double could hold the number: columns with so many
  // decimals mostly hold strings anyway.
  if (wanted.size() >= kNeverHeld || std::from_chars(digits.data(), end, real).ec != std::errc())
    return false;
  return without_last_zeros(significant(fmt::format("{}", real))) == without_last_zeros(wanted);
}

void append_json_number(std::string& out, std::int64_t value) {
  const fmt::format_int digits(value);
  if (fits_double(value)) {
    out.append(digits.data(), digits.size());
  } else {
    append_json_string(out, {digits.data(), digits.size()});
  }
}

void append_json_number(std::string& out, std::string_view digits) {
  fits_double(digits) ? void(out += digits) : append_json_string(out, digits);
}

}  // namespace msprof
