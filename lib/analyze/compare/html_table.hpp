// HtmlTable: a table of a page. For html_report(), and for the page of `msprof report`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/compare/comparison_tables.hpp"
#include "base/row_sink.hpp"

namespace msprof::html {

// A sink of rows that makes them HTML: names are escaped, numbers stand as they are.
class HtmlTable : public RowSink {
 public:
  // `caption` and `rest`, a sentence where the rows are that do not fit, are HTML; in the latter
  // "{0}" is the number of rows in the table, "{1}" that of all.
  HtmlTable(std::string id, std::string caption, std::string rest)
      : id_(std::move(id)), caption_(std::move(caption)), rest_(std::move(rest)) {}

  bool is_full() const;

  using RowSink::number;
  void begin(std::span<const std::string> titles) override;
  // Of the columns that follow in begin().
  void set_kinds(std::vector<CellKind> kinds) { kinds_ = std::move(kinds); }
  void begin_row(std::string_view kind);
  void text(std::string_view value) override;
  void number(std::string_view digits) override { markup(digits); }
  void missing() override { markup("-"); }
  // A number with a bar behind it that fills `part`, 0 to 1, of the cell.
  void bar(std::string_view digits, double part);
  // A cell that is HTML already.
  void markup(std::string_view html);
  void end_row() override;
  void end() override {}

  // `total`: rows that there are, of which the table may have less.
  std::string html(std::size_t total) const;

 private:
  void cell(std::string_view html, std::string_view css_class);

  std::string id_;
  std::string caption_;
  std::string rest_;
  std::vector<CellKind> kinds_;
  std::string head_;
  std::string body_;
  std::size_t column_ = 0;
  std::size_t rows_ = 0;
};

}  // namespace msprof::html
