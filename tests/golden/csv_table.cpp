#include "golden/csv_table.hpp"

#include <algorithm>
#include <numeric>
#include <regex>
#include <stdexcept>

#include "support/files.hpp"

namespace msprof::test {

namespace {

void strip(std::string& cell) {
  while (!cell.empty() && (cell.back() == '\t' || cell.back() == '\r')) cell.pop_back();
}

}  // namespace

std::size_t CsvTable::column(std::string_view name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) throw std::runtime_error("no column " + std::string(name));
  return static_cast<std::size_t>(found - header.begin());
}

const std::string& CsvTable::cell(std::size_t row, std::string_view name) const {
  return rows.at(row).at(column(name));
}

std::vector<std::string> CsvTable::cells(const std::vector<std::string>& names) const {
  std::vector<std::size_t> columns;
  for (const std::string& name : names) columns.push_back(column(name));
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    if (names.empty()) {
      columns.resize(row.size());
      std::iota(columns.begin(), columns.end(), std::size_t{0});
    }
    std::string line;
    for (const std::size_t at : columns) line += (line.empty() ? "" : "|") + row.at(at);
    lines.push_back(std::move(line));
  }
  return lines;
}

CsvTable parse_csv(std::string_view text) {
  CsvTable table;
  std::vector<std::string> row;
  std::string cell;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (quoted && letter == '"' && text.substr(i + 1, 1) == "\"") {
      cell += text[++i];
    } else if (letter == '"') {
      quoted = !quoted;
    } else if (!quoted && (letter == ',' || letter == '\n')) {
      strip(cell);
      row.push_back(std::move(cell));
      cell.clear();
      if (letter == ',') continue;
      (table.header.empty() ? table.header : table.rows.emplace_back()) = std::move(row);
      row.clear();
    } else {
      cell += letter;
    }
  }
  if (quoted || !cell.empty() || !row.empty()) throw std::runtime_error("csv ends within a row");
  return table;
}

std::vector<std::filesystem::path> products_named(const std::filesystem::path& folder,
                                                  std::string_view stem,
                                                  std::string_view extension) {
  const std::regex pattern(std::string(stem) + "(_slice_[0-9]+)?_[0-9]{14}\\." +
                           std::string(extension));
  std::vector<std::filesystem::path> found;
  for (const std::string& name : names_in(folder)) {
    if (std::regex_match(name, pattern)) found.push_back(folder / name);
  }
  return found;
}

CsvTable read_product(const std::filesystem::path& folder, std::string_view stem) {
  const auto found = products_named(folder, stem);
  if (found.size() != 1) {
    std::string names;
    for (const std::string& name : names_in(folder)) names += " " + name;
    throw std::runtime_error(std::to_string(found.size()) + " products named " + std::string(stem) +
                             " in" + names);
  }
  return parse_csv(read_file(found.front()));
}

}  // namespace msprof::test
