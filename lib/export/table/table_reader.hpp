// TableReader: reads the rows of a summary table as values, one row at a time, without keeping
// them. For analyses, so that their op_summary numbers equal those in the CSV.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/work_ahead.hpp"
#include "export/summary_table.hpp"

namespace msprof {

// Returns the name that rules and analyses use for a column: lower case, without unit, '_' for
// spaces: "task_duration" for "Task Duration(us)". Source: cann_device.md 22.
std::string field_name(std::string_view column);

// Reader-defined cache for a cell shared by many rows; initially zero.
using CellNotes = std::array<std::uint32_t, 2>;

struct TableValue {
  std::string_view text;         // as in the CSV; "N/A" if there is no value
  std::optional<double> number;  // if the cell is a number
  CellNotes* notes = nullptr;    // null: the cell is not shared
};

// Cache of values by the texts of some cells. Uses the first of a cell's notes; caches only if all
// cells are shared.
template <std::size_t kCells, typename Value>
class ByCells {
 public:
  // Returns the result of make() for the texts of `cells`; it must outlive this object.
  template <typename Make>
  Value* get(const std::array<const TableValue*, kCells>& cells, Make&& make) {
    CellIds key{};
    for (std::size_t i = 0; i < kCells; ++i) {
      if (cells[i]->notes == nullptr) return make();
      std::uint32_t& note = cells[i]->notes->front();
      if (note == 0) note = ++last_note_;
      key[i] = note;
    }
    if (known_.size() >= kMost) known_.clear();
    const auto [at, is_new] = known_.try_emplace(key, nullptr);
    if (is_new) at->second = make();
    return at->second;
  }

 private:
  using CellIds = std::array<std::uint32_t, kCells>;
  struct Hash {
    std::size_t operator()(const CellIds& key) const {
      std::uint64_t hash = 0;
      for (const std::uint32_t part : key) hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
      return static_cast<std::size_t>(hash ^ (hash >> 32));
    }
  };
  static constexpr std::size_t kMost = 1 << 16;

  std::uint32_t last_note_ = 0;
  std::unordered_map<CellIds, Value*, Hash> known_;
};

// A field to read.
struct WantedField {
  std::string name;
  // Only the number is needed: `text` is empty if there is one.
  bool is_number = false;
};

class TableReader : public RowSink {
 public:
  // One value per wanted column, in that order; valid during the call. N/A if the row is too short.
  using OnRow = std::function<void(std::span<const TableValue> values)>;

  // Fields missing from the table are N/A in every row. With `ahead`, which must outlive this
  // object, its thread passes on rows in order while the next ones are made, until end() returns.
  TableReader(std::vector<WantedField> wanted, OnRow on_row, WorkAhead* ahead = nullptr);
  ~TableReader() override;
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  using RowSink::number;
  void begin(std::span<const std::string> columns) override;
  bool reads(std::size_t column) const override {
    return column < place_of_column_.size() && place_of_column_[column] < wanted_.size();
  }
  void text(std::string_view value) override;
  void number(std::string_view digits) override;
  void end_row() override;
  void end() override;

 protected:
  CellFormat next_cell_format() override;
  void take_number(double value) override;
  std::unique_ptr<SharedCells::Kept> keep_last(std::size_t cells) override;
  void copy_kept(SharedCells::Kept& kept) override;

 private:
  struct KeptCell;
  struct Kept;
  struct Batch;
  struct Retired;

  void begin_row();
  void hand_over();
  void take(Batch& batch);
  // Value of the next column; null: unwanted.
  TableValue* next_value(std::string_view text);

  std::vector<WantedField> wanted_;
  OnRow on_row_;
  std::vector<std::size_t> place_of_column_;  // in a row; wanted_.size(): unwanted
  WorkAhead* ahead_;
  std::shared_ptr<Retired> retired_;
  std::unique_ptr<Batch> batch_;  // being filled
  std::unique_ptr<Batch> taken_;  // used by job_
  TableValue* values_ = nullptr;  // of the row being made
  std::string* texts_ = nullptr;  // its texts, except kept cells
  std::size_t column_ = 0;
  WorkAhead::Job job_;  // last: it uses the others
};

// Returns the table `name` for this kind of capture; null if there is none.
std::unique_ptr<SummaryTable> find_table(const Database& db, std::string_view name);
// Returns the columns of `table` as field names.
std::vector<std::string> field_names(const Database& db, const SummaryTable& table);
// Returns the field names of the table's unit loads.
std::vector<std::string> unit_load_fields(const Database& db, const SummaryTable& table);

// Reads every row of all documents of the table `name` of this capture. Returns false if there is
// no such table or it has no data.
bool read_table(const Database& db, std::string_view name, const std::vector<WantedField>& wanted,
                const TableReader::OnRow& on_row);

}  // namespace msprof
