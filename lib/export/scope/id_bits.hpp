// IdBits: a set of ids of one table, one bit per id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "store/database.hpp"
#include "store/row_cursor.hpp"
#include "store/rows/mark_rows.hpp"

namespace msprof::cann {

class IdBits {
 public:
  // Throws db.damaged() if the largest id is impossible for a file of this size.
  IdBits(const Database& db, std::string_view table);

  // Reads a column of marks (store/rows/mark_rows.hpp) of the table.
  template <typename Row>
  void read_marks(std::int64_t Row::*column);
  // `id` is a reference from another row. Throws db.damaged() if it is out of range for the table.
  void set(std::int64_t id) { words_[index(id)] |= bit(id); }
  bool has(std::int64_t id) const {
    const auto word = static_cast<std::uint64_t>(id) >> 6;
    return word < words_.size() && (words_[word] & bit(id)) != 0;
  }

 private:
  static std::uint64_t bit(std::int64_t id) { return std::uint64_t{1} << (id & 63); }
  std::size_t index(std::int64_t id) const;

  const Database* db_;
  std::string_view table_;
  std::int64_t most_ = 0;
  std::vector<std::uint64_t> words_;
};

template <typename Row>
void IdBits::read_marks(std::int64_t Row::*column) {
  RowCursor<Row> marks(*db_, {&Row::id, column});
  while (marks.next()) {
    const auto bits = static_cast<std::uint64_t>((*marks).*column) & UINT32_MAX;
    if (bits == 0) continue;
    const auto word = static_cast<std::uint64_t>(marks->id) / 2;
    if (word < words_.size()) words_[word] |= bits << (marks->id % 2 * kMarkedRows);
  }
}

}  // namespace msprof::cann
