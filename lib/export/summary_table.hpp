// SummaryTable: a table of a profile, written as CSV, JSON or to the terminal. To add one,
// implement this class in a file under summary/ and list it in products.def.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/row_sink.hpp"
#include "export/product_info.hpp"
#include "export/scope/output_file.hpp"
#include "session/session.hpp"
#include "store/database.hpp"

namespace msprof {

struct TableInfo {
  std::string_view name;   // "op_summary"
  std::string_view title;  // heading in the terminal
  std::string_view help;
  std::string_view exists = {};  // SQL: returns a row if there is data to print
  RawNeeds needs = {};
  bool is_shown = false;    // printed by `show`: few enough rows for a terminal
  bool is_exported = true;  // false: only shown
  bool is_default = true;   // false: exported only if named
  // Columns of unit loads (store/unit_loads.hpp); modelled if those of the capture are.
  std::span<const std::string_view> unit_loads = {};
  std::string_view group = {};  // as in LayerInfo
  Dialect dialect = Dialect::cann;
};

// A part of a table: writes its rows.
using TableChunk = std::function<void(const Database&, RowBuilder&)>;

class SummaryTable {
 public:
  explicit SummaryTable(const TableInfo& info) : info_(info) {}
  virtual ~SummaryTable() = default;
  const TableInfo& info() const { return info_; }
  std::string_view name() const { return info_.name; }
  bool is_exported() const { return info_.is_exported; }
  // May depend on the capture.
  virtual std::vector<std::string> columns(const Database& db) const = 0;
  // Returns its files in order; empty if there is no data.
  virtual std::vector<OutputFile> output_files(const Database& db) const = 0;
  // Calls `visit` for each of its files, in order, until it returns false.
  virtual void visit_files(const Database& db, const FileVisitor& visit) const {
    for (const OutputFile& file : output_files(db))
      if (!visit(file)) return;
  }
  bool has_files(const Database& db) const {
    bool has_any = false;
    visit_files(db, [&](const OutputFile&) {
      has_any = true;
      return false;
    });
    return has_any;
  }
  virtual void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const;
  // The same in chunks, which write_table() makes on several threads, for tables with many rows. A
  // table implements write() or chunks().
  virtual std::vector<TableChunk> chunks(const Database& db, const OutputFile& output_file) const;
  // Returns the columns by which `show --top` sorts unless rows are already sorted; the first one
  // that contains numbers is used.
  virtual std::vector<std::size_t> heat_columns() const { return {}; }
  // Returns its columns of unit loads (store/unit_loads.hpp). Overridden if they depend on the
  // capture.
  virtual std::vector<std::string> unit_loads(const Database&) const {
    return {info_.unit_loads.begin(), info_.unit_loads.end()};
  }

 protected:
  // output_files() of a table that implements visit_files().
  std::vector<OutputFile> collect_files(const Database& db) const {
    std::vector<OutputFile> files;
    visit_files(db, [&](const OutputFile& file) {
      check_file_count(files.size() + 1);
      files.push_back(file);
      return true;
    });
    return files;
  }

 private:
  TableInfo info_;
};

}  // namespace msprof
