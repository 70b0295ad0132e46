#include "store/pages/table_builder.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "base/read_write.hpp"
#include "store/pages/file_format.hpp"
#include "store/pages/record.hpp"

namespace msprof::pages {

namespace {

// Pages of a table are written in blocks of this size, so that they are contiguous for readers.
constexpr std::size_t kBlockBytes = 256 << 10;

constexpr std::uint32_t kFormat = 4;
constexpr std::uint64_t kMaxPages = 0x3fffffff;  // SQLite's own limit

constexpr std::size_t kPointerBytes = 2;
constexpr std::size_t kMaxInteriorCell = 4 + 9;

constexpr std::size_t kMaxVarint = 9;
// One byte for the header size, at most 9 bytes per column (type and value), and 8 bytes because
// each value is written as 8 bytes before it is shortened.
constexpr std::size_t kMaxRecord = 1 + 9 * kMaxColumns + 8;

template <typename Number>
void put(std::byte* at, Number number) {
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    at[i] = static_cast<std::byte>(number >> (8 * (sizeof(Number) - 1 - i)));
}

// Returns the bytes used: 7 bits per byte, most significant first; a ninth byte has 8 bits.
std::size_t put_varint(std::byte* at, std::uint64_t value) {
  if (value < 0x80) {
    at[0] = static_cast<std::byte>(value);
    return 1;
  }
  if (value >> 56 != 0) {
    at[8] = static_cast<std::byte>(value);
    value >>= 8;
    for (std::size_t i = 8; i-- > 0; value >>= 7) at[i] = static_cast<std::byte>(value | 0x80);
    return kMaxVarint;
  }
  const auto bytes = static_cast<std::size_t>(std::bit_width(value) + 6) / 7;
  for (std::size_t i = bytes; i-- > 0; value >>= 7) at[i] = static_cast<std::byte>(value | 0x80);
  at[bytes - 1] &= std::byte{0x7f};
  return bytes;
}

// Serial type by an integer's bits, without the sign.
constexpr std::array<std::uint8_t, 65> kTypeOfBits = [] {
  std::array<std::uint8_t, 65> types{};
  for (std::size_t bits = 0; bits < types.size(); ++bits)
    types[bits] = bits < 8 ? 1 : bits < 16 ? 2 : bits < 24 ? 3 : bits < 32 ? 4 : bits < 48 ? 5 : 6;
  return types;
}();

// A record under construction: one type byte per column, then the values.
struct RecordWriter {
  std::byte* types;
  std::byte* values;

  void add_type(std::uint8_t type) { *types++ = std::byte{type}; }
  void add(std::uint8_t type, std::uint64_t value) {
    add_type(type);
    const std::size_t bytes = value_bytes(type);
    // Writes all 8 bytes; the next value overwrites the unused ones.
    put(values, bytes == 0 ? 0 : value << (64 - 8 * bytes));
    values += bytes;
  }
  void add_integer(std::int64_t value) {
    if (value == 0 || value == 1) return add_type(value == 0 ? cell_type::kZero : cell_type::kOne);
    const auto magnitude = static_cast<std::uint64_t>(value ^ value >> 63);
    add(kTypeOfBits[static_cast<std::size_t>(std::bit_width(magnitude))],
        static_cast<std::uint64_t>(value));
  }
  void add_double(double value, bool is_real_column) {
    if (value != value) return add_type(cell_type::kNothing);  // SQLite has no NaN
    constexpr double kLimit = 0x1p63;
    // Integral values are stored as integers; in REAL columns only up to six bytes.
    if (value > -kLimit && value < kLimit) {
      const auto whole = static_cast<std::int64_t>(value);
      constexpr std::int64_t kSixBytes = (std::int64_t{1} << 47) - 1;
      if (static_cast<double>(whole) == value &&
          (!is_real_column || (whole >= -kSixBytes && whole <= kSixBytes))) {
        return add_integer(whole);
      }
    }
    add(cell_type::kReal, std::bit_cast<std::uint64_t>(value));
  }
};

// Throws the Error that an SQLite statement would throw.
[[noreturn]] void fail_to_write(sqlite3* db, int error_number) {
  throw Error(Exit::cannot_write,
              fmt::format("error in {}: {} (choose another folder with --output)",
                          sqlite3_db_filename(db, "main"),
                          sqlite3_errstr(error_number == ENOSPC ? SQLITE_FULL : SQLITE_IOERR)));
}

// Starts writeback of the bytes from `before` to `after` in large chunks, to shorten the final wait
// for the disk. Ignores errors.
void begin_writeback(int fd, std::uint64_t before, std::uint64_t after) {
#ifdef SYNC_FILE_RANGE_WRITE
  constexpr std::uint64_t kPiece = std::uint64_t{16} << 20;
  const std::uint64_t first = before / kPiece * kPiece;
  const std::uint64_t end = after / kPiece * kPiece;
  if (end > first)
    (void)::sync_file_range(fd, static_cast<off_t>(first), static_cast<off_t>(end - first),
                            SYNC_FILE_RANGE_WRITE);
#endif
}

// Holds the connection's mutex; running statements hold it, too.
class ConnectionLock {
 public:
  explicit ConnectionLock(sqlite3* db) : mutex_(sqlite3_db_mutex(db)) {
    sqlite3_mutex_enter(mutex_);
  }
  ~ConnectionLock() { sqlite3_mutex_leave(mutex_); }
  ConnectionLock(const ConnectionLock&) = delete;
  ConnectionLock& operator=(const ConnectionLock&) = delete;

 private:
  sqlite3_mutex* mutex_;
};

}  // namespace

std::unique_ptr<Writer> Writer::open(sqlite3* db) {
  return std::make_unique<PageAppender>(db);
}

PageAppender::PageAppender(sqlite3* db) : db_(db) {
  fd_.reset(::open(sqlite3_db_filename(db, "main"), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!fd_) fail_to_write(db_, errno);
  const Header header = read_header();
  page_bytes_ = read_page_bytes(header.data());
  if (header[kReservedBytesAt] != std::byte{0} || big_endian_32(&header[kFormatAt]) != kFormat)
    throw Error(Exit::internal_error, "a new database does not have the requested format");
}

std::unique_ptr<TableWriter> PageAppender::append(std::uint32_t root,
                                                  std::vector<ColumnStorage> columns) {
  return std::make_unique<TableBuilder>(*this, root, std::move(columns));
}

PageAppender::Header PageAppender::read_header() const {
  Header header{};
  const ssize_t count = ::pread(fd_.get(), header.data(), header.size(), 0);
  if (count != static_cast<ssize_t>(header.size())) fail_to_write(db_, EIO);
  return header;
}

void PageAppender::write_changed(Header header) {
  const std::uint32_t changes = big_endian_32(&header[kChangeCounterAt]) + 1;
  put(&header[kChangeCounterAt], changes);
  put(&header[kCountValidForAt], changes);
  write_at(0, header);
}

void PageAppender::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (const int error = write_all_at(fd_.get(), bytes, offset)) fail_to_write(db_, error);
}

// A statement that is still open would allocate the same pages.
void PageAppender::check_between_statements() const {
  if (sqlite3_txn_state(db_, "main") != SQLITE_TXN_NONE)
    throw Error(Exit::internal_error, "rows cannot be added within a transaction");
}

void PageAppender::add(std::span<const std::byte> pages, const std::function<void(Run)>& place) {
  const ConnectionLock lock(db_);
  check_between_statements();
  Header header = read_header();
  std::uint64_t last = big_endian_32(&header[kPageCountAt]);
  const std::uint64_t before = last * page_bytes_;
  const std::uint64_t locked = kLockByte / page_bytes_ + 1;
  while (!pages.empty()) {
    if (last + 1 == locked) ++last;
    std::uint64_t count = pages.size() / page_bytes_;
    if (last < locked) count = std::min(count, locked - 1 - last);
    if (last + count > kMaxPages) fail_to_write(db_, ENOSPC);
    write_at(last * page_bytes_, pages.first(count * page_bytes_));
    place({static_cast<PageNumber>(last + 1), count});
    last += count;
    pages = pages.subspan(count * page_bytes_);
  }
  put(&header[kPageCountAt], static_cast<std::uint32_t>(last));
  write_changed(header);
  begin_writeback(fd_.get(), before, last * page_bytes_);
}

PageAppender::PageNumber PageAppender::add(std::span<const std::byte> page) {
  PageNumber number = 0;
  add(page, [&](Run run) { number = run.first; });
  return number;
}

void PageAppender::write(PageNumber number, std::span<const std::byte> page) {
  write_at((std::uint64_t{number} - 1) * page_bytes_, page);
}

void PageAppender::announce() {
  const ConnectionLock lock(db_);
  check_between_statements();
  write_changed(read_header());
}

TableBuilder::TableBuilder(PageAppender& file, PageAppender::PageNumber root,
                           std::vector<ColumnStorage> columns)
    : file_(&file), root_(root), columns_(std::move(columns)) {
  const auto id = std::find(columns_.begin(), columns_.end(), ColumnStorage::id);
  if (id != columns_.end()) id_column_ = static_cast<std::size_t>(id - columns_.begin());
}

std::size_t TableBuilder::add(std::span<const std::int64_t> cells, std::size_t rows) {
  std::array<std::byte, kMaxRecord> record;
  record[0] = static_cast<std::byte>(1 + columns_.size());
  const std::int64_t* cell = cells.data();
  for (std::size_t row = 0; row < rows; ++row) {
    const std::int64_t id = id_column_ ? cell[*id_column_] : last_id_.value_or(0) + 1;
    if (id_column_ && (id == kNoValue || !continues(id))) return row;
    RecordWriter out{&record[1], &record[1 + columns_.size()]};
    for (const ColumnStorage kind : columns_) {
      const std::int64_t value = *cell++;
      if (value == kNoValue || kind == ColumnStorage::id) {
        out.add_type(cell_type::kNothing);
      } else if (kind == ColumnStorage::integer) {
        out.add_integer(value);
      } else {
        out.add_double(std::bit_cast<double>(value), kind == ColumnStorage::real_double);
      }
    }
    const std::span<const std::byte> payload(record.data(), out.values);
    add_cell(id, payload.size(), payload, 0);
  }
  return rows;
}

bool TableBuilder::add_text(std::int64_t id, std::string_view text) {
  if (!continues(id)) return false;
  std::array<std::byte, 2 + kMaxVarint> header{};
  const std::size_t header_bytes = 2 + put_varint(&header[2], 13 + 2 * std::uint64_t{text.size()});
  header[0] = static_cast<std::byte>(header_bytes);
  const auto bytes = std::as_bytes(std::span(text));
  text_record_.assign(header.begin(), header.begin() + static_cast<std::ptrdiff_t>(header_bytes));
  text_record_.insert(text_record_.end(), bytes.begin(), bytes.end());
  const std::span<const std::byte> payload(text_record_);
  // A payload that does not fit continues on overflow pages; the file format defines how many bytes
  // stay in the leaf.
  const std::size_t page = file_->page_bytes();
  const std::size_t local = local_bytes(payload.size(), page, page - 35);
  add_cell(id, payload.size(), payload.first(local), write_overflow(payload.subspan(local)));
  return true;
}

// Writes the last page first, as each page contains the number of the next. Returns the first page
// of the chain, 0 if it is empty.
PageAppender::PageNumber TableBuilder::write_overflow(std::span<const std::byte> rest) {
  PageAppender::PageNumber next = 0;
  const std::size_t room = file_->page_bytes() - sizeof next;
  while (!rest.empty()) {
    const std::size_t before = (rest.size() - 1) / room * room;
    page_.assign(file_->page_bytes(), std::byte{0});
    put(page_.data(), next);
    std::copy(rest.begin() + static_cast<std::ptrdiff_t>(before), rest.end(),
              page_.begin() + sizeof next);
    next = file_->add(page_);
    rest = rest.first(before);
  }
  return next;
}

void TableBuilder::add_cell(std::int64_t id, std::size_t payload_bytes,
                            std::span<const std::byte> local, PageAppender::PageNumber overflow) {
  std::array<std::byte, 2 * kMaxVarint> header;
  std::size_t header_bytes = put_varint(header.data(), payload_bytes);
  header_bytes += put_varint(&header[header_bytes], static_cast<std::uint64_t>(id));
  const std::size_t bytes = header_bytes + local.size() + (overflow == 0 ? 0 : sizeof overflow);
  const std::size_t pointer_at = kLeafHeaderBytes + kPointerBytes * cells_;
  if (block_.empty()) start_leaf();
  if (pointer_at + kPointerBytes + bytes > content_) {
    close_leaf();
    return add_cell(id, payload_bytes, local, overflow);
  }
  content_ -= bytes;
  std::byte* const page = leaf();
  std::byte* at = page + content_;
  std::memcpy(at, header.data(), header_bytes);
  at += header_bytes;
  std::memcpy(at, local.data(), local.size());
  if (overflow != 0) put(at + local.size(), overflow);
  put(page + pointer_at, static_cast<std::uint16_t>(content_));
  ++cells_;
  last_id_ = id;
  is_finished_ = false;
}

void TableBuilder::start_leaf() {
  const std::size_t page = file_->page_bytes();
  block_.resize(std::max(block_.size(), (full_last_ids_.size() + 1) * page));
  cells_ = 0;
  content_ = page;
}

// Writes the header of the current leaf. Cells may be added later.
void TableBuilder::seal_leaf() {
  std::byte* const page = leaf();
  const std::size_t pointers_end = kLeafHeaderBytes + kPointerBytes * cells_;
  std::fill(page, page + kLeafHeaderBytes, std::byte{0});
  page[0] = kLeafPage;
  put(page + kCellCountAt, static_cast<std::uint16_t>(cells_));
  put(page + kContentAt, static_cast<std::uint16_t>(content_));
  // Clears the gap, so that equal rows give equal bytes.
  std::fill(page + pointers_end, page + content_, std::byte{0});
}

void TableBuilder::close_leaf() {
  seal_leaf();
  const std::size_t page = file_->page_bytes();
  if (tail_ != 0) {
    file_->write(tail_, {leaf(), page});
    leaves_.push_back({tail_, *last_id_});
    tail_ = 0;
  } else {
    full_last_ids_.push_back(*last_id_);
    if (full_last_ids_.size() * page >= kBlockBytes) write_full_leaves();
  }
  start_leaf();
}

void TableBuilder::write_full_leaves() {
  std::size_t at = 0;
  const std::span<const std::byte> block(block_);
  file_->add(block.first(full_last_ids_.size() * file_->page_bytes()), [&](PageAppender::Run run) {
    for (std::size_t i = 0; i < run.pages; ++i) {
      const auto page = static_cast<PageAppender::PageNumber>(run.first + i);
      leaves_.push_back({page, full_last_ids_[at++]});
    }
  });
  full_last_ids_.clear();
}

void TableBuilder::finish() {
  if (is_finished_) return;
  seal_leaf();
  const std::size_t page = file_->page_bytes();
  if (leaves_.empty() && full_last_ids_.empty()) {
    file_->write(root_, {leaf(), page});
  } else {
    write_tail();
    leaves_.push_back({tail_, *last_id_});
    write_interior();
    leaves_.pop_back();
  }
  file_->announce();
  is_finished_ = true;
}

void TableBuilder::write_tail() {
  const std::size_t page = file_->page_bytes();
  if (!full_last_ids_.empty()) {
    const std::byte* const tail = leaf();
    write_full_leaves();
    std::memmove(block_.data(), tail, page);
  }
  if (tail_ == 0) {
    tail_ = file_->add(std::span<const std::byte>(leaf(), page));
  } else {
    file_->write(tail_, {leaf(), page});
  }
}

void TableBuilder::write_interior() {
  std::vector<Child> children;
  std::span<const Child> below(leaves_);
  for (std::size_t level = 0; below.size() > children_per_page(); ++level) {
    children = write_nodes(below, level);
    below = children;
  }
  make_node(below);
  file_->write(root_, page_);
}

std::size_t TableBuilder::children_per_page() const {
  return (file_->page_bytes() - kInteriorHeaderBytes) / (kPointerBytes + kMaxInteriorCell) + 1;
}

std::vector<TableBuilder::Child> TableBuilder::write_nodes(std::span<const Child> children,
                                                           std::size_t level) {
  const std::size_t per_page = children_per_page();
  if (level == interior_.size()) interior_.emplace_back();
  std::vector<PageAppender::PageNumber>& pages = interior_[level];
  std::vector<Child> nodes;
  while (!children.empty()) {
    std::size_t count = std::min(per_page, children.size());
    if (children.size() == per_page + 1) --count;  // a page has at least two children
    make_node(children.first(count));
    if (nodes.size() == pages.size()) {
      pages.push_back(file_->add(page_));
    } else {
      file_->write(pages[nodes.size()], page_);
    }
    nodes.push_back({pages[nodes.size()], children[count - 1].last_id});
    children = children.subspan(count);
  }
  return nodes;
}

// Each child except the last is a cell.
void TableBuilder::make_node(std::span<const Child> children) {
  page_.assign(file_->page_bytes(), std::byte{0});
  std::size_t content = page_.size();
  std::size_t pointer_at = kInteriorHeaderBytes;
  for (const Child& child : children.first(children.size() - 1)) {
    std::array<std::byte, kMaxInteriorCell> cell;
    put(cell.data(), child.page);
    const std::size_t bytes =
        sizeof child.page +
        put_varint(&cell[sizeof child.page], static_cast<std::uint64_t>(child.last_id));
    content -= bytes;
    std::memcpy(&page_[content], cell.data(), bytes);
    put(&page_[pointer_at], static_cast<std::uint16_t>(content));
    pointer_at += kPointerBytes;
  }
  page_[0] = kInteriorPage;
  put(&page_[kCellCountAt], static_cast<std::uint16_t>(children.size() - 1));
  put(&page_[kContentAt], static_cast<std::uint16_t>(content));
  put(&page_[kRightChildAt], children.back().page);
}

}  // namespace msprof::pages
