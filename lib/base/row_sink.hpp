// RowSink: what takes the rows of a table, whatever becomes of them: CSV, JSON, a table in the
// terminal, one of a page of HTML, rows in memory. For everything that has rows to give.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace msprof {

// How a sink says that there is no value: as products do, "N/A"; or as answers to SQL do, which
// tell NULL from every text: an empty cell of CSV (an empty text is ""), null in JSON.
enum class Absent { not_available, null };

// Cells that many rows share, and what the one sink that they are given to keeps of them.
struct SharedCells {
  struct Kept {
    virtual ~Kept() = default;
  };
  std::string bytes;           // of sinks with an output()
  std::unique_ptr<Kept> kept;  // of others that keep something
};

// Takes the cells of a table one by one, a row at a time.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void begin(std::span<const std::string> columns) = 0;
  // False, behind begin(), for a column whose cells nobody reads: any will do.
  virtual bool reads(std::size_t /*column*/) const { return true; }
  virtual void text(std::string_view value) = 0;
  // Decimal digits as they are to be printed, in CSV and JSON alike.
  virtual void number(std::string_view digits) = 0;
  // The shortest digits that read back as the same; a real stays one: 3.0.
  virtual void real(double value);
  // Bytes, as hexadecimal digits.
  virtual void blob(std::string_view bytes);
  // A point in time in digits; a TAB behind it keeps spreadsheets from rounding it.
  virtual void timestamp(std::string_view digits) { number(digits); }
  // A value that does not exist.
  virtual void missing() { text("N/A"); }
  // A row may have fewer cells than there are columns: CSV leaves the rest out, others say N/A.
  virtual void end_row() = 0;
  virtual void end() = 0;

  void number(std::int64_t value);
  // The same for digits that `append(std::string&)` appends: without a copy where cells are text.
  template <typename Append>
  void number_by(Append&& append) {
    if (next_cell() != Wanted::nothing) append_number(append);
  }
  // The same where `value()` is a std::optional<double>, what those digits are read back as: a sink
  // that computes takes it as it is. Empty: only the digits say.
  template <typename Value, typename Append>
  void number_of(Value&& value, Append&& append) {
    const Wanted wanted = next_cell();
    if (wanted == Wanted::nothing) return;
    if (wanted == Wanted::value || wanted == Wanted::both) {
      if (const std::optional<double> read = value()) {
        take_number(*read);
        if (wanted == Wanted::value) return;
      }
    }
    append_number(append);
  }
  template <typename Append>
  void timestamp_by(Append&& append) {
    if (next_cell() == Wanted::nothing) return;
    if (std::string* out = begin_number()) {
      append(*out);
      return end_timestamp();
    }
    timestamp(digits_by(append));
  }
  void number_or_missing(const std::optional<std::string>& digits);
  void number_or_missing(std::optional<std::int64_t> value);

  // So many cells in the same columns of many rows: `fill` writes them the first time; later they
  // are copied. A cell that begins a row cannot be among them.
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
  // What is wanted of the next cell, which is a number.
  enum class Wanted {
    digits,
    value,    // take_number() will do
    both,     // take_number(), where there is a value, and then the digits
    nothing,  // nobody reads it: it is taken as written
  };
  virtual Wanted next_cell() { return Wanted::digits; }
  virtual void take_number(double /*value*/) {}
  // Where cells are appended as text, and cells taken as written; for writers that do so.
  virtual std::string* output() { return nullptr; }
  virtual void skip(std::size_t /*cells*/) {}
  // What is to be kept of the last `cells` cells, all since begin_kept(), which copy_kept() writes
  // again; null: nothing.
  virtual void begin_kept() {}
  virtual std::unique_ptr<SharedCells::Kept> keep_last(std::size_t /*cells*/) { return nullptr; }
  virtual void copy_kept(SharedCells::Kept& /*kept*/) {}
  // Begins a cell of digits that the caller appends; null where output() is.
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

// Gives the rows of a table to two: a writer, which has an output(), and one that reads them
// (TableReader). What the writer writes is formatted once, and the reader takes numbers as values.
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
  Wanted next_cell() override;
  void take_number(double value) override;
  void begin_kept() override { kept_from_ = writer_.output()->size(); }
  std::unique_ptr<SharedCells::Kept> keep_last(std::size_t cells) override;
  void copy_kept(SharedCells::Kept& kept) override;
  std::string* begin_number() override;
  void end_timestamp() override { writer_.end_timestamp(); }

 private:
  struct Kept;
  // True if the digits that come are the reader's, too. For the next cell it is so again.
  bool take_turn();

  RowSink& writer_;
  RowSink& reader_;
  bool reader_has_it_ = false;  // the cell whose digits come
  std::size_t kept_from_ = 0;   // in the writer's output
};

}  // namespace msprof
