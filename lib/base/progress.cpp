#include "base/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/log.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {
bool g_line_shown = false;
}

Progress::Progress(std::string label, std::uint64_t total)
    : label_(std::move(label)),
      total_(total),
      shown_(::isatty(STDERR_FILENO) == 1 && log::level() != log::Level::quiet) {}

Progress::~Progress() {
  if (shown_) clear_line();
}

void Progress::update(std::uint64_t done) {
  if (!shown_ || total_ == 0) return;
  const int percent =
      static_cast<int>(static_cast<double>(done) * 100.0 / static_cast<double>(total_));
  if (percent == last_percent_) return;
  last_percent_ = percent;
  fmt::print(stderr, "\r{} {:3}%", label_, percent > 100 ? 100 : percent);
  std::fflush(stderr);
  g_line_shown = true;
}

void Progress::clear_line() {
  if (!g_line_shown) return;
  std::fputs("\r\033[K", stderr);
  g_line_shown = false;
}

bool colour_allowed(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if (no_color != nullptr && *no_color != '\0') return false;
  if (term != nullptr && std::strcmp(term, "dumb") == 0) return false;
  return ::isatty(fd) == 1;
}

int terminal_columns(int fd, int fallback) {
  winsize size = {};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return fallback;
}

int columns_variable() {
  const char* columns = std::getenv("COLUMNS");
  std::uint64_t number = 0;
  const bool given = columns != nullptr && parse_u64(columns, number) && number < 10000;
  return given ? static_cast<int>(number) : 0;
}

}  // namespace msprof
