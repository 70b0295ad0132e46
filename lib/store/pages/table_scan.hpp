// TableScan: rows of a table of integers from the pages of its b-tree, in the order of their ids.
// For CellReader: the same rows and values as SQLite gives. Whatever the pages hold is checked:
// Error(partial_data) where they contradict each other.
// Source: sqlite.org/fileformat2.html 1.5 and 1.6.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "store/pages/page_file.hpp"
#include "store/row_filter.hpp"

namespace msprof::pages {

class TableScan {
 public:
  // `wanted`: the columns that next() fills; column 0 is the id. `file` outlives this.
  TableScan(const PageFile& file, std::uint32_t root, std::span<const std::size_t> wanted,
            const RowFilter& filter);

  // False after the last row. Fills the wanted ones of `cells`; kNull is a cell without a number.
  bool next(std::int64_t* cells);

 private:
  // What is to be done with a column.
  enum Use : std::uint8_t { kSkip = 0, kWanted = 1, kNotNull = 2, kEqual = 4 };
  // An interior page on the way to the leaf: its children that are in the range, in the order in
  // which they are read.
  struct Level {
    std::vector<std::uint32_t> children;
    std::size_t next = 0;
  };

  bool next_leaf();
  const std::byte* page_of(std::span<const std::uint32_t> children, std::size_t place);
  void count_page();
  void enter(std::uint32_t number, const std::byte* page);
  void enter_interior(const std::byte* page);
  void enter_leaf(const std::byte* page);
  const std::byte* cell_of(const std::byte* page, std::size_t header_bytes, std::size_t cell);
  template <typename KeyAt>
  std::size_t first_at_least(std::int64_t id, std::size_t count, const KeyAt& key_at) const;
  std::span<const std::byte> whole_payload(const std::byte* local, std::uint64_t bytes);
  bool fill(std::span<const std::byte> payload, std::int64_t* cells);
  [[noreturn]] void fail(std::string_view what) const { file_->fail(number_, what); }

  const PageFile* file_;
  std::uint32_t root_;
  std::int64_t first_id_;
  std::int64_t last_id_;
  bool is_backwards_;
  bool wants_id_ = false;
  std::int64_t equal_ = 0;
  std::vector<std::uint8_t> uses_;  // of the columns up to the last that is looked at

  // Levels of the tree above the leaf, the first `depth_` of them.
  std::vector<Level> levels_;
  std::size_t depth_ = 0;
  bool is_started_ = false;
  bool is_ended_ = false;

  // Pages in memory that lie one behind the other.
  std::vector<std::byte> block_;
  std::uint32_t block_first_ = 0;
  std::uint32_t block_count_ = 0;

  std::uint32_t pages_ = 0;  // read so far, overflow pages too

  // The leaf, and which of its cells come next.
  std::uint32_t number_ = 0;
  const std::byte* leaf_ = nullptr;
  std::size_t cell_ = 0;
  std::size_t cells_left_ = 0;
  std::int64_t id_ = 0;  // of the last row
  bool has_id_ = false;
  unsigned rows_ = 0;
  std::vector<std::byte> overflow_;
};

}  // namespace msprof::pages
