#include "base/status_area.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/read_write.hpp"

namespace msprof {

namespace {

// The area uses less than half of the terminal, and is not shown on a small one.
constexpr int kLeastRows = 12;
constexpr std::size_t kMostAreaLines = 11;
constexpr int kUsualColumns = 80;

// ECMA-48 and VT100 sequences, which every terminal in use supports: save and restore the cursor
// (7, 8), next line (D), scrolling region (r), cursor position (H), clear (K, J).
constexpr std::string_view kSaveCursor = "\0337";
constexpr std::string_view kRestoreCursor = "\0338";

constexpr std::string_view kNextLine = "\033D";

// Returns the text that resets the scrolling region and clears the area.
std::string closing_text(int rows, std::size_t lines) {
  return fmt::format("{}\033[r\033[{};1H\033[J{}", kSaveCursor, rows - static_cast<int>(lines) + 1,
                     kRestoreCursor);
}

// Global so that a signal handler can use it.
char g_close_text[64] = {};
volatile std::size_t g_close_bytes = 0;

// Safe in a signal handler.
void close_at_once() {
  if (g_close_bytes > 0) write_all(STDERR_FILENO, {g_close_text, g_close_bytes});
}

winsize read_terminal_size() {
  winsize size = {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0) return {};
  return size;
}

}  // namespace

bool StatusArea::is_possible() {
  const char* const term = std::getenv("TERM");
  if (term == nullptr || *term == '\0' || std::strcmp(term, "dumb") == 0) return false;
  return ::isatty(STDERR_FILENO) == 1 && read_terminal_size().ws_row >= kLeastRows;
}

int StatusArea::width() const {
  const int columns = read_terminal_size().ws_col;
  // Keeps the last column free: some terminals wrap after it.
  return std::max((columns > 0 ? columns : kUsualColumns) - 1, 1);
}

std::size_t StatusArea::most_lines() const {
  const std::size_t half = read_terminal_size().ws_row / 2;
  return std::min<std::size_t>(half > 2 ? half - 2 : 1, kMostAreaLines);
}

void StatusArea::open(int rows, int columns, std::size_t lines) {
  std::string text;
  if (rows_ == rows && columns_ == columns) {
    text += closing_text(rows_, lines_);
  } else if (rows_ != 0) {
    text += fmt::format("{}\033[r{}", kSaveCursor, kRestoreCursor);
  }
  // Scrolls existing text up; the cursor stays in its column.
  for (std::size_t i = 0; i < lines; ++i) text += kNextLine;
  text += fmt::format("\033[{}A{}\033[1;{}r{}", lines, kSaveCursor, rows - static_cast<int>(lines),
                      kRestoreCursor);
  g_close_bytes = 0;
  g_close_bytes = closing_text(rows, lines).copy(g_close_text, sizeof(g_close_text));
  interrupt::before_exit(close_at_once, interrupt::LastAct::picture);
  write_all(STDERR_FILENO, text);
  rows_ = rows;
  columns_ = columns;
  lines_ = lines;
}

void StatusArea::show(const std::vector<std::string>& lines) {
  const winsize size = read_terminal_size();
  if (lines.empty() || size.ws_row < lines.size() + 2) return close();
  std::fflush(stderr);
  const int rows = size.ws_row;
  if (rows != rows_ || size.ws_col != columns_ || lines.size() > lines_)
    open(rows, size.ws_col, std::max(lines.size(), lines_ < size.ws_row / 2U ? lines_ : 0));
  const bool has_colour = is_colour_allowed(STDERR_FILENO);
  std::string text(kSaveCursor);
  for (std::size_t i = 0; i < lines_; ++i) {
    text += fmt::format("\033[{};1H\033[K", rows - static_cast<int>(lines_ - i) + 1);
    if (i >= lines.size()) continue;
    text += i == 0 && has_colour ? fmt::format("\033[1m{}\033[0m", lines[i]) : lines[i];
  }
  text += kRestoreCursor;
  write_all(STDERR_FILENO, text);
}

void StatusArea::close() noexcept {
  if (rows_ == 0) return;
  interrupt::before_exit(nullptr, interrupt::LastAct::picture);
  close_at_once();
  g_close_bytes = 0;
  rows_ = columns_ = 0;
  lines_ = 0;
}

}  // namespace msprof
