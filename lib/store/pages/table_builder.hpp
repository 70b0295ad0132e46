// TableBuilder: the b-tree of one table, its pages written by us and not by SQLite. For BulkTables.
// Source of all that is said of pages: sqlite.org/fileformat2.html, 1.3 (header), 1.6 (b-trees),
// 2.1 (records).
//
// How SQLite and builders share one file. SQLite makes the schema (an empty table is its root page,
// which stays its root for good), the small tables and the indexes; builders fill tables whose rows
// come in the order of their ids. Each takes the pages it needs behind the last one, and the header
// of the file is the only place where their number is kept:
// * PageAppender writes new pages and raises number and change counter while it holds the lock of
//   the connection. SQLite looks at the change counter whenever it begins a transaction, and
//   forgets what it has cached when that is another: to it, a builder is another program.
// * So no transaction of that connection is open while builders work (append() sees to it), and
//   each statement of it is a transaction. Readers have connections of their own.
// Nothing refers to the pages of a builder before finish(): it writes the pages above the leaves,
// and the root last. Rows may be added after it; the right edge of the tree is then written again.
// The file is whole, for SQLite and for `PRAGMA integrity_check`, after finish() of all builders.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/file_reader.hpp"
#include "store/database.hpp"
#include "store/pages/file_format.hpp"

namespace msprof::pages {

// The pages of a database that SQLite has made with Database::create().
class PageAppender {
 public:
  using PageNumber = std::uint32_t;
  // New pages that are neighbours.
  struct Run {
    PageNumber first = 0;
    std::size_t pages = 0;
  };

  // `db` outlives this and has a first table. Throws Error(cannot_write).
  explicit PageAppender(const Database& db);

  std::size_t page_bytes() const { return page_bytes_; }
  // Adds whole pages to the file; `place` is told where, in their order. Throws Error(cannot_write)
  // as SQLite's statements do, when the disk is full.
  void append(std::span<const std::byte> pages, const std::function<void(Run)>& place);
  PageNumber append(std::span<const std::byte> page);
  // Writes a page again that append() or SQLite has made.
  void write(PageNumber number, std::span<const std::byte> page);
  // Makes SQLite forget what it has cached of pages that were written again.
  void announce();

 private:
  using Header = std::array<std::byte, kHeaderBytes>;  // of the file
  void check_between_statements() const;
  Header read_header() const;
  void write_changed(Header header);
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);

  const Database& db_;
  FileDescriptor fd_;
  std::size_t page_bytes_ = 0;
};

// How the cells of a row are stored. NUMERIC and INTEGER columns keep a double that is a whole
// number as an integer; a REAL column gives it back as a double.
enum class ColumnStorage : std::uint8_t { id, integer, numeric_double, real_double };

class TableBuilder {
 public:
  // The table is empty; `root` is its page. `columns`: at most kMaxColumns, one of them the id;
  // rows of a table without one are numbered from 1.
  static constexpr std::size_t kMaxColumns = 32;
  TableBuilder(PageAppender& file, PageAppender::PageNumber root,
               std::vector<ColumnStorage> columns);

  // Adds rows, a cell a column; doubles as their bits. Returns how many were taken: all, or those
  // before the first whose id is NULL or not larger than the last.
  std::size_t add(std::span<const std::int64_t> cells, std::size_t rows);
  // Adds a row of a table of an id and a text. False if the id is not larger than the last.
  bool add_text(std::int64_t id, std::string_view text);

  // Writes all that a reader needs to find the rows added so far.
  void finish();

  // Of the last row; empty if there is none.
  std::optional<std::int64_t> last_id() const { return last_id_; }

 private:
  // A page and the largest id in it.
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

  // Leaves that are full and wait to be written together, then the one that is being filled.
  std::vector<std::byte> block_;
  std::vector<std::int64_t> full_last_ids_;  // of the full ones
  std::size_t cells_ = 0;                    // in the leaf that is being filled
  std::size_t content_ = 0;                  // where its cells begin: they grow towards the front
  PageAppender::PageNumber tail_ = 0;        // its page, once finish() has given it one; 0: none

  std::vector<Child> leaves_;  // those written, without the tail
  // Pages above the leaves, level by level, without the root. There are only ever more of them.
  std::vector<std::vector<PageAppender::PageNumber>> interior_;
  std::vector<std::byte> page_;  // an interior or overflow page while it is made
  std::vector<std::byte> text_record_;
};

}  // namespace msprof::pages
