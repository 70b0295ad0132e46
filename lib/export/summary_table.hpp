// SummaryTable: a table of a profile, written as CSV, JSON or for the terminal.
// To add one: implement this in a file under summary/ and name it in products.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "export/document.hpp"
#include "session/session.hpp"
#include "store/database.hpp"

namespace msprof {

// Takes the cells of a table one by one, a row at a time.
class TableWriter {
 public:
  virtual ~TableWriter() = default;
  virtual void begin(std::span<const std::string_view> columns) = 0;
  virtual void text(std::string_view value) = 0;
  // Decimal digits as they are to be printed, in CSV and JSON alike.
  virtual void number(std::string_view digits) = 0;
  virtual void end_row() = 0;
  virtual void end() = 0;

  void number(std::int64_t value);
  // A value that does not exist.
  void missing() { text("N/A"); }
  void number_or_missing(const std::optional<std::string>& digits);
  void number_or_missing(std::optional<std::int64_t> value);
};

class SummaryTable {
 public:
  virtual ~SummaryTable() = default;
  virtual std::string_view name() const = 0;   // "op_summary"
  virtual std::string_view title() const = 0;  // above it in the terminal
  virtual std::string_view help() const = 0;
  virtual Dialect dialect() const = 0;
  virtual std::span<const std::string_view> columns() const = 0;
  // Its files, in order; none where the data does not exist.
  virtual std::vector<Document> documents(const Database& db) const = 0;
  virtual void write(const Database& db, const Document& document, TableWriter& out) const = 0;
  // False for what is only shown.
  virtual bool is_exported() const { return true; }
  // The columns by which `show --top` sorts, where rows are not already sorted: by the first one
  // that has a number.
  virtual std::vector<std::size_t> heat_columns() const { return {}; }
};

}  // namespace msprof
