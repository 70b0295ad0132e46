#include "board/ini_section.hpp"

#include <fmt/format.h>
#include <ini.h>
#include <string.h>

#include <exception>
#include <new>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

[[noreturn]] void fail(const std::string& name, int line, std::string_view problem) {
  throw Error(Exit::usage, fmt::format("{}, line {}: {}", name, line, problem));
}

// Lines end with "\n", "\r\n" or, of old editors, "\r".
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find_first_of("\r\n");
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + (text.substr(end).starts_with("\r\n") ? 2 : 1));
  }
  return lines;
}

// The section that `line` begins, lower case; empty where it begins none.
std::string begun_section(std::string_view line, std::string_view& behind) {
  line = trim(line);
  const auto end = line.find(']');
  if (!line.starts_with('[') || end == std::string_view::npos) return "";
  behind = trim(line.substr(end + 1));
  return lower_ascii(trim(line.substr(1, end - 1)));
}

// inih would skip a section's keys that stand on its own line, and stop at a NUL byte.
void check_lines(const std::vector<std::string_view>& lines, std::string_view section,
                 const std::string& name) {
  bool found = false;
  int number = 0;
  for (const std::string_view line : lines) {
    ++number;
    if (line.size() > IniSection::kMostLineBytes) {
      fail(name, number,
           fmt::format("the line is longer than {} bytes",
                       with_thousands(IniSection::kMostLineBytes)));
    }
    if (line.find('\0') != std::string_view::npos) {
      fail(name, number, "it holds NUL bytes and is no plain text; save the file as UTF-8");
    }
    std::string_view behind;
    if (begun_section(line, behind) != section) continue;
    found = true;
    if (!behind.empty() && behind.front() != '#' && behind.front() != ';') {
      fail(name, number,
           fmt::format("something stands behind [{}]; every key has a line of its own", section));
    }
  }
  if (!found) {
    throw Error(Exit::usage, fmt::format("{} has no section [{}]; its first line should be that, "
                                         "with ip, username and pwd below",
                                         name, section));
  }
}

// What inih is given and what it gives back, a line at a time, so that the line of a key is known.
struct Reading {
  const std::vector<std::string_view>& lines;
  std::string_view section;
  std::deque<IniEntry>& entries;
  std::size_t next = 0;
  int line_without_value = 0;
  std::exception_ptr failure{};
};

char* give_line(char* buffer, int size, void* stream) {
  auto& reading = *static_cast<Reading*>(stream);
  const auto capacity = static_cast<std::size_t>(size);
  if (reading.next == reading.lines.size()) {
    ::explicit_bzero(buffer, capacity);  // it is about to be freed with the password in it
    return nullptr;
  }
  const std::string_view line = reading.lines[reading.next++];
  const std::size_t count = line.copy(buffer, capacity - 2);
  buffer[count] = '\n';
  buffer[count + 1] = '\0';
  return buffer;
}

int take_entry(void* user, const char* section, const char* key, const char* value) {
  auto& reading = *static_cast<Reading*>(user);
  try {
    if (lower_ascii(trim(section)) != reading.section) return 1;
    const int line = static_cast<int>(reading.next);
    if (value == nullptr || *key == '\0') {
      if (reading.line_without_value == 0) reading.line_without_value = line;
      return 1;
    }
    reading.entries.emplace_back();
    reading.entries.back().key = lower_ascii(key);
    reading.entries.back().value = value;
    reading.entries.back().line = line;
    return 1;
  } catch (...) {
    reading.failure = std::current_exception();  // inih is C: nothing may be thrown through it
    return 0;
  }
}

// Debian's inih takes its settings at run time. Its defaults cut a password at " ;", take an
// indented key for more of the value above it, and cut lines at 199 bytes.
void set_up_inih() {
  ini_allow_inline_comments = false;
  ini_allow_multiline = false;
  ini_allow_no_value = true;  // reported with its section, where an error would not be
  ini_stop_on_first_error = false;
  ini_use_stack = false;
  ini_allow_realloc = false;
  ini_max_line = static_cast<int>(IniSection::kMostLineBytes) + 3;  // "\r\n" and NUL
  ini_initial_alloc = ini_max_line;
}

}  // namespace

IniSection::IniSection(std::string_view text, std::string_view section, const std::string& name) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const auto lines = lines_of(text);
  check_lines(lines, section, name);
  set_up_inih();
  Reading reading{.lines = lines, .section = section, .entries = entries_};
  const int bad_line = ::ini_parse_stream(give_line, &reading, take_entry, &reading);
  if (reading.failure) std::rethrow_exception(reading.failure);
  if (bad_line < 0) throw std::bad_alloc();
  if (bad_line > 0) fail(name, bad_line, "it begins a section whose name has no ']'");
  if (reading.line_without_value != 0) {
    fail(name, reading.line_without_value, "it is neither 'key = value' nor a comment");
  }
}

}  // namespace msprof
