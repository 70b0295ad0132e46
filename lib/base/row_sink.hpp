// RowSink receives the rows of a table: CSV, JSON, a terminal table, rows in memory, analyses.
// RowBuilder makes rows cell by cell. For everything that produces rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cell.hpp"
#include "base/text_map.hpp"

namespace msprof {

// How a sink writes a missing value. not_available: "N/A", as in products. null: as in SQL results,
// where NULL differs from every text: an empty CSV cell (an empty text is ""), null in JSON.
enum class Absent { not_available, null };

class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void begin(std::span<const std::string> columns) = 0;
  // Valid after begin(): false if the cells of a column are ignored; they may then have any value.
  virtual bool reads(std::size_t /*column*/) const { return true; }
  // A row may have fewer cells than columns: CSV omits the rest, other sinks print N/A. All rows
  // come from one RowBuilder if any text has an id.
  virtual void row(std::span<const Cell> cells) = 0;
  virtual void end() {}
};

// Cells that many rows share; empty at first.
using SharedCells = std::vector<Cell>;

// Collects the cells of a row and passes them on to a sink.
class RowBuilder {
 public:
  explicit RowBuilder(RowSink& sink) : sink_(&sink) {}
  RowBuilder(const RowBuilder&) = delete;
  RowBuilder& operator=(const RowBuilder&) = delete;

  bool reads(std::size_t column) const { return sink_->reads(column); }

  void missing() { cells_.emplace_back(); }
  void text(std::string_view value) { add(CellForm::text, value); }
  void blob(std::string_view bytes) { add(CellForm::blob, bytes); }
  // Decimal digits, printed unchanged.
  void number(std::string_view digits) { add(CellForm::digits, digits); }
  void number(std::int64_t value, CellForm form = CellForm::integer) {
    cells_.push_back(make_cell(form, value));
  }
  void real(double value, CellForm form = CellForm::real) {
    cells_.push_back(make_cell(form, value));
  }
  void timestamp(std::string_view digits) {
    number(digits);
    cells_.back().is_time = true;
  }
  void timestamp(std::int64_t value, CellForm form = CellForm::integer) {
    number(value, form);
    cells_.back().is_time = true;
  }
  void number_or_missing(const std::optional<std::string>& digits) {
    digits ? number(std::string_view(*digits)) : missing();
  }
  void number_or_missing(std::optional<std::int64_t> value) { value ? number(*value) : missing(); }
  // Adds a cell of another row.
  void copy(const Cell& cell);

  // Adds cells that many rows share: `fill` adds them the first time; later they are copied.
  template <typename Fill>
  void repeated(SharedCells& shared, Fill&& fill) {
    if (!shared.empty()) {
      cells_.insert(cells_.end(), shared.begin(), shared.end());
      return;
    }
    const std::size_t first = cells_.size();
    fill();
    share(first, shared);
  }

  void end_row();

 private:
  void add(CellForm form, std::string_view bytes) {
    cells_.push_back(make_cell(form, texts_.copy(bytes)));
  }
  void share(std::size_t first, SharedCells& shared);
  bool keep_text(Cell& cell);

  RowSink* sink_;
  std::vector<Cell> cells_;
  TextArena texts_;                    // of the current row
  TextMap<std::uint32_t> kept_texts_;  // ids of the texts of shared cells
};

}  // namespace msprof
