#include "export/table/table_reader.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "export/products.hpp"
#include "export/table/table_chunks.hpp"

namespace msprof {

namespace {

constexpr std::string_view kMissing = "N/A";

}  // namespace

std::string field_name(std::string_view column) {
  std::string name = lower_ascii(trim(column.substr(0, column.find('('))));
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

TableReader::TableReader(std::vector<WantedField> wanted, OnRow on_row)
    : wanted_(std::move(wanted)), on_row_(std::move(on_row)) {}

void TableReader::begin(std::span<const std::string> columns) {
  columns_.assign(wanted_.size(), SIZE_MAX);
  is_read_.assign(columns.size(), false);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto at =
        std::find_if(wanted_.begin(), wanted_.end(),
                     [name = field_name(columns[i])](const auto& one) { return one.name == name; });
    if (at == wanted_.end()) continue;
    // If two columns have the same name, the first is read.
    std::size_t& column = columns_[static_cast<std::size_t>(at - wanted_.begin())];
    if (column != SIZE_MAX) continue;
    column = i;
    is_read_[i] = true;
  }
  values_.resize(wanted_.size());
  texts_.resize(wanted_.size());
}

void TableReader::row(std::span<const Cell> cells) {
  for (std::size_t i = 0; i < columns_.size(); ++i)
    read(columns_[i] < cells.size() ? cells[columns_[i]] : Cell(), i);
  on_row_(values_);
}

void TableReader::read(const Cell& cell, std::size_t place) {
  TableValue& value = values_[place];
  value.cell = cell;
  value.number = cell_number(cell);
  value.text = {};
  if (cell.form == CellForm::missing) {
    value.text = kMissing;
  } else if (cell.form == CellForm::text) {
    value.text = cell.view();
  } else if (!wanted_[place].is_number) {
    texts_[place].clear();
    append_cell(texts_[place], cell);
    value.text = texts_[place];
  }
}

std::unique_ptr<SummaryTable> find_table(const Database& db, std::string_view name) {
  for (auto& table : summary_tables(db)) {
    if (table->name() == name) return std::move(table);
  }
  return nullptr;
}

std::vector<std::string> field_names(const Database& db, const SummaryTable& table) {
  std::vector<std::string> fields;
  for (const std::string& header : table.columns(db)) fields.push_back(field_name(header));
  return fields;
}

std::vector<std::string> unit_load_fields(const Database& db, const SummaryTable& table) {
  std::vector<std::string> fields;
  for (const std::string& header : table.unit_loads(db)) fields.push_back(field_name(header));
  return fields;
}

bool read_table(const Database& db, std::string_view name, const std::vector<WantedField>& wanted,
                const TableReader::OnRow& on_row) {
  const auto table = find_table(db, name);
  if (table == nullptr) return false;
  const auto headers = table->columns(db);
  TableReader reader(wanted, on_row);
  reader.begin(headers);
  bool has_files = false;
  table->visit_files(db, [&](const OutputFile& output_file) {
    has_files = true;
    write_table(db, *table, output_file, reader);
    return true;
  });
  return has_files;
}

}  // namespace msprof
