// TextTable: the sink of rows that aligns them for a terminal, also where names hold East Asian
// wide characters. For every verb that prints tables; cells are made printable here.
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
  TextTable() = default;  // begin() names the columns
  // `numbers`: columns of numbers (right-aligned, never shortened) even where no row has one.
  explicit TextTable(std::vector<std::string> columns, std::vector<bool> numbers = {});

  using RowSink::number;
  void begin(std::span<const std::string> columns) override;
  void text(std::string_view value) override;
  void number(std::string_view digits) override;
  void missing() override { text("-"); }
  void end_row() override;
  void end() override {}
  std::size_t row_count() const { return rows_.size(); }

  // The table at most `max_width` columns wide; 0 is no limit. Headers are broken at their blanks,
  // texts are shortened, the column of names last and never so far that different names look alike
  // while there is another way; columns that still do not fit follow in tables below that begin
  // with the first column and the names again. `bold_header` puts headers in bold for a terminal.
  std::string render(int max_width, bool bold_header) const;
  // As wide as the terminal behind `fd`, or as COLUMNS says, and in bold where colours may be.
  std::string for_terminal(int fd) const;

 private:
  struct Column {
    std::vector<std::string> header;  // lines
    int width = 0;
    bool is_number = false;
    bool is_key = false;  // repeated in every table below
    bool is_name = false;
  };
  std::vector<Column> natural_columns() const;
  void shrink_texts(std::vector<Column>& columns, int max_width, int narrowest) const;
  void shrink_name(std::vector<Column>& columns, int max_width) const;
  void break_headers(std::vector<Column>& columns) const;
  // Shortens texts until each column fits beside the keys.
  void fit_beside_keys(std::vector<Column>& columns, int max_width) const;
  std::vector<std::string> texts_of(std::size_t column) const;
  // Cells of text at their columns' widths.
  void cut_texts(const std::vector<Column>& columns);
  std::string render_blocks(const std::vector<Column>& columns, int max_width,
                            bool bold_header) const;
  void render_block(const std::vector<Column>& columns, std::span<const std::size_t> block,
                    bool bold_header, std::string& out) const;

  std::vector<std::string> columns_;
  std::vector<std::string> row_;  // not ended
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> is_number_;
};

}  // namespace msprof
