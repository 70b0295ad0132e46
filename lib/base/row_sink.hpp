// RowSink receives the rows of a table: CSV, JSON, a terminal table, rows in memory, analyses.
// RowBuilder makes rows cell by cell. For everything that produces rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cell.hpp"
#include "base/json_text.hpp"

namespace msprof {

// How a sink writes a missing value. not_available: "N/A", as in products. null: as in SQL results,
// where NULL differs from every text: an empty CSV cell (an empty text is ""), null in JSON.
enum class Absent { not_available, null };

// Rows on their way to a sink, prepared as far as the sink can do it ahead of their turn. One
// thread at a time uses a block.
class RowBlock {
 public:
  // Size of a block to pass on. Fits in a core's cache.
  static constexpr std::size_t kFullBytes = 256 << 10;

  virtual ~RowBlock() = default;
  virtual void add(std::span<const Cell> cells) = 0;
  virtual std::size_t bytes() const = 0;
  // Passes the rows on to the sink, as its row() does, and removes them from the block.
  virtual void flush() = 0;
};

class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void begin(std::span<const std::string> columns) = 0;
  // Valid after begin(): false if the cells of a column are ignored; they may then have any value.
  virtual bool reads(std::size_t /*column*/) const { return true; }
  // A row may have fewer cells than columns: CSV omits the rest, other sinks print N/A.
  virtual void row(std::span<const Cell> cells) = 0;
  virtual void end() {}
  // Returns a block for rows that another thread makes. Thread-safe after begin(), like reads().
  virtual std::unique_ptr<RowBlock> make_block();
};

// Cells and their texts: of a row, or shared by many rows.
class CellList {
 public:
  std::span<const Cell> cells() const { return {cells_.data(), count_}; }

  void missing() { add() = Cell(); }
  void text(std::string_view value, std::uint32_t text_id = 0) {
    Cell& cell = add(CellForm::text, value);
    cell.text_id = text_id;
    cell.is_plain = is_plain_cell(value);
  }
  void blob(std::string_view bytes) { add(CellForm::blob, bytes); }
  // Decimal digits, printed unchanged.
  void number(std::string_view digits) { add(CellForm::digits, digits); }
  void number(std::int64_t value, CellForm form = CellForm::integer) {
    add() = make_cell(form, value);
  }
  void real(double value, CellForm form = CellForm::real) { add() = make_cell(form, value); }
  void timestamp(std::string_view digits) { add(CellForm::digits, digits).is_time = true; }
  void timestamp(std::int64_t value, CellForm form = CellForm::integer) {
    Cell& cell = add() = make_cell(form, value);
    cell.is_time = true;
  }
  void number_or_missing(const std::optional<std::string>& digits) {
    digits ? number(std::string_view(*digits)) : missing();
  }
  void number_or_missing(std::optional<std::int64_t> value) { value ? number(*value) : missing(); }
  // Adds cells of another list, which must stay unchanged until the row ends.
  void share(std::span<const Cell> cells) {
    for (const Cell& cell : cells) add() = cell;
  }

 protected:
  void clear() {
    count_ = 0;
    texts_.clear();
  }

 private:
  // Returns a new cell, with any content.
  Cell& add() {
    if (count_ == cells_.size()) cells_.resize(2 * count_ + 4);
    return cells_[count_++];
  }
  Cell& add(CellForm form, std::string_view bytes) {
    return add() = make_cell(form, texts_.copy(bytes));
  }

  std::vector<Cell> cells_;  // only grows, so that a new row costs nothing
  std::size_t count_ = 0;
  TextArena texts_;
};

// Collects the cells of a row and passes them on to a sink.
class RowBuilder : public CellList {
 public:
  explicit RowBuilder(RowSink& sink) : sink_(&sink) {}
  RowBuilder(const RowBuilder&) = delete;
  RowBuilder& operator=(const RowBuilder&) = delete;

  bool reads(std::size_t column) const { return sink_->reads(column); }
  void end_row() {
    sink_->row(cells());
    clear();
  }

 private:
  RowSink* sink_;
};

}  // namespace msprof
