// TableBuilder: writes the b-tree pages of one table, without SQLite. PageAppender adds them to the
// file; README.md describes how they share it with SQLite.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/file_reader.hpp"
#include "store/pages/file_format.hpp"
#include "store/pages/pages.hpp"

namespace msprof::pages {

// Adds pages to a new database.
class PageAppender : public Writer {
 public:
  using PageNumber = std::uint32_t;
  struct Run {
    PageNumber first = 0;
    std::size_t pages = 0;
  };

  explicit PageAppender(sqlite3* db);

  std::unique_ptr<TableWriter> append(std::uint32_t root,
                                      std::vector<ColumnStorage> columns) override;

  std::size_t page_bytes() const { return page_bytes_; }
  // Appends whole pages to the file and calls `place` with their page numbers, in order.
  void add(std::span<const std::byte> pages, const std::function<void(Run)>& place);
  PageNumber add(std::span<const std::byte> page);
  // Overwrites a page made by add() or SQLite.
  void write(PageNumber number, std::span<const std::byte> page);
  // Makes SQLite drop its cached pages after overwrites.
  void announce();

 private:
  using Header = std::array<std::byte, kHeaderBytes>;  // file header
  void check_between_statements() const;
  Header read_header() const;
  void write_changed(Header header);
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);

  sqlite3* db_;
  FileDescriptor fd_;
  std::size_t page_bytes_ = 0;
};

class TableBuilder : public TableWriter {
 public:
  TableBuilder(PageAppender& file, PageAppender::PageNumber root,
               std::vector<ColumnStorage> columns);

  std::size_t add(std::span<const std::int64_t> cells, std::size_t rows) override;
  bool add_text(std::int64_t id, std::string_view text) override;
  void finish() override;
  std::optional<std::int64_t> last_id() const override { return last_id_; }

 private:
  struct Child {
    PageAppender::PageNumber page = 0;
    std::int64_t last_id = 0;
  };

  std::byte* leaf() { return block_.data() + full_last_ids_.size() * file_->page_bytes(); }
  void add_cell(std::int64_t id, std::size_t payload_bytes, std::span<const std::byte> local,
                PageAppender::PageNumber overflow);
  PageAppender::PageNumber write_overflow(std::span<const std::byte> rest);
  void start_leaf();
  void seal_leaf();
  void close_leaf();
  void write_full_leaves();
  void write_tail();
  void write_interior();
  std::size_t children_per_page() const;
  std::vector<Child> write_nodes(std::span<const Child> children, std::size_t level);
  void make_node(std::span<const Child> children);
  bool continues(std::int64_t id) const { return !last_id_ || id > *last_id_; }

  PageAppender* file_;
  PageAppender::PageNumber root_;
  std::vector<ColumnStorage> columns_;
  std::optional<std::size_t> id_column_;
  std::optional<std::int64_t> last_id_;
  bool is_finished_ = true;

  // Full leaves that will be written together, followed by the leaf being filled.
  std::vector<std::byte> block_;
  std::vector<std::int64_t> full_last_ids_;  // last id of each full leaf
  std::size_t cells_ = 0;                    // number of cells in the leaf being filled
  std::size_t content_ = 0;                  // offset of that leaf's cells, which grow downwards
  PageAppender::PageNumber tail_ = 0;  // that leaf's page number, assigned by finish(); 0: none yet

  std::vector<Child> leaves_;  // written leaves, without the tail
  // Pages above the leaves by level, without the root. Their number never decreases.
  std::vector<std::vector<PageAppender::PageNumber>> interior_;
  std::vector<std::byte> page_;  // buffer for an interior or overflow page
  std::vector<std::byte> text_record_;
};

}  // namespace msprof::pages
