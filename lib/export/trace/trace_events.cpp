#include "export/trace/trace_events.hpp"

#include <algorithm>
#include <charconv>

#include "base/number.hpp"

namespace msprof {

namespace {

std::string_view without_quotes(std::string_view json) {
  const bool is_quoted = json.size() >= 2 && json.front() == '"' && json.back() == '"';
  return is_quoted ? json.substr(1, json.size() - 2) : json;
}

std::int64_t parse_integer(std::string_view json) {
  const std::string_view digits = without_quotes(json);
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// Returns the position after the string at `at`.
std::size_t find_string_end(std::string_view text, std::size_t at) {
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return text.size();
}

// Returns the position after the value at `at`.
std::size_t find_value_end(std::string_view text, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i < text.size();) {
    const char c = text[i];
    if (c == '"') {
      i = find_string_end(text, i);
      if (depth == 0) return i;
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}' || c == ']')) return i;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++i;
    if (depth == 0 && (c == '}' || c == ']')) return i;
  }
  return text.size();
}

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// Appends the escape sequence whose backslash precedes `at`, and moves `at` past it. No surrogate
// pairs: json_string() uses \u only for control characters.
void append_escaped(std::string& out, std::string_view text, std::size_t& at) {
  const char c = text[at++];
  switch (c) {
    case 'n':
      out += '\n';
      return;
    case 't':
      out += '\t';
      return;
    case 'r':
      out += '\r';
      return;
    case 'b':
      out += '\b';
      return;
    case 'f':
      out += '\f';
      return;
    case 'u': {
      std::uint32_t code = 0;
      const std::string_view digits = text.substr(at, 4);
      std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
      at += digits.size();
      append_utf8(out, code);
      return;
    }
    default:
      out += c;
  }
}

TraceEvent parse_event(std::string_view line) {
  TraceEvent event;
  // If the arguments are the last member, their end need not be searched.
  constexpr std::string_view kLast = "\"ph\":\"X\",\"args\":{";
  const auto last = line.ends_with("}}") ? line.find(kLast) : line.npos;
  if (last != line.npos) {
    event.phase = 'X';
    const auto begin = last + kLast.size();
    event.arguments = line.substr(begin, line.size() - 2 - begin);
    line = line.substr(0, last + 1);
  }
  JsonMembers members(line.substr(1, line.size() - 2));
  while (members.next()) {
    const std::string_view key = members.key();
    const std::string_view value = members.value();
    if (key == "name") {
      event.name = value;
    } else if (key == "pid") {
      event.lane.pid = parse_integer(value);
    } else if (key == "tid") {
      event.lane.tid = parse_integer(value);
    } else if (key == "ts") {
      event.start_ns = parse_us_text(value);
    } else if (key == "dur") {
      event.duration_ns = parse_us_text(value);
    } else if (key == "ph") {
      const std::string_view phase = without_quotes(value);
      event.phase = phase.empty() ? '\0' : phase.front();
    } else if (key == "cat") {
      event.category = value;
    } else if (key == "id") {
      event.id = value;
    } else if (key == "args" && value.size() >= 2) {
      event.arguments = value.substr(1, value.size() - 2);
    }
  }
  return event;
}

}  // namespace

std::int64_t TraceEvent::end_ns() const {
  return saturating_add(start_ns, duration_ns);
}

bool JsonMembers::next() {
  while (at_ < text_.size() && (text_[at_] == ',' || text_[at_] == ' ')) ++at_;
  if (at_ >= text_.size() || text_[at_] != '"') return false;
  const std::size_t key_end = find_string_end(text_, at_);
  key_ = without_quotes(text_.substr(at_, key_end - at_));
  at_ = key_end;
  while (at_ < text_.size() && (text_[at_] == ':' || text_[at_] == ' ')) ++at_;
  const std::size_t end = find_value_end(text_, at_);
  value_ = text_.substr(at_, end - at_);
  at_ = end;
  return true;
}

std::string parse_json_text(std::string_view json) {
  const std::string_view text = without_quotes(json);
  if (text.size() == json.size() || text.find('\\') == text.npos) return std::string(text);
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i++];
    if (c == '\\' && i < text.size()) {
      append_escaped(result, text, i);
    } else {
      result += c;
    }
  }
  return result;
}

std::int64_t parse_us_text(std::string_view json) {
  std::string_view text = without_quotes(json);
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  std::uint64_t us = 0;
  const auto whole = std::from_chars(text.data(), end, us);
  std::uint64_t ns = 0;
  if (whole.ptr != end && *whole.ptr == '.') {
    std::uint64_t place = 100;
    for (const char* digit = whole.ptr + 1; digit != end && place > 0; ++digit, place /= 10) {
      if (*digit < '0' || *digit > '9') break;
      ns += static_cast<std::uint64_t>(*digit - '0') * place;
    }
  }
  // INT64_MIN has this magnitude.
  constexpr std::uint64_t kMax = std::uint64_t{1} << 63;
  if (us > (kMax - ns) / 1000) return is_negative ? INT64_MIN : INT64_MAX;
  const std::uint64_t total = us * 1000 + ns;
  if (is_negative) return static_cast<std::int64_t>(~total + 1);
  return total >= kMax ? INT64_MAX : static_cast<std::int64_t>(total);
}

// Each event is one line; a comma at the end of a line is not part of it.
void TraceEventSink::write(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with(',')) line.remove_suffix(1);
    if (line.starts_with('{') && line.ends_with('}')) take(parse_event(line));
    begin = end + 1;
  }
  read_bytes_ += text.size();
}

}  // namespace msprof
