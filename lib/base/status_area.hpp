// StatusArea: redraws lines at the bottom of the terminal on stderr while program output scrolls
// above them. The terminal's scrolling region separates them for any writer. For live views.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace msprof {

class StatusArea {
 public:
  StatusArea() = default;
  ~StatusArea() { close(); }
  StatusArea(const StatusArea&) = delete;
  StatusArea& operator=(const StatusArea&) = delete;

  // Returns false if stderr is not a terminal, or an unsuitable one (TERM is dumb, too few rows).
  static bool is_possible();

  // Available columns and the maximum number of lines; both change with the terminal's size.
  int width() const;
  std::size_t most_lines() const;

  // Draws `lines`, which must fit the width. The first is the title.
  void show(const std::vector<std::string>& lines);
  // Removes the area. A signal that ends the program at once does the same.
  void close() noexcept;

 private:
  void open(int rows, int columns, std::size_t lines);

  int rows_ = 0;  // terminal rows when the area was opened; 0: closed
  int columns_ = 0;
  std::size_t lines_ = 0;
};

}  // namespace msprof
