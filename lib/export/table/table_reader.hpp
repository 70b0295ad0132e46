// TableReader: picks fields of the rows of a summary table, one row at a time, without keeping
// them. For analyses, so that their op_summary numbers equal those in the CSV.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "export/summary_table.hpp"

namespace msprof {

// Returns the name that rules and analyses use for a column: lower case, without unit, '_' for
// spaces: "task_duration" for "Task Duration(us)". Source: cann_device.md 22.
std::string field_name(std::string_view column);

struct TableValue {
  Cell cell;
  // As in the CSV, "N/A" if there is no value; empty for a number in a field of numbers.
  std::string_view text;
  std::optional<double> number;  // as a reader of the CSV gets it, if the cell is a number
};

// Cache of values by the texts of some cells, for texts that have a key (Cell::text_key()). Use
// with rows of one store.
template <std::size_t kCells, typename Value>
class ByCells {
 public:
  // Returns the result of make() for the texts of `cells`; it must outlive this object.
  template <typename Make>
  Value* get(const std::array<const TableValue*, kCells>& cells, Make&& make) {
    Keys keys{};
    for (std::size_t i = 0; i < kCells; ++i) {
      const auto key = cells[i]->cell.text_key();
      if (!key) return make();
      keys[i] = *key;
    }
    if (known_.size() >= kMost) known_.clear();
    const auto [at, is_new] = known_.try_emplace(keys, nullptr);
    if (is_new) at->second = make();
    return at->second;
  }

 private:
  using Keys = std::array<std::uint32_t, kCells>;
  struct Hash {
    std::size_t operator()(const Keys& keys) const {
      std::uint64_t hash = 0;
      for (const std::uint32_t key : keys) hash = (hash ^ key) * 0x9e3779b97f4a7c15u;
      return static_cast<std::size_t>(hash ^ (hash >> 32));
    }
  };
  static constexpr std::size_t kMost = 1 << 16;

  std::unordered_map<Keys, Value*, Hash> known_;
};

// A field to read.
struct WantedField {
  std::string name;
  // Only the number, or the cell, is needed.
  bool is_number = false;
};

class TableReader : public RowSink {
 public:
  // One value per wanted column, in that order; valid during the call. N/A if the row is too short.
  using OnRow = std::function<void(std::span<const TableValue> values)>;

  // Fields missing from the table are N/A in every row.
  TableReader(std::vector<WantedField> wanted, OnRow on_row);

  void begin(std::span<const std::string> columns) override;
  bool reads(std::size_t column) const override {
    return column < is_read_.size() && is_read_[column];
  }
  void row(std::span<const Cell> cells) override;

 private:
  void read(const Cell& cell, std::size_t place);

  std::vector<WantedField> wanted_;
  OnRow on_row_;
  std::vector<std::size_t> columns_;  // of each wanted field; SIZE_MAX: the table has none
  std::vector<bool> is_read_;         // by column
  std::vector<TableValue> values_;
  std::vector<std::string> texts_;  // of numbers whose text is wanted
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
