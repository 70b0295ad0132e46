#include "store/pages/page_file.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <bit>
#include <cstring>

#include "store/pages/file_format.hpp"
#include "store/pages/page_guard.hpp"
#include "store/pages/record.hpp"

namespace msprof::pages {

namespace {

constexpr std::uint32_t kMinUsableBytes = 480;

}  // namespace

PageFile::PageFile(sqlite3* db, Statement lock) : db_(db), lock_(std::move(lock)) {}

std::unique_ptr<PageFile> PageFile::open(sqlite3* db) {
  // An open read statement holds a shared lock.
  Statement lock(db, "SELECT 1 FROM sqlite_schema");
  if (!lock.step()) return nullptr;
  std::unique_ptr<PageFile> pages(new PageFile(db, std::move(lock)));
  // Uses SQLite's own handle: closing another descriptor of the file would drop SQLite's locks.
  // Bypasses the page guard, so that any thread may read; a store that is being written has no
  // guard.
  sqlite3_file*& file = pages->file_;
  const bool is_there =
      sqlite3_file_control(db, "main", kSystemFileControl, &file) == SQLITE_OK ||
      sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK;
  if (!is_there || file == nullptr || file->pMethods == nullptr || !pages->read_header())
    return nullptr;
  Statement read(db, "SELECT name, rootpage FROM sqlite_schema WHERE type = 'table'");
  while (read.step()) {
    const std::int64_t root = read.integer(1);
    if (root > 1 && root <= pages->page_count_)
      pages->roots_.emplace(read.text(0), static_cast<std::uint32_t>(root));
  }
  return pages;
}

bool PageFile::read_header() {
  std::array<std::byte, kHeaderBytes> header{};
  sqlite3_int64 file_bytes = 0;
  if (file_->pMethods->xRead(file_, header.data(), kHeaderBytes, 0) != SQLITE_OK ||
      file_->pMethods->xFileSize(file_, &file_bytes) != SQLITE_OK ||
      std::memcmp(header.data(), kFileMagic.data(), kFileMagic.size()) != 0) {
    return false;
  }
  const std::uint32_t page_bytes = big_endian_16(&header[kPageBytesAt]);
  page_bytes_ = page_bytes == 1 ? 65536 : page_bytes;
  const auto reserved = std::to_integer<std::uint32_t>(header[kReservedBytesAt]);
  if (page_bytes_ < 512 || !std::has_single_bit(page_bytes_) ||
      page_bytes_ - reserved < kMinUsableBytes) {
    return false;
  }
  usable_bytes_ = page_bytes_ - reserved;
  page_count_ = big_endian_32(&header[kPageCountAt]);
  return header[kWriteVersionAt] == std::byte{1} && header[kReadVersionAt] == std::byte{1} &&
         big_endian_32(&header[kEncodingAt]) == 1 &&
         big_endian_32(&header[kCountValidForAt]) == big_endian_32(&header[kChangeCounterAt]) &&
         file_bytes == sqlite3_int64{page_count_} * page_bytes_;
}

std::optional<std::uint32_t> PageFile::find_root(std::string_view table) const {
  const auto known = roots_.find(table);
  return known == roots_.end() ? std::nullopt : std::optional(known->second);
}

void PageFile::read(std::uint32_t first, std::uint32_t count, std::span<std::byte> to) const {
  const std::uint32_t lock_page = kLockByte / page_bytes_ + 1;
  // Page 1 holds the schema.
  const bool is_there = first > 1 && first <= page_count_ && count - 1 <= page_count_ - first;
  if (!is_there || (first <= lock_page && lock_page - first < count))
    fail(first, "it cannot be a page of a table");
  const std::size_t bytes = std::size_t{count} * page_bytes_;
  const sqlite3_int64 offset = (sqlite3_int64{first} - 1) * page_bytes_;
  if (bytes > to.size() ||
      file_->pMethods->xRead(file_, to.data(), static_cast<int>(bytes), offset) != SQLITE_OK) {
    fail(first, "it cannot be read");
  }
}

void PageFile::fail(std::uint32_t number, std::string_view what) const {
  throw damaged_store(db_, fmt::format("page {}: {}", number, what));
}

}  // namespace msprof::pages
