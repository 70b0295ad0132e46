// Messages and progress, on stderr (base/log_stream.hpp), and what the terminal shows; data goes to
// stdout and never through here. For every module. Control bytes in a message (names come from
// boards) are shown as '?', so that no capture can steer the terminal.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace msprof::log {

// `silent` is for fuzzing, where messages about bad input would be all there is to see.
enum class Level { silent, quiet, normal, verbose };

// Set once by the command line (-q, -v) before any work starts.
void set_level(Level level);
Level level();

void write(Level least, std::string_view prefix, std::string_view message);

// Answers to what the user asked: shown unless -q.
template <typename... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::normal, "", fmt::format(format, std::forward<Args>(args)...));
}

// Warnings, after which the work goes on: shown also with -q.
template <typename... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::quiet, "warning: ", fmt::format(format, std::forward<Args>(args)...));
}

// Warning with an id, which scripts can distinguish: the id stands behind the message, "...
// [product_changed]".
void warn_of(FindingId id, std::string_view message);

template <typename... Args>
void warn(FindingId id, fmt::format_string<Args...> format, Args&&... args) {
  warn_of(id, fmt::format(format, std::forward<Args>(args)...));
}

// The line with which a command fails, with the id of the error where it has one.
void failure(const Error& error);

// The one line with which a command fails.
template <typename... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::quiet, "error: ", fmt::format(format, std::forward<Args>(args)...));
}

// Details on the way: shown with -v.
template <typename... Args>
void verbose(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::verbose, "", fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace msprof::log

namespace msprof {

// One line of progress on stderr, only where stderr is a terminal and -q was not given.
// For long loops: update() is cheap and may be called for every batch.
class Progress {
 public:
  // Takes `total` in the units of update(); 0 when unknown.
  Progress(std::string label, std::uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::uint64_t done);

  // Shows a line of other words in the same place. For callers that know stderr is a terminal.
  static void show_line(std::string_view text);
  // Clears the line so that a message can be written.
  static void clear_line();

 private:
  std::string label_;
  std::uint64_t total_;
  bool shown_;
  int last_percent_ = -1;
};

// True when output may be coloured: a terminal, NO_COLOR unset or empty, TERM not "dumb".
bool colour_allowed(int fd);

// Returns the columns of the terminal behind `fd`; where it is none, the value of COLUMNS; else 0,
// no limit.
int text_width(int fd);

}  // namespace msprof
