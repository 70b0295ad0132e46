// Row sinks that write CSV and JSON, and one that keeps rows in memory. For exporters and the verbs
// that print tables.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/row_sink.hpp"
#include "base/text_output.hpp"

namespace msprof {

// A sink that writes rows as text, which any thread can format.
class TableWriter : public RowSink {
 public:
  std::unique_ptr<RowBlock> make_block() override;
  // Appends the text of a row. Thread-safe after begin().
  virtual void append_row(std::string& out, std::span<const Cell> cells) const = 0;
  // Writes the texts of `rows` rows.
  virtual void write_rows(std::string_view text, std::uint64_t rows) = 0;
};

// Writes UTF-8 with LF, quoted as RFC 4180 requires. Accepts several tables in sequence.
class CsvWriter : public TableWriter {
 public:
  explicit CsvWriter(TextOutput& out, Absent absent = Absent::not_available)
      : out_(&out), absent_(absent) {}
  void begin(std::span<const std::string> columns) override;
  void row(std::span<const Cell> cells) override;
  void append_row(std::string& out, std::span<const Cell> cells) const override;
  void write_rows(std::string_view text, std::uint64_t rows) override;
  bool has_rows() const { return rows_ > 0; }

  // Makes Excel read the file correctly: adds a byte order mark to every file, and an apostrophe
  // before a text that Excel would evaluate as a formula.
  void write_for_excel() { is_for_excel_ = true; }
  // Every `rows` rows, calls `next` for the file that receives the following rows, with the same
  // header.
  void slice(std::uint64_t rows, std::function<TextOutput&()> next);

 private:
  void write_header();
  void start_slice();
  char* put(char* out, const Cell& cell) const;
  char* put_text(char* out, std::string_view value) const;
  TextOutput* out_;
  Absent absent_;
  std::vector<std::string> columns_;
  bool is_for_excel_ = false;
  bool is_at_start_ = true;  // of the current file
  std::uint64_t rows_per_slice_ = UINT64_MAX;
  std::uint64_t rows_ = 0;  // of the current slice
  std::function<TextOutput&()> next_;
};

// Writes an array of objects with the columns as keys; a repeated name gets a number: "Name 2".
// Rows::arrays writes rows as arrays, for a document that lists the columns once. Times are written
// as strings: most have more digits than a double holds.
class JsonTableWriter : public TableWriter {
 public:
  enum class Rows { objects, arrays };
  explicit JsonTableWriter(TextOutput& out, Absent absent = Absent::not_available,
                           Rows form = Rows::objects)
      : out_(out), absent_(absent), form_(form) {}
  void begin(std::span<const std::string> columns) override;
  void row(std::span<const Cell> cells) override;
  void append_row(std::string& out, std::span<const Cell> cells) const override;
  void write_rows(std::string_view text, std::uint64_t rows) override;
  void end() override;
  bool has_rows() const { return rows_ > 0; }

 private:
  void append(std::string& out, const Cell& cell) const;
  TextOutput& out_;
  Absent absent_;
  Rows form_;
  std::vector<std::string> keys_;  // the text before each cell
  std::uint64_t rows_ = 0;
};

// Keeps rows in memory, for the terminal.
class TableRows : public RowSink {
 public:
  // A row with its texts.
  class Row {
   public:
    Row(std::span<const Cell> cells, std::size_t columns);
    Row(Row&&) = default;
    Row& operator=(Row&&) = default;

    std::size_t size() const { return cells_.size(); }
    const Cell& operator[](std::size_t column) const { return cells_[column]; }
    std::span<const Cell> cells() const { return cells_; }
    std::size_t bytes() const { return sizeof(Row) + cells_.size() * sizeof(Cell) + texts_.size(); }

   private:
    std::vector<Cell> cells_;
    std::vector<char> texts_;  // not a string, which moves short texts
  };
  void begin(std::span<const std::string> columns) override;
  void row(std::span<const Cell> cells) override { rows.emplace_back(cells, columns.size()); }
  void write(RowSink& out) const;

  std::vector<std::string> columns;
  std::vector<Row> rows;
};

}  // namespace msprof
