// RowSink: receives the rows of a table and writes them as CSV, JSON, a terminal table, an HTML
// table or rows in memory. For everything that produces rows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace msprof {

// How a sink writes a missing value. not_available: "N/A", as in products. null: as in SQL results,
// where NULL differs from every text: an empty CSV cell (an empty text is ""), null in JSON.
enum class Absent { not_available, null };

// Cells shared by many rows, with the form in which the sink keeps them. Use with one sink only.
struct SharedCells {
  struct Kept {
    virtual ~Kept() = default;
  };
  std::string bytes;           // for sinks with an output()
  std::unique_ptr<Kept> kept;  // for other sinks that keep cells
};

// Receives the cells of a table one by one, row by row.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void begin(std::span<const std::string> columns) = 0;
  // Valid after begin(): false if the cells of a column are ignored; they may then have any value.
  virtual bool reads(std::size_t /*column*/) const { return true; }
  virtual void text(std::string_view value) = 0;
  // Decimal digits, printed unchanged in CSV and JSON.
  virtual void number(std::string_view digits) = 0;
  // Prints the shortest digits that read back as the same value, always as a real: 3.0.
  virtual void real(double value);
  // Prints bytes as hexadecimal digits.
  virtual void blob(std::string_view bytes);
  // A timestamp in digits; CSV appends a TAB, so that spreadsheets do not round it.
  virtual void timestamp(std::string_view digits) { number(digits); }
  virtual void missing() { text("N/A"); }
  // A row may have fewer cells than columns: CSV omits the rest, other sinks print N/A.
  virtual void end_row() = 0;
  virtual void end() = 0;

  void number(std::int64_t value);
  // Same, for digits that `append(std::string&)` appends; avoids a copy if the sink writes text.
  template <typename Append>
  void number_by(Append&& append) {
    if (next_cell_format() != CellFormat::nothing) append_number(append);
  }
  // Same, with `value()`, which returns the double that the digits parse to, for sinks that
  // compute; nullopt if only parsing the digits can give it.
  template <typename Value, typename Append>
  void number_from(Value&& value, Append&& append) {
    const CellFormat wanted = next_cell_format();
    if (wanted == CellFormat::nothing) return;
    if (wanted == CellFormat::value || wanted == CellFormat::both) {
      if (const std::optional<double> read = value()) {
        take_number(*read);
        if (wanted == CellFormat::value) return;
      }
    }
    append_number(append);
  }
  template <typename Append>
  void timestamp_by(Append&& append) {
    if (next_cell_format() == CellFormat::nothing) return;
    if (std::string* out = begin_number()) {
      append(*out);
      return end_timestamp();
    }
    timestamp(digits_by(append));
  }
  void number_or_missing(const std::optional<std::string>& digits);
  void number_or_missing(std::optional<std::int64_t> value);

  // Writes `cells` cells that many rows share: `fill` writes them the first time; later they are
  // copied. The first cell of a row cannot be one of them.
  template <typename Fill>
  void repeated(SharedCells& shared, std::size_t cells, Fill&& fill) {
    if (shared.kept) return copy_kept(*shared.kept);
    std::string* out = output();
    if (out == nullptr) {
      begin_kept();
      fill();
      shared.kept = keep_last(cells);
      return;
    }
    if (!shared.bytes.empty()) {
      out->append(shared.bytes);
      return skip(cells);
    }
    const std::size_t before = out->size();
    fill();
    shared.bytes.assign(*out, before);
  }

 protected:
  // Form in which the sink wants the next number.
  enum class CellFormat {
    digits,
    value,    // only calls take_number()
    both,     // calls take_number() if a value exists, then writes the digits
    nothing,  // the cell is ignored and counts as written
  };
  virtual CellFormat next_cell_format() { return CellFormat::digits; }
  virtual void take_number(double /*value*/) {}
  // For writers that append cells as text: the text, and a way to count cells as written.
  virtual std::string* output() { return nullptr; }
  virtual void skip(std::size_t /*cells*/) {}
  // Keeps the last `cells` cells, written since begin_kept(), for copy_kept() to write again; null
  // if the sink keeps no cells.
  virtual void begin_kept() {}
  virtual std::unique_ptr<SharedCells::Kept> keep_last(std::size_t /*cells*/) { return nullptr; }
  virtual void copy_kept(SharedCells::Kept& /*kept*/) {}
  // Starts a numeric cell; the caller appends digits. Null if output() is null.
  virtual std::string* begin_number() { return nullptr; }
  virtual void end_timestamp() {}

 private:
  friend class RowTee;

  template <typename Append>
  void append_number(Append&& append) {
    if (std::string* out = begin_number()) return append(*out);
    number(digits_by(append));
  }
  template <typename Append>
  std::string_view digits_by(Append&& append) {
    digits_.clear();
    append(digits_);
    return digits_;
  }

  std::string digits_;
};

// Sends the rows of a table to two sinks: a writer, which has an output(), and a reader
// (TableReader). Text is formatted once for the writer; the reader gets numbers as values.
class RowTee : public RowSink {
 public:
  RowTee(RowSink& writer, RowSink& reader) : writer_(writer), reader_(reader) {}
  using RowSink::number;
  void begin(std::span<const std::string> columns) override;
  void text(std::string_view value) override;
  void number(std::string_view digits) override;
  void real(double value) override;
  void blob(std::string_view bytes) override;
  void timestamp(std::string_view digits) override;
  void missing() override;
  void end_row() override;
  void end() override;

 protected:
  CellFormat next_cell_format() override;
  void take_number(double value) override;
  void begin_kept() override { kept_from_ = writer_.output()->size(); }
  std::unique_ptr<SharedCells::Kept> keep_last(std::size_t cells) override;
  void copy_kept(SharedCells::Kept& kept) override;
  std::string* begin_number() override;
  void end_timestamp() override { writer_.end_timestamp(); }

 private:
  struct Kept;
  // Called for each number. Returns false if the reader already received it as a value.
  bool take_turn();

  RowSink& writer_;
  RowSink& reader_;
  bool reader_has_it_ = false;  // the reader has received the value of the current cell
  std::size_t kept_from_ = 0;   // offset in the writer's output
};

}  // namespace msprof
