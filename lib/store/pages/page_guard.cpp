// The VFS of guarded_vfs().
//
// SQLite follows every child pointer of a page. Six pages, each with 600 pointers to the next, look
// like 600^6 leaves. So each page is checked when SQLite first reads it, and SQLite gets
// SQLITE_CORRUPT if
// * a page has two parents, or two pointers in one: in a valid file each page has one pointer;
//   * cells of a page overlap, or rows need more overflow pages than the file has: a few bytes
//     could otherwise represent any number of long rows;
//   * the schema has more entries than any of ours.
// The check reads only pages that SQLite reads anyway, and reads nothing when the file is opened.
//
// Temporary files of these connections (sorts, temporary tables) get SQLITE_FULL once their total
// size exceeds a multiple of the size of the open databases.
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <vector>

#include "base/interrupt.hpp"
#include "store/pages/file_format.hpp"
#include "store/pages/page_file.hpp"
#include "store/pages/pages.hpp"
#include "store/pages/record.hpp"

namespace msprof::pages {

namespace {

// An overflow page starts with a page number, whose first byte can look like a b-tree page type
// from this number on. So no page of a tree may have a higher one (137 GB with 4 kB pages).
constexpr std::uint32_t kMaxCheckedPages = 1 << 25;
// Limit for tables and indexes; a store has fewer than 80.
constexpr std::size_t kMaxSchemaEntries = 1000;

constexpr std::uint32_t kMinPageBytes = 512;
constexpr std::uint32_t kMaxPageBytes = 65536;

// Source: sqlite.org/fileformat2.html 4.1. The log has a header; each frame has one, too, which
// starts with its page number.
constexpr std::size_t kLogHeaderBytes = 32;
constexpr std::size_t kFrameHeaderBytes = 24;

// The change counter and the fields after it: SQLite drops its cache when they change.
constexpr std::size_t kVersionAt = kChangeCounterAt;
constexpr std::size_t kVersionBytes = 16;

// Checks each page of a database once, and records which pages have a parent.
class PageTree {
 public:
  // Discards all results: the file may have changed.
  void forget() { is_known_ = false; }
  // Compares kVersionBytes at `version` with those of the last call; discards all results if they
  // differ.
  void see_version(const std::byte* version);
  // Checks kHeaderBytes of page 1; false if our databases never have such a header.
  bool accepts_header(const std::byte* header);
  bool knows_pages() const { return is_known_; }
  // Allocates state for the pages of a file of this size.
  void expect(std::uint64_t file_bytes, std::uint32_t page_bytes);
  std::uint32_t page_bytes() const { return page_bytes_; }
  // Returns true if SQLite may use the page.
  bool accepts(std::uint32_t number, const std::byte* page);

 private:
  struct Cells {
    std::uint64_t bytes = 0;           // bytes within the page
    std::uint64_t overflow_pages = 0;  // pages that follow it
  };
  bool claim(std::uint32_t child, bool is_in_schema);
  bool add_cell(std::byte type, const std::byte* cell, std::size_t bytes_left, Cells& sum) const;

  bool is_known_ = false;
  std::array<std::byte, kVersionBytes> version_{};
  std::uint32_t page_bytes_ = 0;
  std::uint32_t reserved_bytes_ = 0;
  std::uint32_t usable_bytes_ = 0;
  std::uint32_t page_count_ = 0;  // upper bound
  std::uint64_t overflow_pages_ = 0;
  std::size_t schema_entries_ = 0;
  std::vector<bool> has_parent_;
  std::vector<bool> is_checked_;
  std::vector<std::uint32_t> schema_pages_;
};

void PageTree::see_version(const std::byte* version) {
  if (std::memcmp(version_.data(), version, kVersionBytes) == 0) return;
  std::memcpy(version_.data(), version, kVersionBytes);
  forget();
}

bool PageTree::accepts_header(const std::byte* header) {
  const std::uint32_t page_bytes = read_page_bytes(header);
  // Accepts a file that is not a database: SQLite's own error is clearer.
  if (std::memcmp(header, kFileMagic.data(), kFileMagic.size()) != 0) return true;
  if (page_bytes < kMinPageBytes || !std::has_single_bit(page_bytes)) return true;
  see_version(header + kVersionAt);
  const auto reserved = std::to_integer<std::uint32_t>(header[kReservedBytesAt]);
  if (page_bytes != page_bytes_ || reserved != reserved_bytes_) forget();
  page_bytes_ = page_bytes;
  reserved_bytes_ = reserved;
  // Rejects auto_vacuum: its pages look like b-trees.
  return big_endian_32(header + kLargestRootAt) == 0;
}

void PageTree::expect(std::uint64_t file_bytes, std::uint32_t page_bytes) {
  page_bytes_ = page_bytes;
  usable_bytes_ = page_bytes - reserved_bytes_;
  page_count_ = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(file_bytes / page_bytes + 1, kMaxCheckedPages));
  overflow_pages_ = 0;
  schema_entries_ = 0;
  has_parent_.assign(page_count_ + 1, false);
  is_checked_ = has_parent_;
  schema_pages_ = {1};
  is_known_ = true;
}

bool PageTree::claim(std::uint32_t child, bool is_in_schema) {
  if (child > page_count_ || has_parent_[child]) return false;
  has_parent_[child] = true;
  if (is_in_schema) schema_pages_.push_back(child);
  return schema_pages_.size() <= kMaxSchemaEntries;
}

// Adds the size of a cell to `sum`; false if the cell is invalid.
bool PageTree::add_cell(std::byte type, const std::byte* cell, std::size_t bytes_left,
                        Cells& sum) const {
  std::byte padded[kPadding] = {};
  if (bytes_left < kPadding) {
    std::memcpy(padded, cell, bytes_left);
    cell = padded;
  }
  const std::byte* at = cell;
  if (type == kInteriorPage || type == kIndexInteriorPage) at += 4;
  std::uint64_t payload = 0;
  if (type == kInteriorPage) {
    read_varint(at);
  } else {
    payload = read_varint(at);
    if (type == kLeafPage) read_varint(at);
  }
  const std::uint32_t most =
      type == kLeafPage ? usable_bytes_ - 35 : (usable_bytes_ - 12) * 64 / 255 - 23;
  std::uint64_t local = local_bytes(payload, usable_bytes_, most);
  if (local < payload) {
    sum.overflow_pages += (payload - local - 1) / (usable_bytes_ - 4) + 1;
    if (sum.overflow_pages > page_count_) return false;
    local += 4;
  }
  sum.bytes += static_cast<std::uint64_t>(at - cell) + local;
  return sum.bytes <= usable_bytes_;
}

bool PageTree::accepts(std::uint32_t number, const std::byte* page) {
  if (number >= is_checked_.size() || is_checked_[number]) return true;
  const std::size_t at = number == 1 ? kHeaderBytes : 0;
  const std::byte type = page[at];
  const bool is_interior = type == kInteriorPage || type == kIndexInteriorPage;
  if (!is_interior && type != kLeafPage && type != kIndexLeafPage) return true;
  const std::size_t cells_at = at + (is_interior ? kInteriorHeaderBytes : kLeafHeaderBytes);
  const std::size_t count = big_endian_16(page + at + kCellCountAt);
  const bool is_in_schema =
      std::find(schema_pages_.begin(), schema_pages_.end(), number) != schema_pages_.end();
  if (is_in_schema) schema_entries_ += count;
  if (schema_entries_ > kMaxSchemaEntries || cells_at + 2 * count > usable_bytes_) return false;
  // Smallest cells: a child and a key, or an empty record.
  const std::size_t least_bytes = is_interior ? 5 : 3;
  Cells sum;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t cell = big_endian_16(page + cells_at + 2 * i);
    if (cell < cells_at || cell + least_bytes > usable_bytes_) return false;
    if (is_interior && !claim(big_endian_32(page + cell), is_in_schema)) return false;
    if (!add_cell(type, page + cell, usable_bytes_ - cell, sum)) return false;
  }
  if (is_interior && !claim(big_endian_32(page + at + kRightChildAt), is_in_schema)) return false;
  overflow_pages_ += sum.overflow_pages;
  if (cells_at + 2 * count + sum.bytes > usable_bytes_ || overflow_pages_ > page_count_)
    return false;
  is_checked_[number] = true;
  return true;
}

// Total size of all open temporary files, and of the open databases, counted once per connection.
std::atomic<std::int64_t> g_temporary_bytes{0};
std::atomic<std::int64_t> g_database_bytes{0};

// Large enough to sort all rows of a store, and for the summary tables that `query` creates.
std::int64_t most_temporary_bytes() {
  constexpr std::int64_t kLeast = 256 << 20;
  return kLeast + 4 * g_database_bytes.load();
}

enum class GuardedFileKind { database, log, temporary, other };

// An SQLite file object; the system VFS's object follows it in memory.
struct GuardedFile {
  sqlite3_file base;
  GuardedFileKind kind;
  PageTree* tree;      // owned by the database, shared by its write-ahead log; else null
  GuardedFile* peer;   // the log of a database, or the database of a log; may be null
  std::int64_t bytes;  // size of a database when opened; current size of a temporary file
};

GuardedFile& guarded(sqlite3_file* file) {
  return *reinterpret_cast<GuardedFile*>(file);
}
sqlite3_file* system_file(GuardedFile& file) {
  return reinterpret_cast<sqlite3_file*>(&file + 1);
}
// Calls a method of the system's file object.
template <typename Method, typename... Argument>
auto pass_on(Method method, sqlite3_file* file, Argument... argument) {
  sqlite3_file* const system = system_file(guarded(file));
  return (system->pMethods->*method)(system, argument...);
}

std::uint64_t read_file_bytes(GuardedFile* file) {
  sqlite3_int64 bytes = 0;
  if (file == nullptr || pass_on(&sqlite3_io_methods::xFileSize, &file->base, &bytes) != SQLITE_OK)
    return 0;
  return static_cast<std::uint64_t>(std::max<sqlite3_int64>(bytes, 0));
}

// Returns true if SQLite may use bytes read from a database or its log.
bool accepts(GuardedFile& file, const std::byte* bytes, std::size_t count, std::uint64_t offset) {
  PageTree& tree = *file.tree;
  std::uint32_t number = 0;
  if (file.kind == GuardedFileKind::database) {
    if (offset == kVersionAt && count == kVersionBytes) tree.see_version(bytes);
    if (offset == 0 && count >= kHeaderBytes && !tree.accepts_header(bytes)) return false;
    if (count != tree.page_bytes() || offset % count != 0) return true;
    number = static_cast<std::uint32_t>(offset / count + 1);
  } else {
    constexpr std::size_t kFirstPageAt = kLogHeaderBytes + kFrameHeaderBytes;
    if (count < kMinPageBytes || count > kMaxPageBytes || !std::has_single_bit(count) ||
        offset < kFirstPageAt || (offset - kFirstPageAt) % (kFrameHeaderBytes + count) != 0) {
      return true;
    }
    std::byte frame[4];
    if (pass_on(&sqlite3_io_methods::xRead, &file.base, frame, 4,
                static_cast<sqlite3_int64>(offset - kFrameHeaderBytes)) != SQLITE_OK) {
      return false;
    }
    number = big_endian_32(frame);
    if (number == 1 && !tree.accepts_header(bytes)) return false;
  }
  if (!tree.knows_pages())
    tree.expect(read_file_bytes(&file) + read_file_bytes(file.peer),
                static_cast<std::uint32_t>(count));
  return tree.accepts(number, bytes);
}

int guarded_close(sqlite3_file* file) {
  GuardedFile& guard = guarded(file);
  const int code = pass_on(&sqlite3_io_methods::xClose, file);
  if (guard.peer != nullptr) guard.peer->peer = nullptr;
  if (guard.kind == GuardedFileKind::database) delete guard.tree;
  if (guard.kind == GuardedFileKind::database) g_database_bytes -= guard.bytes;
  if (guard.kind == GuardedFileKind::temporary) g_temporary_bytes -= guard.bytes;
  return code;
}

int guarded_read(sqlite3_file* file, void* to, int count, sqlite3_int64 offset) {
  // Some statements (count(*), sorts) read for a long time without calling the progress handler.
  if (interrupt::received() != 0) return SQLITE_INTERRUPT;
  const int code = pass_on(&sqlite3_io_methods::xRead, file, to, count, offset);
  if (code != SQLITE_OK || guarded(file).tree == nullptr) return code;
  try {
    return accepts(guarded(file), static_cast<const std::byte*>(to),
                   static_cast<std::size_t>(count), static_cast<std::uint64_t>(offset))
               ? SQLITE_OK
               : SQLITE_CORRUPT;
  } catch (const std::exception&) {
    return SQLITE_NOMEM;
  }
}

int guarded_write(sqlite3_file* file, const void* from, int count, sqlite3_int64 offset) {
  if (interrupt::received() != 0) return SQLITE_INTERRUPT;
  GuardedFile& guard = guarded(file);
  if (guard.kind == GuardedFileKind::temporary && offset + count > guard.bytes) {
    const std::int64_t more = offset + count - guard.bytes;
    if (g_temporary_bytes.load() + more > most_temporary_bytes()) return SQLITE_FULL;
    guard.bytes += more;
    g_temporary_bytes += more;
  }
  return pass_on(&sqlite3_io_methods::xWrite, file, from, count, offset);
}

int guarded_file_control(sqlite3_file* file, int operation, void* argument) {
  if (operation == kSystemFileControl) {
    *static_cast<sqlite3_file**>(argument) = system_file(guarded(file));
    return SQLITE_OK;
  }
  return pass_on(&sqlite3_io_methods::xFileControl, file, operation, argument);
}

// A reader of a log takes a shared lock before it reads pages.
int guarded_shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  PageTree* const tree = guarded(file).tree;
  if (tree != nullptr && (flags & SQLITE_SHM_LOCK) != 0) tree->forget();
  return pass_on(&sqlite3_io_methods::xShmLock, file, offset, count, flags);
}

// Version 2 has no memory-mapped pages, which would bypass the check.
constexpr sqlite3_io_methods kMethods = {
    2,
    guarded_close,
    guarded_read,
    guarded_write,
    [](sqlite3_file* file, sqlite3_int64 bytes) {
      return pass_on(&sqlite3_io_methods::xTruncate, file, bytes);
    },
    [](sqlite3_file* file, int flags) { return pass_on(&sqlite3_io_methods::xSync, file, flags); },
    [](sqlite3_file* file, sqlite3_int64* bytes) {
      return pass_on(&sqlite3_io_methods::xFileSize, file, bytes);
    },
    [](sqlite3_file* file, int level) { return pass_on(&sqlite3_io_methods::xLock, file, level); },
    [](sqlite3_file* file, int level) {
      return pass_on(&sqlite3_io_methods::xUnlock, file, level);
    },
    [](sqlite3_file* file, int* is_reserved) {
      return pass_on(&sqlite3_io_methods::xCheckReservedLock, file, is_reserved);
    },
    guarded_file_control,
    [](sqlite3_file* file) { return pass_on(&sqlite3_io_methods::xSectorSize, file); },
    [](sqlite3_file* file) { return pass_on(&sqlite3_io_methods::xDeviceCharacteristics, file); },
    [](sqlite3_file* file, int region, int bytes, int extend, void volatile** at) {
      return pass_on(&sqlite3_io_methods::xShmMap, file, region, bytes, extend, at);
    },
    guarded_shm_lock,
    [](sqlite3_file* file) { pass_on(&sqlite3_io_methods::xShmBarrier, file); },
    [](sqlite3_file* file, int is_to_go) {
      return pass_on(&sqlite3_io_methods::xShmUnmap, file, is_to_go);
    },
    nullptr,
    nullptr};

GuardedFileKind file_kind(int flags) {
  constexpr int kTemporary = SQLITE_OPEN_TEMP_DB | SQLITE_OPEN_TRANSIENT_DB |
                             SQLITE_OPEN_TEMP_JOURNAL | SQLITE_OPEN_SUBJOURNAL;
  if ((flags & SQLITE_OPEN_MAIN_DB) != 0) return GuardedFileKind::database;
  if ((flags & SQLITE_OPEN_WAL) != 0) return GuardedFileKind::log;
  return (flags & kTemporary) != 0 ? GuardedFileKind::temporary : GuardedFileKind::other;
}

// xOpen of the guarded VFS.
int guarded_open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* flags_out) {
  GuardedFile& guard = guarded(file);
  guard = {};
  guard.kind = file_kind(flags);
  sqlite3_vfs* const system = sqlite3_vfs_find(nullptr);
  const int code = system->xOpen(system, name, system_file(guard), flags, flags_out);
  if (code != SQLITE_OK) {
    const sqlite3_io_methods* const methods = system_file(guard)->pMethods;
    if (methods != nullptr) methods->xClose(system_file(guard));
    return code;
  }
  if (guard.kind == GuardedFileKind::database) {
    guard.tree = new (std::nothrow) PageTree;
    if (guard.tree == nullptr) {
      pass_on(&sqlite3_io_methods::xClose, file);
      return SQLITE_NOMEM;
    }
    guard.bytes = static_cast<std::int64_t>(read_file_bytes(&guard));
    g_database_bytes += guard.bytes;
  } else if (guard.kind == GuardedFileKind::log) {
    guard.peer = &guarded(sqlite3_database_file_object(name));
    guard.peer->peer = &guard;
    guard.tree = guard.peer->tree;
  }
  file->pMethods = &kMethods;
  return SQLITE_OK;
}

}  // namespace

const char* guarded_vfs() {
  static constexpr const char* kName = "msprof-guarded";
  static sqlite3_vfs vfs = [] {
    // Only xOpen is replaced. The system's other methods find their data in the copied struct.
    sqlite3_vfs guard = *sqlite3_vfs_find(nullptr);
    guard.zName = kName;
    guard.pNext = nullptr;
    guard.szOsFile += static_cast<int>(sizeof(GuardedFile));
    guard.xOpen = guarded_open;
    return guard;
  }();
  static const int is_registered = sqlite3_vfs_register(&vfs, 0);
  if (is_registered != SQLITE_OK) throw std::bad_alloc();
  return kName;
}

}  // namespace msprof::pages
