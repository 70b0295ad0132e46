// Messages and progress on stderr (base/log_stream.hpp), and terminal properties; data goes to
// stdout without this module. Used by every module. Control characters in messages (names come from
// boards) appear as '?', so that no capture can control the terminal.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace msprof::log {

// `silent` is for fuzzing, where messages about bad input would flood the output.
enum class Level { silent, quiet, normal, verbose };

// Set once by the command line (-q, -v) before any work starts.
void set_level(Level level);
Level level();

void write(Level least, std::string_view prefix, std::string_view message);

// Information for the user; hidden by -q.
template <typename... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::normal, "", fmt::format(format, std::forward<Args>(args)...));
}

// Warnings, after which the command continues; shown even with -q.
template <typename... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::quiet, "warning: ", fmt::format(format, std::forward<Args>(args)...));
}

// Warning with an id for scripts, appended to the message: "... [product_changed]".
void warn_finding(FindingId id, std::string_view message);

template <typename... Args>
void warn(FindingId id, fmt::format_string<Args...> format, Args&&... args) {
  warn_finding(id, fmt::format(format, std::forward<Args>(args)...));
}

// Prints the error that ends a command, followed by its id if it has one.
void failure(const Error& error);

// Prints the error that ends a command.
template <typename... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::quiet, "error: ", fmt::format(format, std::forward<Args>(args)...));
}

// Details; shown with -v.
template <typename... Args>
void verbose(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::verbose, "", fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace msprof::log

namespace msprof {

// One progress line on stderr; shown only if stderr is a terminal and -q is not set. update() is
// cheap enough to be called for every batch.
class Progress {
 public:
  // `total` is in the units of update(); 0 if unknown.
  Progress(std::string label, std::uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::uint64_t done);

  // Shows other text in the same line. The caller has checked that stderr is a terminal.
  static void show_line(std::string_view text);
  // Clears the line so that a message can be written.
  static void clear_line();

 private:
  std::string label_;
  std::uint64_t total_;
  bool is_shown_;
  int last_percent_ = -1;
};

// Returns true if output may be coloured: `fd` is a terminal, NO_COLOR is unset or empty, TERM is
// not "dumb".
bool is_colour_allowed(int fd);

// Returns the width of the terminal `fd` in columns; if it is not a terminal, the value of COLUMNS;
// 0 for no limit.
int text_width(int fd);

}  // namespace msprof
