// PageEditor: edits the pages of a SQLite file as bytes, to create files that no program writes.
// For tests of the code that reads stores. Source of the offsets: sqlite.org/fileformat2.html 1.3,
// 1.6.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>

#include "support/files.hpp"

namespace msprof::test {

class PageEditor {
 public:
  explicit PageEditor(const std::filesystem::path& path) : bytes_(read_file(path)), path_(path) {
    page_bytes_ = number_at(16, 2) == 1 ? 65536 : number_at(16, 2);
  }
  void save() {
    put(28, pages(), 4);
    write_file(path_, bytes_);
  }

  std::size_t page_bytes() const { return page_bytes_; }
  std::size_t pages() const { return bytes_.size() / page_bytes_; }
  // Returns the root page of a table or an index.
  std::size_t find_root(const std::string& name) const {
    return std::stoul(
        query(path_, "SELECT rootpage FROM sqlite_schema WHERE name = '" + name + "'").front());
  }
  std::size_t page_offset(std::size_t page) const { return (page - 1) * page_bytes_; }
  std::size_t number_at(std::size_t at, std::size_t count) const {
    std::size_t value = 0;
    for (std::size_t i = 0; i < count; ++i)
      value = value << 8 | static_cast<unsigned char>(bytes_[at + i]);
    return value;
  }
  void put(std::size_t at, std::size_t value, std::size_t count) {
    for (std::size_t i = count; i-- > 0; value >>= 8) bytes_[at + i] = static_cast<char>(value);
  }

  // 13: leaf, 5: interior page of a table; 10, 2: the same of an index.
  int page_type(std::size_t page) const { return bytes_[page_offset(page)]; }
  bool is_interior(std::size_t page) const { return page_type(page) == 5 || page_type(page) == 2; }
  std::size_t cell_count(std::size_t page) const { return number_at(page_offset(page) + 3, 2); }
  void put_cell_count(std::size_t page, std::size_t count) { put(page_offset(page) + 3, count, 2); }
  // Offsets of the pointer to a cell, and of the cell.
  std::size_t pointer_at(std::size_t page, std::size_t cell) const {
    return page_offset(page) + (is_interior(page) ? 12 : 8) + 2 * cell;
  }
  std::size_t cell_at(std::size_t page, std::size_t cell) const {
    return page_offset(page) + number_at(pointer_at(page, cell), 2);
  }
  std::size_t child(std::size_t page, std::size_t cell) const {
    return number_at(cell_at(page, cell), 4);
  }
  void put_last_child(std::size_t page, std::size_t child) { put(page_offset(page) + 8, child, 4); }

  // Appends a copy of a page; returns its number.
  std::size_t add_copy(std::size_t page) {
    bytes_ += bytes_.substr(page_offset(page), page_bytes_);
    return pages();
  }
  // Turns a table page into one filled with references to `child`.
  void name_often(std::size_t page, std::size_t child) {
    const std::size_t begin = page_offset(page);
    const std::size_t cell = page_bytes_ - 13;
    const std::size_t count = (cell - 12) / 2;
    std::fill_n(bytes_.begin() + static_cast<std::ptrdiff_t>(begin), page_bytes_, '\0');
    put(begin, 5, 1);
    put(begin + 3, count, 2);
    put(begin + 5, cell, 2);
    put(begin + 8, child, 4);
    for (std::size_t i = 0; i < count; ++i) put(begin + 12 + 2 * i, cell, 2);
    put(begin + cell, child, 4);
    put(begin + cell + 4, 0xbfffffff7f, 5);
  }
  // Puts seven pages above the tree at `root`, each filled with references to the next one: far
  // more leaves than can be visited.
  void make_bomb(std::size_t root) {
    std::size_t child = add_copy(root);
    for (int level = 0; level < 6; ++level) {
      const std::size_t page = add_copy(root);
      name_often(page, child);
      child = page;
    }
    name_often(root, child);
  }

 private:
  std::string bytes_;
  std::filesystem::path path_;
  std::size_t page_bytes_ = 0;
};

}  // namespace msprof::test
