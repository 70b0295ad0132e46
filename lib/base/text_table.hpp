// TextTable: rows aligned for a terminal, also where names hold East Asian wide characters.
// For `show`; cells are made printable here.
#pragma once

#include <string>
#include <vector>

namespace msprof {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> columns);

  // One cell a column; numbers (right-aligned) are known by `is_number`.
  void add_row(std::vector<std::string> cells, const std::vector<bool>& is_number);
  std::size_t row_count() const { return rows_.size(); }

  // The table at most `max_width` columns wide: the widest columns are shortened first; 0 is no
  // limit. `bold_header` puts the header in bold for a terminal.
  std::string render(int max_width, bool bold_header) const;

 private:
  std::vector<int> fitted_widths(int max_width) const;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> right_aligned_;
};

}  // namespace msprof
