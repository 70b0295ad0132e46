// TableScan: reads the rows of an integer table from its b-tree pages. Returns the same rows and
// values as SQLite. Pages are untrusted.
// Source: sqlite.org/fileformat2.html 1.5 and 1.6.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "store/pages/page_file.hpp"

namespace msprof::pages {

class TableScan : public TableReader {
 public:
  // `file` must outlive this.
  TableScan(const PageFile& file, std::uint32_t root, std::span<const std::size_t> wanted,
            const Filter& filter);

  bool next(std::int64_t* cells) override;

 private:
  enum Use : std::uint8_t { kSkip = 0, kWanted = 1, kNotNull = 2, kEqual = 4 };
  // An interior page on the path to the leaf: its children in range, in reading order.
  struct Level {
    std::vector<std::uint32_t> children;
    std::size_t next = 0;
  };

  bool next_leaf();
  const std::byte* read_child(std::span<const std::uint32_t> children, std::size_t place);
  void count_page();
  void enter(std::uint32_t number, const std::byte* page);
  void enter_interior(const std::byte* page);
  void enter_leaf(const std::byte* page);
  const std::byte* find_cell(const std::byte* page, std::size_t header_bytes, std::size_t cell);
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
  std::vector<std::uint8_t> uses_;  // indexed by column, up to the last one used

  // The first `depth_` levels are in use.
  std::vector<Level> levels_;
  std::size_t depth_ = 0;
  bool is_started_ = false;
  bool is_ended_ = false;

  // Buffer of consecutive pages.
  std::vector<std::byte> block_;
  std::uint32_t block_first_ = 0;
  std::uint32_t block_count_ = 0;

  std::uint32_t pages_ = 0;  // pages read so far, including overflow pages

  // The current leaf and its next cell.
  std::uint32_t number_ = 0;
  const std::byte* leaf_ = nullptr;
  std::size_t cell_ = 0;
  std::size_t cells_left_ = 0;
  std::int64_t id_ = 0;  // id of the last row
  bool has_id_ = false;
  unsigned rows_ = 0;
  std::vector<std::byte> overflow_;
};

}  // namespace msprof::pages
