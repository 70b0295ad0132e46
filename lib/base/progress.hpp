// One line of progress on stderr, only where stderr is a terminal and -q was not given.
// For long loops: update() is cheap and may be called for every batch.
#pragma once

#include <cstdint>
#include <string>

namespace msprof {

class Progress {
 public:
  // `total` in the units of update(); 0 when unknown.
  Progress(std::string label, std::uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::uint64_t done);

  // Takes the line off the screen so that a message can be written.
  static void clear_line();

 private:
  std::string label_;
  std::uint64_t total_;
  bool shown_;
  int last_percent_ = -1;
};

// Where output may be coloured: a terminal, NO_COLOR unset or empty, TERM not "dumb".
bool colour_allowed(int fd);

// Columns of the terminal behind `fd`; `fallback` when it is none.
int terminal_columns(int fd, int fallback);
// What the variable COLUMNS says; 0 where it says nothing sensible.
int columns_variable();

}  // namespace msprof
