// PageFile: the pages of a finished store, read past SQLite. For TableScan, which takes rows from
// them. While one lives, SQLite holds its lock, so that no other program changes the file.
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
  // Nothing where SQLite alone knows what the file holds: with a write-ahead log, in another text
  // encoding, of another size than its header says. Throws Error where SQLite cannot read it.
  static std::unique_ptr<PageFile> open(sqlite3* db);

  std::uint32_t page_bytes() const { return page_bytes_; }
  std::uint32_t page_count() const { return page_count_; }
  // Without those that are reserved for others at the end of a page.
  std::uint32_t usable_bytes() const { return usable_bytes_; }

  // The page where the rows of a table begin.
  std::optional<std::uint32_t> root_of(std::string_view table) const;

  // Reads pages that lie one behind the other; they count from 1. Any thread may call it. Throws
  // Error(partial_data) for pages that are not there, or cannot be in a table.
  void read(std::uint32_t first, std::uint32_t count, std::span<std::byte> to) const;

  // Throws the Error of a damaged store: `what` is wrong on page `number`.
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
