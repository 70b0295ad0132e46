#include "base/text_table.hpp"

#include <algorithm>
#include <numeric>

#include "base/text.hpp"

namespace msprof {

namespace {

constexpr int kGap = 2;        // blanks between columns
constexpr int kNarrowest = 4;  // a column is not shortened below this

void append_cell(std::string& line, const std::string& cell, int width, bool right) {
  const std::string text = shorten(cell, width);
  const auto padding = static_cast<std::size_t>(std::max(0, width - display_width(text)));
  if (right) line.append(padding, ' ');
  line += text;
  if (!right) line.append(padding, ' ');
}

void end_line(std::string& line, std::string& out) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
  line.clear();
}

}  // namespace

TextTable::TextTable(std::vector<std::string> columns)
    : columns_(std::move(columns)), right_aligned_(columns_.size(), false) {}

void TextTable::add_row(std::vector<std::string> cells, const std::vector<bool>& is_number) {
  cells.resize(columns_.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = printable(cells[i]);
    if (i < is_number.size() && is_number[i]) right_aligned_[i] = true;
  }
  rows_.push_back(std::move(cells));
}

std::vector<int> TextTable::fitted_widths(int max_width) const {
  std::vector<int> widths;
  for (const auto& column : columns_) widths.push_back(display_width(column));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  if (max_width <= 0) return widths;
  const int gaps = kGap * static_cast<int>(widths.size() - 1);
  int total = std::accumulate(widths.begin(), widths.end(), gaps);
  while (total > max_width) {
    const auto widest = std::max_element(widths.begin(), widths.end());
    if (*widest <= kNarrowest) break;
    --*widest;
    --total;
  }
  return widths;
}

std::string TextTable::render(int max_width, bool bold_header) const {
  const std::vector<int> widths = fitted_widths(max_width);
  std::string out;
  std::string line;
  const auto add = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line.append(kGap, ' ');
      append_cell(line, cells[i], widths[i], right_aligned_[i]);
    }
  };
  add(columns_);
  if (bold_header) line = "\033[1m" + line + "\033[0m";
  end_line(line, out);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (i > 0) line.append(kGap, ' ');
    for (int n = 0; n < widths[i]; ++n) line += "─";
  }
  end_line(line, out);
  for (const auto& row : rows_) {
    add(row);
    end_line(line, out);
  }
  return out;
}

}  // namespace msprof
