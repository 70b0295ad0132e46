// PageFile: reads the pages of a finished file without SQLite. For TableScan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "store/pages/pages.hpp"

struct sqlite3_file;

namespace msprof::pages {

// Operation for sqlite3_file_control(): returns the system's sqlite3_file below a guarded one. Any
// thread may read from it; its pages are not checked.
inline constexpr int kSystemFileControl = 0x6d737067;

class PageFile : public Reader {
 public:
  explicit PageFile(sqlite3* db) : db_(db) {}
  // Returns false if only SQLite can read the file.
  bool open();

  std::unique_ptr<TableReader> read(std::uint32_t root, std::span<const std::size_t> wanted,
                                    const Filter& filter) const override;

  std::uint32_t page_bytes() const { return page_bytes_; }
  std::uint32_t page_count() const { return page_count_; }
  // Page size without the reserved bytes at the end.
  std::uint32_t usable_bytes() const { return usable_bytes_; }

  // Reads `count` consecutive pages; pages count from 1. Thread-safe. Throws the Error of
  // damaged_file() for pages that do not exist or cannot belong to a table.
  void read_pages(std::uint32_t first, std::uint32_t count, std::span<std::byte> to) const;

  // Throws the Error of damaged_file(): page `number` is invalid because of `what`.
  [[noreturn]] void fail(std::uint32_t number, std::string_view what) const;

 private:
  bool read_header();

  sqlite3* db_;
  sqlite3_file* file_ = nullptr;
  std::uint32_t page_bytes_ = 0;
  std::uint32_t usable_bytes_ = 0;
  std::uint32_t page_count_ = 0;
};

}  // namespace msprof::pages
