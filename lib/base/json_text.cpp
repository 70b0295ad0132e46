#include "base/json_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "base/text.hpp"

namespace msprof {

namespace {

void append_escape(std::string& out, char c) {
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
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
  }
}

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

void append_json_string(std::string& out, std::string_view text) {
  if (is_plain_json(text)) {
    out += '"';
    out += text;
    out += '"';
    return;
  }
  std::string repaired;
  if (!is_valid_utf8(text)) {
    repaired = valid_utf8(text);
    text = repaired;
  }
  out += '"';
  std::size_t written = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text, written, i - written);
    written = i + 1;
    append_escape(out, c);
  }
  out.append(text, written);
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

bool is_plain_cell(std::string_view text) {
  return is_plain_json(text) && text.find(',') == std::string_view::npos;
}

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

void quote_long_number(std::string& out, std::size_t at) {
  if (fits_double(std::string_view(out).substr(at))) return;
  out.insert(at, 1, '"');
  out += '"';
}

}  // namespace msprof
