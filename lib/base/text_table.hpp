// TextTable: RowSink that aligns rows for a terminal, including East Asian wide characters. For
// every verb that prints tables; it makes cells printable.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/row_sink.hpp"

namespace msprof {

class TextTable : public RowSink {
 public:
  TextTable() = default;  // begin() sets the columns
  // `numbers`: columns to treat as numeric (right-aligned, never shortened) even if no cell is a
  // number.
  explicit TextTable(std::vector<std::string> columns, std::vector<bool> numbers = {});

  void begin(std::span<const std::string> columns) override;
  void row(std::span<const Cell> cells) override;
  std::size_t row_count() const { return rows_.size(); }

  // Returns the table, at most `max_width` columns wide (0: no limit). To fit, it breaks headers at
  // blanks and shortens texts; the name column last and, if possible, only so far that names stay
  // distinct. Columns that still do not fit follow in further tables, which repeat the first column
  // and the names. `bold_header` prints headers in bold.
  std::string render(int max_width, bool bold_header) const;
  // Renders for the width of the terminal `fd`, or of COLUMNS; headers are bold if colours are
  // allowed.
  std::string for_terminal(int fd) const;

 protected:
  // Returns the text of a cell.
  virtual std::string shown(const Cell& cell) const;

 private:
  struct Column {
    std::vector<std::string> header;  // one element per line
    int width = 0;
    bool is_number = false;
    bool is_key = false;  // repeated in each further table
    bool is_name = false;
  };
  std::vector<Column> natural_columns() const;
  void shrink_texts(std::vector<Column>& columns, int max_width, int narrowest) const;
  void shrink_name(std::vector<Column>& columns, int max_width) const;
  void break_headers(std::vector<Column>& columns) const;
  // Shortens texts until each column fits beside the keys.
  void fit_beside_keys(std::vector<Column>& columns, int max_width) const;
  std::vector<std::string> column_texts(std::size_t column) const;
  // Shortens text cells to the widths of their columns.
  void cut_texts(const std::vector<Column>& columns);
  std::string render_blocks(const std::vector<Column>& columns, int max_width,
                            bool bold_header) const;
  void render_block(const std::vector<Column>& columns, std::span<const std::size_t> block,
                    bool bold_header, std::string& out) const;

  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> is_number_;
};

}  // namespace msprof
