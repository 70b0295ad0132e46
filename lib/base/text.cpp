#include "base/text.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <charconv>

namespace msprof {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::size_t kMaxFileName = 255;                  // NAME_MAX of Linux file systems

// Returns the length of the valid UTF-8 sequence at the start of `text`, 0 if there is no valid
// one.
std::size_t sequence_length(std::string_view text, utf8proc_int32_t& code) {
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &code);
  return length > 0 ? static_cast<std::size_t>(length) : 0;
}

bool is_control(utf8proc_int32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

// Includes direction marks: they reorder the characters around them, so that one text can look like
// another.
bool steers_terminal(utf8proc_int32_t code) {
  return is_control(code) || code == 0x61c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

// Returns `text` as valid UTF-8. Calls `replace(code, out)` for each character for which
// `is_replaced(code)` is true.
template <typename IsReplaced, typename Replace>
std::string with_replaced(std::string_view text, const IsReplaced& is_replaced,
                          const Replace& replace) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    utf8proc_int32_t code = 0;
    const std::size_t length = sequence_length(text, code);
    if (length == 0) {
      result += kReplacement;
    } else if (is_replaced(code)) {
      replace(code, result);
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

void put_question_mark(utf8proc_int32_t, std::string& out) {
  out += '?';
}

int code_width(utf8proc_int32_t code) {
  return std::max(0, utf8proc_charwidth(code));
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    if (static_cast<unsigned char>(text.front()) < 0x80) {
      text.remove_prefix(1);
      continue;
    }
    utf8proc_int32_t code = 0;
    const std::size_t length = sequence_length(text, code);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string valid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    utf8proc_int32_t code = 0;
    const std::size_t length = sequence_length(text, code);
    result += length == 0 ? kReplacement : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

std::string printable(std::string_view text, KeepNewlines newlines) {
  const auto is_replaced = [keeps = newlines == KeepNewlines::yes](utf8proc_int32_t code) {
    return steers_terminal(code) && !(keeps && code == '\n');
  };
  return with_replaced(text, is_replaced, put_question_mark);
}

std::string printable_on_page(std::string_view text) {
  return with_replaced(text, is_control, put_question_mark);
}

std::string terminal_document(std::string_view text, DocumentForm form) {
  const auto is_replaced = [](utf8proc_int32_t code) {
    return steers_terminal(code) && code != '\n' && code != '\t';
  };
  if (form == DocumentForm::plain) return with_replaced(text, is_replaced, put_question_mark);
  return with_replaced(text, is_replaced, [](utf8proc_int32_t code, std::string& out) {
    out += fmt::format("\\u{:04x}", code);
  });
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    utf8proc_int32_t code = 0;
    const std::size_t length = sequence_length(text, code);
    width += length == 0 ? 1 : code_width(code);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return width;
}

std::string shorten(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  std::string result;
  int used = 1;  // the ellipsis
  while (!text.empty()) {
    utf8proc_int32_t code = 0;
    const std::size_t length = std::max<std::size_t>(1, sequence_length(text, code));
    if (used + code_width(code) > width) break;
    used += code_width(code);
    result += text.substr(0, length);
    text.remove_prefix(length);
  }
  return result + "…";
}

std::string file_name_part(std::string_view name) {
  std::string result(name);
  for (char& c : result) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || c == '/') c = '_';
  }
  return result;
}

std::string limited_file_name(std::string_view stem, std::string_view extension) {
  std::string name(stem);
  if (name.size() + extension.size() > kMaxFileName) {
    const std::string hash = fmt::format("~{:016x}", fnv1a(name));
    std::size_t keep = kMaxFileName - extension.size() - hash.size();
    // Steps back out of a UTF-8 sequence.
    while (keep > 0 && (static_cast<unsigned char>(name[keep]) & 0xc0u) == 0x80u) --keep;
    name = name.substr(0, keep) + hash;
  }
  return name + std::string(extension);
}

std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::size_t partial_match_at_end(std::string_view text, std::string_view word) {
  for (std::size_t size = std::min(text.size(), word.size() - 1); size > 0; --size) {
    if (text.ends_with(word.substr(0, size))) return size;
  }
  return 0;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string lower_ascii(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

bool parse_u64(std::string_view text, std::uint64_t& value) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<std::int64_t> parse_i64(std::string_view text) {
  std::uint64_t value = 0;
  if (!parse_u64(text, value) || value > std::uint64_t{INT64_MAX}) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::string with_thousands(std::uint64_t value) {
  std::string digits = fmt::format("{}", value);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string human_bytes(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  const char* unit = "";
  for (const char* next : {"kB", "MB", "GB", "TB"}) {
    if (value < 1000) break;
    value /= 1000;
    unit = next;
  }
  return fmt::format("{:.1f} {}", value, unit);
}

std::string name_suffix(int number) {
  return number == 1 ? "" : fmt::format("~{}", number);
}

std::string take_free_name(std::set<std::string>& taken, const std::string& name) {
  std::string unique = name;
  for (int number = 2; !taken.insert(unique).second; ++number) unique = name + name_suffix(number);
  return unique;
}

std::string shell_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  quoted += '\'';
  return quoted;
}

std::string shell_word(std::string_view text) {
  // Bytes above ASCII are parts of letters; shells do not interpret them.
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view("/._-+:@%=,").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  return shell_quoted(text);
}

}  // namespace msprof
