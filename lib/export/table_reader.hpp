// TableReader: the rows of a summary table as values, one at a time, none kept. For analyses, whose
// numbers of op_summary are those of its CSV.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "export/summary_table.hpp"

namespace msprof {

// A column as rules and analyses call it: lower case, without its unit, '_' for blanks:
// "task_duration" for "Task Duration(us)". Source: cann_device.md 22.
std::string field_name(std::string_view column);

struct TableValue {
  std::string text;              // as in the CSV; "N/A" where there is none
  std::optional<double> number;  // of a cell that is a number
};

class TableReader : public RowSink {
 public:
  // A value a wanted column, in that order; valid during the call. N/A where a row ends early.
  using OnRow = std::function<void(std::span<const TableValue> values)>;

  // `wanted`: fields; those that the table does not have are N/A in every row.
  TableReader(std::vector<std::string> wanted, OnRow on_row);

  using RowSink::number;
  void begin(std::span<const std::string> columns) override;
  void text(std::string_view value) override;
  void number(std::string_view digits) override;
  void end_row() override;
  void end() override {}

 protected:
  bool ignores_cell() override;

 private:
  TableValue* next_value();

  std::vector<std::string> wanted_;
  OnRow on_row_;
  std::vector<std::size_t> place_of_column_;  // in values_; wanted_.size(): not wanted
  std::vector<TableValue> values_;
  std::size_t column_ = 0;
};

// The table `name` of this capture's kind; null where there is none.
std::unique_ptr<SummaryTable> find_table(const Database& db, std::string_view name);
// Its columns as fields.
std::vector<std::string> fields_of(const Database& db, const SummaryTable& table);
// Those of them that hold unit loads.
std::vector<std::string> unit_load_fields(const Database& db, const SummaryTable& table);

// Every row of all documents of the table `name` of this capture. False where it has no such table,
// or no data for it.
bool read_table(const Database& db, std::string_view name, const std::vector<std::string>& wanted,
                const TableReader::OnRow& on_row);

}  // namespace msprof
