// A csv product read back: quoted cells, tabs behind times taken off. For the CANN golden tests.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace msprof::test {

struct CsvTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;

  // Throws for a column that is not there.
  std::size_t column(std::string_view name) const;
  const std::string& cell(std::size_t row, std::string_view name) const;
  // One text a row, "a|b|c", of the columns named; all cells of the row when none is.
  std::vector<std::string> cells(const std::vector<std::string>& names = {}) const;
  std::vector<std::string> column_cells(std::string_view name) const {
    return cells({std::string(name)});
  }
};

CsvTable parse_csv(std::string_view text);

// Names in `folder` of the form <stem>_<14 digits>.<extension>, or <stem>_slice_<n>_<14 digits>.…
std::vector<std::filesystem::path> products_named(const std::filesystem::path& folder,
                                                  std::string_view stem,
                                                  std::string_view extension = "csv");
// The only one of them; throws when there is none or more than one.
CsvTable read_product(const std::filesystem::path& folder, std::string_view stem);

}  // namespace msprof::test
