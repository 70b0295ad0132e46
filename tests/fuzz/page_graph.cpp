#include "page_graph.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "store/pages/file_format.hpp"

namespace msprof::fuzz {

namespace {

using namespace pages;

// Offsets that file_format.hpp does not need. Source: sqlite.org/fileformat2.html 1.3.11, 1.5.
constexpr std::size_t kFirstFreePageAt = 32;
constexpr std::size_t kFreePageCountAt = 36;

class Graph {
 public:
  Graph(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed)
      : data_(data), size_(size), max_size_(max_size), random_(seed) {
    page_bytes_ = number_at(kPageBytesAt, 2);
    if (page_bytes_ == 1) page_bytes_ = 65536;
    if (page_bytes_ < 512 || (page_bytes_ & (page_bytes_ - 1)) != 0) page_bytes_ = 512;
  }

  bool has_pages() const { return pages() > 0; }

  std::size_t edit() {
    switch (draw(11)) {
      case 0:
        change_child();
        break;
      case 1:
        share_child();
        break;
      case 2:
        share_cell();
        break;
      case 3:
        make_interior(any_page());
        break;
      case 4:
        add_level();
        break;
      case 5:
        put(page_offset(any_page()), any_number(), 4);  // a chain of overflow or free pages
        break;
      case 6:
        lengthen_row();
        break;
      case 7:
        put(kFirstFreePageAt, any_number(), 4);
        put(kFreePageCountAt, draw(4) == 0 ? UINT32_MAX : draw(9), 4);
        break;
      case 8:
        copy_page(any_page(), any_page());
        break;
      case 9:
        change_header();
        break;
      default:
        change_type();
    }
    put(kPageCountAt, pages(), 4);
    put(kCountValidForAt, number_at(kChangeCounterAt, 4), 4);
    return size_;
  }

 private:
  std::size_t draw(std::size_t count) { return random_() % count; }
  std::size_t pages() const { return size_ / page_bytes_; }
  std::size_t any_page() { return 1 + draw(pages()); }
  // Usually a page number.
  std::size_t any_number() {
    constexpr std::size_t kEdges[] = {0, 1, UINT32_MAX, 0x80000000u};
    if (draw(8) == 0) return kEdges[draw(4)];
    return draw(8) == 0 ? pages() + 1 : any_page();
  }
  std::size_t page_offset(std::size_t page) const { return (page - 1) * page_bytes_; }
  // Start of the b-tree header of a page.
  std::size_t tree_at(std::size_t page) const {
    return page_offset(page) + (page == 1 ? kHeaderBytes : 0);
  }
  std::size_t number_at(std::size_t at, std::size_t bytes) const {
    std::size_t number = 0;
    for (std::size_t i = 0; i < bytes && at + i < size_; ++i) number = number << 8 | data_[at + i];
    return number;
  }
  void put(std::size_t at, std::size_t number, std::size_t bytes) {
    for (std::size_t i = bytes; i-- > 0; number >>= 8)
      if (at + i < size_) data_[at + i] = static_cast<std::uint8_t>(number);
  }
  bool is_interior(std::size_t page) const {
    const auto type = std::byte{data_[tree_at(page)]};
    return type == kInteriorPage || type == kIndexInteriorPage;
  }
  // Returns an interior page if there is one.
  std::size_t interior_page() {
    const std::size_t first = any_page();
    for (std::size_t i = 0; i < pages(); ++i) {
      const std::size_t page = 1 + (first + i) % pages();
      if (is_interior(page)) return page;
    }
    return first;
  }
  std::size_t cells_at(std::size_t page) const {
    return tree_at(page) + (is_interior(page) ? kInteriorHeaderBytes : kLeafHeaderBytes);
  }
  std::size_t cell_count(std::size_t page) const {
    return std::min(number_at(tree_at(page) + kCellCountAt, 2), page_bytes_ / 2);
  }
  std::size_t any_cell(std::size_t page) {
    const std::size_t cell = draw(std::max<std::size_t>(cell_count(page), 1));
    return page_offset(page) + number_at(cells_at(page) + 2 * cell, 2);
  }
  void put_child(std::size_t page, std::size_t child) {
    const bool is_last = draw(3) == 0;
    put(is_last ? tree_at(page) + kRightChildAt : any_cell(page), child, 4);
  }

  void change_child() {
    const std::size_t page = interior_page();
    put_child(page, draw(3) == 0 ? page : any_number());
  }
  void share_child() {
    const std::size_t page = interior_page();
    put_child(page, number_at(any_cell(page), 4));
  }
  void share_cell() {
    const std::size_t page = draw(2) == 0 ? interior_page() : any_page();
    const std::size_t cell = any_cell(page) - page_offset(page);
    std::size_t count = cell_count(page);
    if (draw(2) == 0) {
      count = (cell - std::min(cell, cells_at(page) - page_offset(page))) / 2;
      put(tree_at(page) + kCellCountAt, count, 2);
    }
    for (std::size_t i = 0; i < count; ++i) put(cells_at(page) + 2 * i, cell, 2);
  }
  // Makes an interior page that refers to one child many times.
  void make_interior(std::size_t page) {
    const std::size_t child = draw(4) == 0 ? page : any_page();
    const bool is_table = draw(4) != 0;
    const std::size_t at = tree_at(page);
    const std::size_t end = page_offset(page) + page_bytes_;
    const std::size_t cell = page_bytes_ - 13;
    std::fill(data_ + at, data_ + std::min(end, size_), std::uint8_t{0});
    data_[at] = static_cast<std::uint8_t>(is_table ? kInteriorPage : kIndexInteriorPage);
    const std::size_t most = (page_bytes_ - kHeaderBytes - kInteriorHeaderBytes - 13) / 2;
    const std::size_t count = draw(2) == 0 ? 1 + draw(3) : most;
    put(at + kCellCountAt, count, 2);
    put(at + kContentAt, cell, 2);
    put(at + kRightChildAt, child, 4);
    for (std::size_t i = 0; i < count; ++i) put(at + kInteriorHeaderBytes + 2 * i, cell, 2);
    put(page_offset(page) + cell, child, 4);
    // A key, or a record of one NULL.
    put(page_offset(page) + cell + 4, is_table ? 0xbfffffffu : 0x020200u, is_table ? 4 : 3);
  }
  // Replaces a page by a new interior page, whose child it becomes.
  void add_level() {
    if (size_ + page_bytes_ > max_size_) return make_interior(any_page());
    const std::size_t page = any_page();
    size_ = (pages() + 1) * page_bytes_;
    std::memcpy(data_ + page_offset(pages()), data_ + page_offset(page), page_bytes_);
    if (page == 1) {
      // Removes the file header; cells keep their offsets.
      std::uint8_t* const to = data_ + page_offset(pages());
      const std::size_t bytes = kInteriorHeaderBytes + 2 * cell_count(1);
      std::memmove(to, to + kHeaderBytes, std::min(bytes, page_bytes_ - kHeaderBytes));
    }
    make_interior(page);
    const std::size_t child = pages();
    put(tree_at(page) + kRightChildAt, child, 4);
    put(page_offset(page) + page_bytes_ - 13, child, 4);
  }
  // Gives a row a length that requires overflow pages.
  void lengthen_row() {
    const std::size_t cell = any_cell(any_page());
    constexpr std::size_t kLengths[] = {0x80ffffffu, 0x8080ff7fu, 0x80808320u, 0xffffff7fu};
    put(cell, kLengths[draw(4)], 4);
  }
  void copy_page(std::size_t from, std::size_t to) {
    if (from == 1 || to == 1) return;
    std::memmove(data_ + page_offset(to), data_ + page_offset(from), page_bytes_);
  }
  void change_header() {
    switch (draw(4)) {
      case 0:
        put(kReadVersionAt, 1 + draw(2), 1);
        break;
      case 1:
        put(kReservedBytesAt, draw(64), 1);
        break;
      case 2:
        put(kLargestRootAt, draw(4), 4);
        break;
      default:
        put(kEncodingAt, draw(4), 4);
    }
  }
  void change_type() {
    constexpr std::byte kTypes[] = {kInteriorPage, kIndexInteriorPage, kLeafPage, kIndexLeafPage};
    data_[tree_at(any_page())] = static_cast<std::uint8_t>(kTypes[draw(4)]);
  }

  std::uint8_t* data_;
  std::size_t size_;
  std::size_t max_size_;
  std::minstd_rand random_;
  std::size_t page_bytes_ = 512;
};

}  // namespace

std::size_t edit_pages(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  if (size < 512) return size;
  Graph graph(data, size, max_size, seed + 1);
  return graph.has_pages() ? graph.edit() : size;
}

}  // namespace msprof::fuzz
