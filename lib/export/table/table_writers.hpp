// Row sinks that write CSV and JSON, and one that keeps rows in memory. For exporters and the verbs
// that print tables.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/row_sink.hpp"
#include "base/text_output.hpp"

namespace msprof {

// Appends a text as a CSV cell: valid UTF-8, quoted where RFC 4180 requires it.
void append_csv_text(std::string& out, std::string_view text);

// Writes UTF-8 with LF, quoted as RFC 4180 requires. Accepts several tables in sequence.
class CsvWriter : public RowSink {
 public:
  explicit CsvWriter(TextOutput& out, Absent absent = Absent::not_available)
      : out_(&out), absent_(absent) {}
  using RowSink::number;
  void begin(std::span<const std::string> columns) override;
  void text(std::string_view value) override;
  void number(std::string_view digits) override;
  void timestamp(std::string_view digits) override;
  void missing() override;
  void end_row() override;
  void end() override {}
  bool has_rows() const { return rows_ > 0; }

  // Makes Excel read the file correctly: adds a byte order mark to every file, and an apostrophe
  // before a text that Excel would evaluate as a formula.
  void write_for_excel() { is_for_excel_ = true; }
  // Every `rows` rows, calls `next` for the file that receives the following rows, with the same
  // header.
  void slice(std::uint64_t rows, std::function<TextOutput&()> next);

 protected:
  std::string* output() override { return &out_->buffer(); }
  std::string* begin_number() override {
    separate();
    return &out_->buffer();
  }
  void end_timestamp() override { out_->buffer() += '\t'; }

 private:
  void separate();
  void write_header();
  void append_text(std::string_view value);
  TextOutput* out_;
  Absent absent_;
  std::vector<std::string> columns_;
  bool is_for_excel_ = false;
  bool is_at_start_ = true;           // of the current file
  std::uint64_t rows_per_slice_ = 0;  // 0: one file
  std::uint64_t rows_ = 0;            // of the current slice
  std::function<TextOutput&()> next_;
  bool is_first_cell_ = true;
};

// Returns the text before each cell: the quoted key and the colon.
std::vector<std::string> json_table_keys(std::span<const std::string> columns);

// Writes an array of objects with the columns as keys; a repeated name gets a number: "Name 2".
// Rows::arrays writes rows as arrays, for a document that lists the columns once.
class JsonTableWriter : public RowSink {
 public:
  enum class Rows { objects, arrays };
  explicit JsonTableWriter(TextOutput& out, Absent absent = Absent::not_available,
                           Rows form = Rows::objects)
      : out_(out), absent_(absent), form_(form) {}
  using RowSink::number;
  void begin(std::span<const std::string> columns) override;
  void text(std::string_view value) override;
  void number(std::string_view digits) override;
  // JSON has no infinity.
  void real(double value) override;
  // Written as a string: most timestamps have more digits than a double holds.
  void timestamp(std::string_view digits) override { text(digits); }
  void missing() override;
  void end_row() override;
  void end() override;
  bool has_rows() const { return rows_ > 0; }

 protected:
  std::string* output() override { return &out_.buffer(); }
  void skip(std::size_t cells) override { column_ += cells; }

 private:
  void key();
  TextOutput& out_;
  Absent absent_;
  Rows form_;
  std::vector<std::string> keys_;  // quoted, with the colon; empty for arrays
  std::size_t column_ = 0;
  std::uint64_t rows_ = 0;
};

// Keeps rows in memory, for the terminal.
class TableRows : public RowSink {
 public:
  struct Cell {
    std::string text;
    bool is_number = false;
    bool is_time = false;  // a time: a number with more digits than a double has
  };
  using RowSink::number;
  void begin(std::span<const std::string> columns) override;
  void text(std::string_view value) override { row_.push_back({std::string(value), false}); }
  void number(std::string_view digits) override { row_.push_back({std::string(digits), true}); }
  void timestamp(std::string_view digits) override {
    row_.push_back({std::string(digits), true, true});
  }
  void end_row() override;
  void end() override {}
  void write(RowSink& out) const;

  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;

 private:
  std::vector<Cell> row_;
};

}  // namespace msprof
