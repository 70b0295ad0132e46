// HtmlTable writes an HTML table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/compare/comparison_tables.hpp"

namespace msprof::html {

// Writes a table cell by cell. Names are escaped, numbers are not.
class HtmlTable {
 public:
  // `caption` and `rest` are HTML. `rest` is shown if not all rows fit: it describes where the
  // others are; "{0}" is the number of rows shown, "{1}" the total.
  HtmlTable(std::string id, std::string caption, std::string rest)
      : id_(std::move(id)), caption_(std::move(caption)), rest_(std::move(rest)) {}

  bool is_full() const;
  // For a table below a heading with the same text.
  void hide_caption() { is_caption_shown_ = false; }

  void begin(std::span<const std::string> titles);
  // Kinds of the columns passed to begin().
  void set_kinds(std::vector<CellKind> kinds) { kinds_ = std::move(kinds); }
  void begin_row() { body_ += "<tr>"; }
  void begin_row(std::string_view css_class);
  void text(std::string_view value);
  void number(std::string_view digits) { markup(digits); }
  void number(std::int64_t value) { markup(std::to_string(value)); }
  void missing() { markup("-"); }
  // A number with a background bar that fills `part` (0 to 1) of the cell.
  void bar(std::string_view digits, double part);
  // A cell whose content is HTML.
  void markup(std::string_view html);
  // The same with a class that is not that of its column.
  void cell(std::string_view html, std::string_view css_class);
  void end_row();

  // `total` is the number of rows including those left out.
  std::string html(std::size_t total) const;

 private:
  std::string id_;
  std::string caption_;
  std::string rest_;
  bool is_caption_shown_ = true;
  std::vector<CellKind> kinds_;
  std::string head_;
  std::string body_;
  std::size_t column_ = 0;
  std::size_t rows_ = 0;
};

}  // namespace msprof::html
