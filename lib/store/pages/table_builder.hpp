// TableBuilder: writes the b-tree pages of one table directly, without SQLite. For BulkTables. File
// format: sqlite.org/fileformat2.html, 1.3 (header), 1.6 (b-trees), 2.1 (records).
//
// SQLite and builders share one file. SQLite creates the schema (an empty table is its root page,
// which never moves), the small tables and the indexes; builders fill tables whose rows arrive in
// the order of their ids. Both allocate pages after the last one; only the file header stores the
// page count:
//   * PageAppender writes new pages and increases page count and change counter while it holds the
//     connection's mutex. SQLite checks the change counter at the start of each transaction and
//     drops its cache if it differs: to SQLite, a builder is another program.
//   * So the connection must have no open transaction while builders work (append() checks this),
//     and each of its statements is a transaction. Readers use separate connections.
// Nothing refers to the pages of a builder before finish(), which writes the pages above the
// leaves, and the root last. Rows may be added afterwards; finish() then rewrites the right edge of
// the tree. The file is valid for SQLite and `PRAGMA integrity_check` after finish() of all
// builders.
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

// Adds pages to a database made by Database::create().
class PageAppender {
 public:
  using PageNumber = std::uint32_t;
  struct Run {
    PageNumber first = 0;
    std::size_t pages = 0;
  };

  // `db` must outlive this and have a table. Throws Error(cannot_write).
  explicit PageAppender(const Database& db);

  std::size_t page_bytes() const { return page_bytes_; }
  // Appends whole pages to the file and calls `place` with their page numbers, in order. Throws
  // Error(cannot_write) like SQLite's statements if the disk is full.
  void append(std::span<const std::byte> pages, const std::function<void(Run)>& place);
  PageNumber append(std::span<const std::byte> page);
  // Overwrites a page made by append() or SQLite.
  void write(PageNumber number, std::span<const std::byte> page);
  // Makes SQLite drop its cached pages after overwrites.
  void announce();

 private:
  using Header = std::array<std::byte, kHeaderBytes>;  // file header
  void check_between_statements() const;
  Header read_header() const;
  void write_changed(Header header);
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);

  const Database& db_;
  FileDescriptor fd_;
  std::size_t page_bytes_ = 0;
};

// How the cells of a row are stored. NUMERIC and INTEGER columns store integral doubles as
// integers; REAL columns return them as doubles.
enum class ColumnStorage : std::uint8_t { id, integer, numeric_double, real_double };

class TableBuilder {
 public:
  // The table must be empty; `root` is its root page. `columns`: at most kMaxColumns, at most one
  // of them the id. Rows of a table without an id are numbered from 1.
  static constexpr std::size_t kMaxColumns = 32;
  TableBuilder(PageAppender& file, PageAppender::PageNumber root,
               std::vector<ColumnStorage> columns);

  // Adds rows, one cell per column; doubles as their bits. Stops at the first id that is NULL or
  // not larger than the one before. Returns the number of rows added.
  std::size_t add(std::span<const std::int64_t> cells, std::size_t rows);
  // Adds a row with an id and a text. Returns false if the id is not larger than the last one.
  bool add_text(std::int64_t id, std::string_view text);

  // Writes everything that a reader needs to find the rows added so far.
  void finish();

  // Id of the last row; empty if there is no row.
  std::optional<std::int64_t> last_id() const { return last_id_; }

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
