// PageFile: reads the pages of a finished store without SQLite. For TableScan. For its lifetime
// SQLite holds a shared lock, so that no other program changes the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "store/database.hpp"

struct sqlite3_file;
namespace msprof::pages {

class PageFile {
 public:
  // Returns null if only SQLite can read the file: it has a write-ahead log, another text encoding,
  // or a size that differs from its header. Throws Error if SQLite cannot read it.
  static std::unique_ptr<PageFile> open(sqlite3* db);

  std::uint32_t page_bytes() const { return page_bytes_; }
  std::uint32_t page_count() const { return page_count_; }
  // Page size without the reserved bytes at the end.
  std::uint32_t usable_bytes() const { return usable_bytes_; }

  std::optional<std::uint32_t> find_root(std::string_view table) const;

  // Reads `count` consecutive pages; pages count from 1. Thread-safe. Throws Error(partial_data)
  // for pages that do not exist or cannot belong to a table.
  void read(std::uint32_t first, std::uint32_t count, std::span<std::byte> to) const;

  // Throws the Error of a damaged store: page `number` is invalid because of `what`.
  [[noreturn]] void fail(std::uint32_t number, std::string_view what) const;

 private:
  PageFile(sqlite3* db, Statement lock);
  bool read_header();

  sqlite3* db_;
  Statement lock_;
  sqlite3_file* file_ = nullptr;
  std::uint32_t page_bytes_ = 0;
  std::uint32_t usable_bytes_ = 0;
  std::uint32_t page_count_ = 0;
  std::map<std::string, std::uint32_t, std::less<>> roots_;
};

}  // namespace msprof::pages
