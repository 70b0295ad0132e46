// IncludeTable: the folders of lib that a folder may include, from the table in
// lib/ARCHITECTURE.md.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace msprof::test {

class IncludeTable {
 public:
  // Reads the rows "| folder | what it does | may include |" below the header with that last
  // column.
  explicit IncludeTable(std::string_view markdown);

  // Folders that have a row.
  std::set<std::string> folders() const;
  // Error messages, one sentence per row that names a folder without an earlier row.
  const std::vector<std::string>& wrong_rows() const { return wrong_rows_; }
  // Returns an error, "lib/a/x.cpp:3: …", for each include of `source` that its folder may not
  // make. `file` is the path in the repository, below lib.
  std::vector<std::string> wrong_includes(const std::string& file, std::string_view source) const;

 private:
  std::map<std::string, std::set<std::string>> allowed_;
  std::vector<std::string> wrong_rows_;
};

}  // namespace msprof::test
