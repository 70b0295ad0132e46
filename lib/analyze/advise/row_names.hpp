// RowNames maps names and types of table rows to small numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_map.hpp"
#include "export/table/table_reader.hpp"

namespace msprof {

// Maps texts to ids.
class CellNames {
 public:
  std::size_t find_or_add(std::string_view text) {
    const auto known = ids_.find(text);
    if (known != ids_.end()) return known->second;
    if ((ids_.size() >= kMaxNames || bytes_ >= kMaxBytes) && text != kOthers)
      return find_or_add(kOthers);
    bytes_ += text.size();
    const std::size_t id = names_.size();
    names_.emplace_back(text);
    ids_.emplace(text, id);
    return id;
  }
  // Like find_or_add() for a cell, but cached, per row if the text has no key: several rules use
  // it.
  std::size_t find_or_add_cell(std::span<const TableValue> row, int place) {
    if (place < 0) return find_or_add({});
    const auto at = static_cast<std::size_t>(place);
    const TableValue& value = row[at];
    if (const auto key = value.cell.text_key()) {
      if (*key >= id_of_key_.size()) id_of_key_.resize(*key + 1);
      std::size_t& known = id_of_key_[*key];
      if (known == 0) known = find_or_add(value.text) + 1;
      return known - 1;
    }
    if (at >= cells_.size()) cells_.resize(at + 1);
    if (cells_[at].row != row_) cells_[at] = {row_, find_or_add(value.text)};
    return cells_[at].id;
  }
  void next_row() { ++row_; }
  const std::string& name(std::size_t id) const { return names_[id]; }

 private:
  // Further names are counted together. Only an untrusted store exceeds these limits.
  static constexpr std::size_t kMaxNames = 100'000;
  static constexpr std::size_t kMaxBytes = 16 << 20;
  static constexpr std::string_view kOthers = "(others)";

  struct Cell {
    std::uint64_t row = 0;
    std::size_t id = 0;
  };
  TextMap<std::size_t> ids_;
  std::vector<std::string> names_;
  std::size_t bytes_ = 0;               // of the names
  std::vector<std::size_t> id_of_key_;  // 1 + id by Cell::text_key(); 0: not known
  std::uint64_t row_ = 1;
  std::vector<Cell> cells_;  // by column
};

struct RowNames {
  CellNames names;
  CellNames types;
};

}  // namespace msprof
