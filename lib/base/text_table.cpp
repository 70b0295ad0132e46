#include "base/text_table.hpp"

#include <algorithm>
#include <optional>

#include "base/shorten_apart.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

constexpr int kGap = 2;            // blanks between columns
constexpr int kComfortable = 12;   // a text is shortened to this before headers are broken
constexpr int kNarrowest = 4;      // and never below this
constexpr int kReadableName = 24;  // a name is not shortened below this to save a table below

// The column that tells what a row is about; none of them: the first one does.
std::optional<std::size_t> name_column(const std::vector<std::string>& headers) {
  for (const std::string_view end : {"name", "operator", "type"}) {
    for (std::size_t i = 0; i < headers.size(); ++i) {
      const std::string header = lower_ascii(headers[i]);
      // "Ori Layer Name" has the layers that were fused into one.
      if (header.ends_with(end) && !header.starts_with("ori")) return i;
    }
  }
  return std::nullopt;
}

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

int widest(const std::vector<std::string>& lines) {
  int width = 0;
  for (const auto& line : lines) width = std::max(width, display_width(line));
  return width;
}

template <typename Columns>
int total_width(const Columns& columns) {
  int total = -kGap;
  for (const auto& column : columns) total += column.width + kGap;
  return total;
}

template <typename Columns>
int key_width(const Columns& columns) {
  int total = -kGap;
  for (const auto& column : columns) total += column.is_key ? column.width + kGap : 0;
  return total;
}

}  // namespace

TextTable::TextTable(std::vector<std::string> columns)
    : columns_(std::move(columns)), is_number_(columns_.size(), false) {}

void TextTable::add_row(std::vector<std::string> cells, const std::vector<bool>& is_number) {
  cells.resize(columns_.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = printable(cells[i]);
    if (i < is_number.size() && is_number[i]) is_number_[i] = true;
  }
  rows_.push_back(std::move(cells));
}

std::vector<TextTable::Column> TextTable::natural_columns() const {
  const auto name = name_column(columns_);
  std::vector<Column> columns;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const bool is_name = name == i && !is_number_[i];
    Column column{
        {columns_[i]}, display_width(columns_[i]), is_number_[i], i == 0 || is_name, is_name};
    for (const auto& row : rows_) column.width = std::max(column.width, display_width(row[i]));
    columns.push_back(std::move(column));
  }
  return columns;
}

void TextTable::shrink_texts(std::vector<Column>& columns, int max_width, int narrowest) const {
  for (int total = total_width(columns); total > max_width; --total) {
    Column* candidate = nullptr;
    for (Column& column : columns) {
      if (column.is_number || column.is_name || column.width <= narrowest) continue;
      if (candidate == nullptr || column.width > candidate->width) candidate = &column;
    }
    if (candidate == nullptr) return;
    --candidate->width;
  }
}

void TextTable::shrink_name(std::vector<Column>& columns, int max_width) const {
  const int excess = total_width(columns) - max_width;
  for (std::size_t i = 0; i < columns.size() && excess > 0; ++i) {
    Column& column = columns[i];
    if (!column.is_name || column.width <= kReadableName) continue;
    const int least = width_apart(texts_of(i), kReadableName);
    column.width = std::clamp(column.width - excess, std::min(least, column.width), column.width);
  }
}

void TextTable::break_headers(std::vector<Column>& columns) const {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    Column& column = columns[i];
    column.header.clear();
    for (const auto word : split(columns_[i], ' ')) column.header.emplace_back(word);
    column.width = widest(column.header);
    for (const auto& row : rows_) column.width = std::max(column.width, display_width(row[i]));
  }
}

void TextTable::fit_beside_keys(std::vector<Column>& columns, int max_width) const {
  const auto limit = [](Column& column, int width) {
    if (!column.is_number) column.width = std::min(column.width, std::max(kNarrowest, width));
  };
  for (std::size_t i = 0; i < columns.size(); ++i) {
    Column& column = columns[i];
    if (!column.is_key) continue;
    // Half of a narrow terminal, unless that makes names look alike.
    const int half = max_width / 2;
    const bool is_long = column.is_name && column.width > half;
    limit(column, is_long ? width_apart(texts_of(i), std::max(half, kNarrowest)) : half);
  }
  // Keys that fill the terminal leave room for a column beside them.
  for (Column& column : columns) {
    const int excess = key_width(columns) - (max_width - kGap - kComfortable);
    if (column.is_key && excess > 0) limit(column, column.width - excess);
  }
  for (Column& column : columns)
    if (!column.is_key) limit(column, max_width - kGap - key_width(columns));
}

std::vector<std::string> TextTable::texts_of(std::size_t column) const {
  std::vector<std::string> texts;
  for (const auto& row : rows_) texts.push_back(row[column]);
  return texts;
}

void TextTable::cut_texts(const std::vector<Column>& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].is_number) continue;
    auto texts = shorten_apart(texts_of(i), columns[i].width,
                               columns[i].is_name ? Keep::ends : Keep::begins);
    for (std::size_t row = 0; row < rows_.size(); ++row) rows_[row][i] = std::move(texts[row]);
  }
}

void TextTable::render_block(const std::vector<Column>& columns, std::span<const std::size_t> block,
                             bool bold_header, std::string& out) const {
  std::string line;
  const auto add_line = [&](auto&& cell_of) {
    for (std::size_t n = 0; n < block.size(); ++n) {
      if (n > 0) line.append(kGap, ' ');
      const Column& column = columns[block[n]];
      append_cell(line, cell_of(block[n]), column.width, column.is_number);
    }
  };
  std::size_t header_lines = 0;
  for (const std::size_t i : block) header_lines = std::max(header_lines, columns[i].header.size());
  for (std::size_t n = 0; n < header_lines; ++n) {
    add_line([&](std::size_t i) {
      // Short headers stand on the lowest line.
      const auto& header = columns[i].header;
      const std::size_t above = header_lines - header.size();
      return n < above ? std::string() : header[n - above];
    });
    if (bold_header) line = "\033[1m" + line + "\033[0m";
    end_line(line, out);
  }
  for (std::size_t n = 0; n < block.size(); ++n) {
    if (n > 0) line.append(kGap, ' ');
    for (int dash = 0; dash < columns[block[n]].width; ++dash) line += "─";
  }
  end_line(line, out);
  for (const auto& row : rows_) {
    add_line([&](std::size_t i) { return row[i]; });
    end_line(line, out);
  }
}

std::string TextTable::render(int max_width, bool bold_header) const {
  std::vector<Column> columns = natural_columns();
  if (max_width <= 0) max_width = total_width(columns);
  shrink_texts(columns, max_width, kComfortable);
  if (total_width(columns) > max_width) {
    break_headers(columns);
    shrink_texts(columns, max_width, kComfortable);
    auto narrow = columns;
    shrink_name(narrow, max_width);
    shrink_texts(narrow, max_width, kNarrowest);
    // What needs several tables anyway keeps its texts readable.
    if (total_width(narrow) <= max_width) {
      columns = std::move(narrow);
    } else {
      fit_beside_keys(columns, max_width);
    }
  }
  TextTable shown = *this;
  shown.cut_texts(columns);
  return shown.render_blocks(columns, max_width, bold_header);
}

std::string TextTable::render_blocks(const std::vector<Column>& columns, int max_width,
                                     bool bold_header) const {
  std::vector<std::size_t> keys;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].is_key) keys.push_back(i);
  std::string out;
  std::vector<std::size_t> block = keys;
  int used = key_width(columns);
  const auto flush = [&] {
    std::sort(block.begin(), block.end());
    if (!out.empty()) out += "\n";
    render_block(columns, block, bold_header, out);
  };
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].is_key) continue;
    // A table is never only the repeated keys.
    if (block.size() > keys.size() && used + kGap + columns[i].width > max_width) {
      flush();
      block = keys;
      used = key_width(columns);
    }
    used += kGap + columns[i].width;
    block.push_back(i);
  }
  flush();
  return out;
}

}  // namespace msprof
