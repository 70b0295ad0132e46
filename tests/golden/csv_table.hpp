// A csv product read back, with quotes and the tabs after times removed. For the CANN golden tests.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace msprof::test {

struct CsvTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;

  // Throws if there is no such column.
  std::size_t column(std::string_view name) const;
  const std::string& cell(std::size_t row, std::string_view name) const;
  // One text per row, "a|b|c", of the named columns; of all columns if `names` is empty.
  std::vector<std::string> cells(const std::vector<std::string>& names = {}) const;
  std::vector<std::string> column_cells(std::string_view name) const {
    return cells({std::string(name)});
  }
};

CsvTable parse_csv(std::string_view text);

// Files in `folder` named <stem>_<14 digits>.<extension> or <stem>_slice_<n>_<14 digits>.…
std::vector<std::filesystem::path> products_named(const std::filesystem::path& folder,
                                                  std::string_view stem,
                                                  std::string_view extension = "csv");
// Reads the only file found by products_named(); throws unless there is exactly one.
CsvTable read_product(const std::filesystem::path& folder, std::string_view stem);

}  // namespace msprof::test
