// TraceDbWriter: fills the store of one capture with typed rows. For import and derive. A store is
// written to a temporary file, which is renamed when complete.
#pragma once

#include <cstring>
#include <deque>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/text_map.hpp"
#include "store/bulk_tables.hpp"
#include "store/database.hpp"
#include "store/raw_file_state.hpp"
#include "store/schema.hpp"

namespace msprof {

// A row of `import_log`: an event counted in the verdict.
struct ImportLogRow {
  std::string severity;  // "partial", "without" or "note"
  std::string category;  // "skipped record", "missing .done", "imported", ...
  std::string kind;
  std::string file;
  std::string reason;
  std::int64_t count = 0;
  std::int64_t first_offset = kNull;  // byte offset in the file, if known
  std::string detail;
  std::string id;  // from findings.def; empty for a file that was read
};

// Writes a new store, which appears under its name only with publish(). Rows are collected here and
// inserted by another thread.
class TraceDbWriter {
 public:
  // `raw_bytes`: approximate size of the raw data; large stores get large pages.
  explicit TraceDbWriter(const std::filesystem::path& target, std::uint64_t raw_bytes = 0);
  ~TraceDbWriter();
  TraceDbWriter(const TraceDbWriter&) = delete;
  TraceDbWriter& operator=(const TraceDbWriter&) = delete;

  template <typename Row>
  void add(const Row& row) {
    constexpr std::size_t kColumns = Row::kColumns.size();
    static_assert(sizeof(Row) == sizeof(std::int64_t) * kColumns);
    constexpr std::size_t kTable = table_index<Row>(std::make_index_sequence<kTables>());
    std::memcpy(tables_->add_row(kTable), &row, sizeof(Row));
  }

  // Returns the id of a text in the table `name`; equal texts have equal ids. Texts of raw files
  // can hold any bytes: invalid UTF-8 becomes U+FFFD, and a NUL ends the text.
  std::int64_t name_id(std::string_view text);
  // Number of texts repaired in this way, in all tables.
  std::int64_t repaired_texts() const { return repaired_texts_; }

  void add(const RawFileState& file);
  void add(const ImportLogRow& row);
  void set_meta(std::string_view key, std::string_view value);

  // Returns a database in which everything added so far can be read, on the calling thread; valid
  // until publish(). Meanwhile add() may be called for tables that are not being read.
  const Database& readable();
  // Creates an index once all rows of its table are added. publish() creates the others.
  void add_index(const StoreIndex& index);

  void publish();

 private:
  static constexpr std::size_t kTables = std::tuple_size_v<BulkRows>;
  struct Statements;

  template <typename Row, std::size_t... kIndex>
  static constexpr std::size_t table_index(std::index_sequence<kIndex...>) {
    static_assert((std::is_same_v<Row, std::tuple_element_t<kIndex, BulkRows>> || ...),
                  "a row of an unknown table (see schema.hpp)");
    return ((std::is_same_v<Row, std::tuple_element_t<kIndex, BulkRows>> ? kIndex : 0) + ...);
  }

  std::string stored_text(std::string_view text);

  TemporaryFile temporary_;  // first member: removed even if creating the schema fails
  Database db_;
  // Connections for reading. readable() opens a new one each time, because a statement of an
  // earlier one may still see the file as it was.
  std::deque<Database> readers_;
  std::unique_ptr<Statements> statements_;
  std::unique_ptr<BulkTables> tables_;
  std::set<std::string_view> indexes_;
  TextMap<std::int64_t> name_ids_;  // keyed by the original text
  std::int64_t last_name_id_ = 0;
  std::int64_t repaired_texts_ = 0;
};

}  // namespace msprof
