#include "base/log.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "base/findings.hpp"
#include "base/log_stream.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

// Guards terminal output and g_line_shown. Signal handlers write without it.
std::mutex g_line_mutex;
bool g_line_shown = false;
constexpr std::string_view kErrorPrefix = "error: ";
bool g_on_stdout = false;
std::string g_held_errors;
log::Level g_level = log::Level::normal;  // set once, before any thread starts

void clear_shown_line() {
  if (!g_line_shown) return;
  std::fputs("\r\033[K", stderr);
  g_line_shown = false;
}

void write_to(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  // Flushes, so that the message precedes later output of an application to the same descriptor.
  if (stream == stdout) std::fflush(stdout);
}

void write_message(std::string_view line, bool is_error) {
  const std::lock_guard lock(g_line_mutex);
  if (g_on_stdout && is_error) {
    g_held_errors += line;
    return;
  }
  clear_shown_line();
  write_to(g_on_stdout ? stdout : stderr, line);
}

}  // namespace

Progress::Progress(std::string label, std::uint64_t total)
    : label_(printable(label)),
      total_(total),
      is_shown_(::isatty(STDERR_FILENO) == 1 && log::level() != log::Level::quiet) {}

Progress::~Progress() {
  if (is_shown_) clear_line();
}

void Progress::update(std::uint64_t done) {
  if (!is_shown_ || total_ == 0) return;
  const int percent =
      static_cast<int>(static_cast<double>(done) * 100.0 / static_cast<double>(total_));
  if (percent == last_percent_) return;
  last_percent_ = percent;
  const std::lock_guard lock(g_line_mutex);
  fmt::print(stderr, "\r{} {:3}%", label_, percent > 100 ? 100 : percent);
  std::fflush(stderr);
  g_line_shown = true;
}

void Progress::show_line(std::string_view text) {
  const std::string line = "\r\033[K" + printable(text);
  const std::lock_guard lock(g_line_mutex);
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
  g_line_shown = true;
}

void Progress::clear_line() {
  const std::lock_guard lock(g_line_mutex);
  clear_shown_line();
}

bool is_colour_allowed(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if (no_color != nullptr && *no_color != '\0') return false;
  if (term != nullptr && std::strcmp(term, "dumb") == 0) return false;
  return ::isatty(fd) == 1;
}

int text_width(int fd) {
  winsize size = {};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* given = std::getenv("COLUMNS");
  std::uint64_t columns = 0;
  const bool fits = given != nullptr && parse_u64(given, columns) && columns < 10000;
  return fits ? static_cast<int>(columns) : 0;
}

}  // namespace msprof

namespace msprof::log {

void set_level(Level new_level) {
  g_level = new_level;
}
Level level() {
  return g_level;
}

void write(Level least, std::string_view prefix, std::string_view message) {
  if (g_level < least) return;
  std::string line(prefix);
  line += printable(message, KeepNewlines::yes);
  line += '\n';
  write_message(line, prefix == kErrorPrefix);
}

void use_stdout() {
  g_on_stdout = true;
}

bool is_on_stdout() {
  return g_on_stdout;
}

void release_errors(bool is_success) {
  const std::lock_guard lock(g_line_mutex);
  write_to(is_success ? stdout : stderr, std::exchange(g_held_errors, {}));
}

void warn_finding(FindingId id, std::string_view message) {
  warn("{} [{}]", message, finding_info(id).id);
}

void failure(const Error& error) {
  if (!error.id()) return log::error("{}", error.what());
  log::error("{} [{}]", error.what(), finding_info(*error.id()).id);
}

}  // namespace msprof::log
