// StatusArea: some lines at the bottom of the terminal behind stderr, drawn again and again while
// what programs print scrolls above them. The terminal keeps the two apart (its scrolling region),
// so that it does not matter who prints. For views of what goes on.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace msprof {

class StatusArea {
 public:
  StatusArea() = default;
  // Closes, like close().
  ~StatusArea() { close(); }
  StatusArea(const StatusArea&) = delete;
  StatusArea& operator=(const StatusArea&) = delete;

  // False where stderr is no terminal, or one that cannot do it (TERM is dumb, too few rows).
  static bool is_possible();

  // Columns to draw in, and the lines that there may be; both change with the terminal.
  int width() const;
  std::size_t most_lines() const;

  // Draws; lines must fit. The first is the title.
  void show(const std::vector<std::string>& lines);
  // Gives the lines back. A signal that ends the program at once does so, too.
  void close() noexcept;

 private:
  void open(int rows, int columns, std::size_t lines);

  int rows_ = 0;  // of the terminal, when it was divided; 0: it is not
  int columns_ = 0;
  std::size_t lines_ = 0;
};

}  // namespace msprof
