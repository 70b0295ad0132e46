#include "store/pages/page_file.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <bit>
#include <cstring>

#include "store/pages/file_format.hpp"
#include "store/pages/record.hpp"
#include "store/pages/table_scan.hpp"

namespace msprof::pages {

namespace {

constexpr std::uint32_t kMinUsableBytes = 480;

}  // namespace

std::unique_ptr<const Reader> Reader::open(sqlite3* db) {
  auto file = std::make_unique<PageFile>(db);
  if (!file->open()) return nullptr;
  return file;
}

// Uses SQLite's own handle: closing another descriptor of the file would drop SQLite's locks.
// Bypasses the page guard, so that any thread may read; a store that is being written has no guard.
bool PageFile::open() {
  const bool is_there =
      sqlite3_file_control(db_, "main", kSystemFileControl, &file_) == SQLITE_OK ||
      sqlite3_file_control(db_, "main", SQLITE_FCNTL_FILE_POINTER, &file_) == SQLITE_OK;
  return is_there && file_ != nullptr && file_->pMethods != nullptr && read_header();
}

std::unique_ptr<TableReader> PageFile::read(std::uint32_t root, std::span<const std::size_t> wanted,
                                            const Filter& filter) const {
  // Page 1 holds the schema.
  if (root <= 1 || root > page_count_) return nullptr;
  return std::make_unique<TableScan>(*this, root, wanted, filter);
}

bool PageFile::read_header() {
  std::array<std::byte, kHeaderBytes> header{};
  sqlite3_int64 file_bytes = 0;
  if (file_->pMethods->xRead(file_, header.data(), kHeaderBytes, 0) != SQLITE_OK ||
      file_->pMethods->xFileSize(file_, &file_bytes) != SQLITE_OK ||
      std::memcmp(header.data(), kFileMagic.data(), kFileMagic.size()) != 0) {
    return false;
  }
  page_bytes_ = read_page_bytes(header.data());
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

void PageFile::read_pages(std::uint32_t first, std::uint32_t count, std::span<std::byte> to) const {
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
  throw damaged_file(db_, fmt::format("page {}: {}", number, what));
}

Error damaged_file(sqlite3* db, std::string_view what) {
  return Error(Exit::partial_data,
               fmt::format("the store {} is damaged ({}); `msprof import` creates a new one",
                           sqlite3_db_filename(db, "main"), what));
}

}  // namespace msprof::pages
