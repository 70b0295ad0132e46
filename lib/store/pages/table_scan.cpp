#include "store/pages/table_scan.hpp"

#include <algorithm>

#include "base/interrupt.hpp"
#include "store/pages/file_format.hpp"
#include "store/pages/record.hpp"

namespace msprof::pages {

namespace {

// SQLite's own limit; valid trees are never this deep.
constexpr std::size_t kMaxDepth = 20;

// Bytes per read; a page may have the same size.
constexpr std::size_t kReadBytes = 1 << 16;
constexpr unsigned kRowsBetweenLooks = 1u << 14;
constexpr unsigned kPagesBetweenLooks = 1u << 10;
// SQLite rejects longer rows, too (database.cpp).
constexpr std::uint64_t kMaxPayload = 4 << 20;

}  // namespace

TableScan::TableScan(const PageFile& file, std::uint32_t root, std::span<const std::size_t> wanted,
                     const Filter& filter)
    : file_(&file),
      root_(root),
      first_id_(filter.first_id),
      last_id_(filter.last_id),
      is_backwards_(filter.is_backwards),
      block_(kReadBytes + kPadding) {
  const auto use = [this](std::size_t column, Use what) {
    if (uses_.size() <= column) uses_.resize(column + 1);
    uses_[column] = static_cast<std::uint8_t>(uses_[column] | what);
  };
  for (const std::size_t column : wanted) {
    if (column == 0) {
      wants_id_ = true;
    } else {
      use(column, kWanted);
    }
  }
  for (const std::size_t column : filter.not_null) {
    if (column != 0) use(column, kNotNull);
  }
  if (filter.equal) {
    equal_ = filter.equal->second;
    if (filter.equal->first == 0) {
      first_id_ = std::max(first_id_, equal_);
      last_id_ = std::min(last_id_, equal_);
    } else {
      use(filter.equal->first, kEqual);
    }
  }
  is_ended_ = first_id_ > last_id_;
}

bool TableScan::next(std::int64_t* cells) {
  while (true) {
    while (cells_left_ == 0) {
      if (is_ended_ || !next_leaf()) return false;
    }
    if (++rows_ % kRowsBetweenLooks == 0) interrupt::check();
    const std::byte* const page_end = leaf_ + file_->usable_bytes();
    const std::byte* at = find_cell(leaf_, kLeafHeaderBytes, cell_);
    --cells_left_;
    cell_ = is_backwards_ ? cell_ - 1 : cell_ + 1;
    const std::uint64_t bytes = read_varint(at);
    const auto id = static_cast<std::int64_t>(read_varint(at));
    if (has_id_ && (is_backwards_ ? id >= id_ : id <= id_)) fail("its ids are not in order");
    id_ = id;
    has_id_ = true;
    if (is_backwards_ ? id < first_id_ : id > last_id_) {
      cells_left_ = 0;
      is_ended_ = true;
      return false;
    }
    std::span<const std::byte> payload;
    if (bytes <= file_->usable_bytes() - 35) {
      if (at > page_end || bytes > static_cast<std::uint64_t>(page_end - at))
        fail("a cell extends beyond the page");
      payload = {at, static_cast<std::size_t>(bytes)};
    } else {
      payload = whole_payload(at, bytes);
    }
    if (fill(payload, cells)) return true;
  }
}

// Fills the wanted cells from a record. Returns false if the filter excludes the row.
bool TableScan::fill(std::span<const std::byte> payload, std::int64_t* cells) {
  const std::byte* const end = payload.data() + payload.size();
  const std::byte* type_at = payload.data();
  const std::uint64_t header_bytes = read_varint(type_at);
  if (header_bytes > payload.size()) fail("a header is longer than its row");
  const std::byte* const header_end = payload.data() + header_bytes;
  const std::byte* body = header_end;
  if (wants_id_) cells[0] = id_;
  for (std::size_t column = 0; column < uses_.size(); ++column) {
    // Columns missing from a record are NULL.
    const std::uint64_t type = type_at < header_end ? read_varint(type_at) : cell_type::kNothing;
    const std::uint64_t size = value_bytes(type);
    if (size > static_cast<std::uint64_t>(end - body)) fail("a value extends beyond its row");
    const std::uint8_t use = uses_[column];
    if ((use & kWanted) != 0) cells[column] = decode_value(type, body);
    if ((use & kNotNull) != 0 && is_null(type, body)) return false;
    if ((use & kEqual) != 0 && !is_equal(type, body, equal_)) return false;
    body += size;
  }
  return true;
}

// Assembles a row that continues on overflow pages. Import never writes such a row to an integer
// table.
std::span<const std::byte> TableScan::whole_payload(const std::byte* local, std::uint64_t bytes) {
  if (bytes > kMaxPayload) fail("a row is too long");
  const std::uint32_t usable = file_->usable_bytes();
  const auto in_cell = static_cast<std::ptrdiff_t>(local_bytes(bytes, usable, usable - 35));
  const std::byte* const page_end = leaf_ + usable;
  if (local > page_end || in_cell + 4 > page_end - local) fail("a cell extends beyond the page");
  overflow_.assign(local, local + in_cell);
  std::uint32_t number = big_endian_32(local + in_cell);
  std::vector<std::byte> page(file_->page_bytes());
  while (overflow_.size() < bytes) {
    count_page();
    file_->read_pages(number, 1, page);
    const std::size_t count = std::min<std::size_t>(usable - 4, bytes - overflow_.size());
    overflow_.insert(overflow_.end(), page.begin() + 4,
                     page.begin() + 4 + static_cast<std::ptrdiff_t>(count));
    number = big_endian_32(page.data());
  }
  overflow_.resize(overflow_.size() + kPadding);
  return {overflow_.data(), static_cast<std::size_t>(bytes)};
}

// Advances to the next leaf that can hold rows in range; false after the last.
bool TableScan::next_leaf() {
  if (!is_started_) {
    is_started_ = true;
    enter(root_, read_child({&root_, 1}, 0));
  } else {
    leaf_ = nullptr;
  }
  while (leaf_ == nullptr) {
    if (depth_ == 0) {
      is_ended_ = true;
      return false;
    }
    Level& level = levels_[depth_ - 1];
    if (level.next == level.children.size()) {
      --depth_;
      continue;
    }
    const std::size_t place = level.next++;
    enter(level.children[place], read_child(level.children, place));
  }
  return true;
}

// Returns the page of a child; also reads the following children if their pages are consecutive.
const std::byte* TableScan::read_child(std::span<const std::uint32_t> children, std::size_t place) {
  const std::uint32_t number = children[place];
  if (number < block_first_ || number - block_first_ >= block_count_) {
    const std::uint32_t most = static_cast<std::uint32_t>(kReadBytes) / file_->page_bytes();
    std::uint32_t count = 1;
    const auto follows = [&](std::uint32_t next) {
      return is_backwards_ ? next + count == number : next == number + count;
    };
    while (count < most && place + count < children.size() && follows(children[place + count]))
      ++count;
    block_count_ = 0;
    block_first_ = is_backwards_ ? number - count + 1 : number;
    file_->read_pages(block_first_, count, block_);
    block_count_ = count;
  }
  return block_.data() + std::size_t{number - block_first_} * file_->page_bytes();
}

// Counts a page read; a valid table refers to each page only once.
void TableScan::count_page() {
  if (++pages_ > file_->page_count()) fail("the table has more pages than the file");
  if (pages_ % kPagesBetweenLooks == 0) interrupt::check();
}

void TableScan::enter(std::uint32_t number, const std::byte* page) {
  number_ = number;
  count_page();
  if (page[0] == kLeafPage) {
    enter_leaf(page);
  } else if (page[0] == kInteriorPage) {
    enter_interior(page);
  } else {
    fail("it is not a page of a table");
  }
}

// Returns the start of a cell after checking its offset.
const std::byte* TableScan::find_cell(const std::byte* page, std::size_t header_bytes,
                                      std::size_t cell) {
  const std::uint32_t offset = big_endian_16(page + header_bytes + 2 * cell);
  if (offset < header_bytes || offset >= file_->usable_bytes())
    fail("a cell starts beyond the page");
  return page + offset;
}

// Returns the index of the first of `count` keys that is >= `id`.
template <typename KeyAt>
std::size_t TableScan::first_at_least(std::int64_t id, std::size_t count,
                                      const KeyAt& key_at) const {
  std::size_t first = 0;
  while (count > 0) {
    const std::size_t half = count / 2;
    if (key_at(first + half) < id) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

void TableScan::enter_interior(const std::byte* page) {
  const std::size_t count = big_endian_16(page + kCellCountAt);
  if (kInteriorHeaderBytes + 2 * count > file_->usable_bytes()) fail("it has too many cells");
  if (count == 0) fail("it has no cells");
  if (depth_ == kMaxDepth) fail("the table has too many levels");
  const auto child_at = [&](std::size_t place) {
    if (place == count) return big_endian_32(page + kRightChildAt);
    const std::byte* const cell = find_cell(page, kInteriorHeaderBytes, place);
    if (file_->usable_bytes() - (cell - page) < 5) fail("a cell extends beyond the page");
    return big_endian_32(cell);
  };
  // Returns the largest id in the subtree of the child at that index.
  const auto key_at = [&](std::size_t place) {
    const std::byte* at = find_cell(page, kInteriorHeaderBytes, place) + 4;
    return static_cast<std::int64_t>(read_varint(at));
  };
  const std::size_t first = first_id_ == INT64_MIN ? 0 : first_at_least(first_id_, count, key_at);
  const std::size_t last =
      last_id_ == INT64_MAX ? count : std::max(first, first_at_least(last_id_, count, key_at));
  if (depth_ == levels_.size()) levels_.emplace_back();
  Level& level = levels_[depth_++];
  level.next = 0;
  level.children.clear();
  for (std::size_t place = first; place <= last; ++place) level.children.push_back(child_at(place));
  if (is_backwards_) std::reverse(level.children.begin(), level.children.end());
}

void TableScan::enter_leaf(const std::byte* page) {
  const std::size_t count = big_endian_16(page + kCellCountAt);
  if (kLeafHeaderBytes + 2 * count > file_->usable_bytes()) fail("it has too many cells");
  if (count == 0 && depth_ > 0) fail("it has no rows");
  const auto key_at = [&](std::size_t place) {
    const std::byte* at = find_cell(page, kLeafHeaderBytes, place);
    read_varint(at);
    return static_cast<std::int64_t>(read_varint(at));
  };
  leaf_ = page;
  if (is_backwards_) {
    const bool is_whole = last_id_ == INT64_MAX;
    cells_left_ = is_whole ? count : first_at_least(last_id_ + 1, count, key_at);
    cell_ = cells_left_ == 0 ? 0 : cells_left_ - 1;
  } else {
    cell_ = first_id_ == INT64_MIN ? 0 : first_at_least(first_id_, count, key_at);
    cells_left_ = count - cell_;
  }
}

}  // namespace msprof::pages
