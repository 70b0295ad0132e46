// Part and PartWriter read and write a rank summary (a "part"): a SQLite file with the results of
// one rank or, after merging, of many. The same rows always give the same bytes.
//
// The file is sealed: user_version is the CRC-32 of the file with these four bytes set to zero, so
// that damage is detected before any row is used.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/atomic_file.hpp"
#include "cluster/op_total.hpp"
#include "cluster/part_texts.hpp"
#include "cluster/rows.hpp"
#include "store/bulk_tables.hpp"
#include "store/database.hpp"

namespace msprof::cluster {

// Increment if a table or the contents of `meta` change.
inline constexpr int kPartVersion = 1;

struct PartFacts {
  // False: the part has collective_total, collective and collective_host instead of
  // rank_collective, and its packet rows have no sequence.
  bool has_detail = true;
  // Expected ranks in the manifest, "0-63,70"; empty without a manifest.
  std::string expected_ranks;
};

class PartWriter {
 public:
  // `names` are all texts of the part, sorted and unique; the id of names[i] is i + 1.
  PartWriter(const std::filesystem::path& target, const PartTexts& names);
  ~PartWriter();
  PartWriter(const PartWriter&) = delete;
  PartWriter& operator=(const PartWriter&) = delete;

  // Adds a row and assigns its id, starting at 1. Tables must be written in the order of PartRows,
  // and the rows of a table in key order.
  template <typename Row>
  void add(const Row& row) {
    static_assert(sizeof(Row) == sizeof(std::int64_t) * Row::kColumns.size());
    constexpr std::size_t kTable = table_index<Row>(std::make_index_sequence<kTables>());
    std::int64_t* cells = tables_->add_row(kTable);
    std::memcpy(cells, &row, sizeof(Row));
    cells[0] = ++rows_[kTable];
  }
  // Adds an operator, after all other rows and in order of (name, type, unit).
  void add(const OpTotal& total);

  // Seals the file and moves it to its target. Throws Error(cannot_write). Set `is_to_stay` to
  // false for a temporary file, which is not flushed to disk.
  void publish(const PartFacts& facts, bool is_to_stay = true);

 private:
  static constexpr std::size_t kTables = std::tuple_size_v<PartRows>;
  template <typename Row, std::size_t... kIndex>
  static constexpr std::size_t table_index(std::index_sequence<kIndex...>) {
    return ((std::is_same_v<Row, std::tuple_element_t<kIndex, PartRows>> ? kIndex : 0) + ...);
  }

  TemporaryFile temporary_;
  Database db_;
  std::unique_ptr<BulkTables> tables_;
  std::optional<Statement> op_total_;
  std::int64_t rows_[kTables] = {};
};

class Part {
 public:
  // Opens a part. Throws Error(partial_data) with the path and the reason if the file is missing,
  // not a part, of another version or damaged. `is_known` skips the checksum if it was verified
  // before.
  static Part open(const std::filesystem::path& path, bool is_known = false);

  const Database& db() const { return db_; }
  const std::filesystem::path& path() const { return path_; }
  const PartFacts& facts() const { return facts_; }
  // All texts in order; the index is id - 1.
  PartTexts names() const;
  std::vector<MemberRow> members() const;
  // Returns the error to throw for inconsistent rows.
  Error damaged(std::string_view what) const;

 private:
  Part(Database db, std::filesystem::path path) : db_(std::move(db)), path_(std::move(path)) {}
  Database db_;
  std::filesystem::path path_;
  PartFacts facts_;
};

// Iterates over the operators of a part in key order.
class OpTotals {
 public:
  explicit OpTotals(const Part& part);
  bool next();
  const OpTotal& operator*() const { return total_; }
  const OpTotal* operator->() const { return &total_; }

 private:
  const Part& part_;
  Statement read_;
  OpTotal total_;
};

// Returns true if the file has the header of a part, for verbs that accept a store or a part; false
// if it is not a SQLite file. Throws Error(partial_data) if it cannot be read.
bool is_part(const std::filesystem::path& path);

}  // namespace msprof::cluster
