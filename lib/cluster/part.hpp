// Part and PartWriter: a partial result as a SQLite file: what one rank comes to, or what parts
// came to when they were merged. The same rows give the same bytes. For everything in cluster/.
//
// The file is sealed: its user_version is the CRC-32 of the file with those four bytes as zeros, so
// that a damaged part is recognized before a row of it is taken.
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

// Raised whenever a table changes, or what `meta` must say.
inline constexpr int kPartVersion = 1;

// Facts about a part as a whole.
struct PartFacts {
  // False: collective_total, collective and collective_host stand in the place of rank_collective,
  // and packet rows have no sequence.
  bool has_detail = true;
  // Rank numbers that should be there, as a manifest said: "0-63,70"; empty: nobody said.
  std::string expected_ranks;
};

class PartWriter {
 public:
  // `names`: every text of the part, sorted and each once; the id of names[i] is i + 1.
  PartWriter(const std::filesystem::path& target, const PartTexts& names);
  ~PartWriter();
  PartWriter(const PartWriter&) = delete;
  PartWriter& operator=(const PartWriter&) = delete;

  // Rows come table after table in the order of PartRows, each in the order of its key, and get
  // their ids here, from 1.
  template <typename Row>
  void add(const Row& row) {
    static_assert(sizeof(Row) == sizeof(std::int64_t) * Row::kColumns.size());
    constexpr std::size_t kTable = table_index<Row>(std::make_index_sequence<kTables>());
    std::int64_t* cells = tables_->add_row(kTable);
    std::memcpy(cells, &row, sizeof(Row));
    cells[0] = ++rows_[kTable];
  }
  // Behind all other rows, in order of (name, type, unit).
  void add(const OpTotal& total);

  // Seals the file and gives it its name. Throws Error(cannot_write). One that is only read again
  // by the same program need not be on the disk before.
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
  // Throws Error(partial_data) with a sentence that names the file and says what is wrong: not
  // there, no part, of another version, damaged. `is_known`: its checksum has been compared before.
  static Part open(const std::filesystem::path& path, bool is_known = false);

  const Database& db() const { return db_; }
  const std::filesystem::path& path() const { return path_; }
  const PartFacts& facts() const { return facts_; }
  // All texts, by id - 1: in order.
  PartTexts names() const;
  std::vector<MemberRow> members() const;
  // Error to throw where rows contradict each other.
  Error damaged(std::string_view what) const;

 private:
  Part(Database db, std::filesystem::path path) : db_(std::move(db)), path_(std::move(path)) {}
  Database db_;
  std::filesystem::path path_;
  PartFacts facts_;
};

// The operators of a part, in order of their keys.
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

// True if the file begins as parts do: decides between a store and a part, for verbs that take
// both. False for what cannot be read.
bool is_part(const std::filesystem::path& path);

}  // namespace msprof::cluster
