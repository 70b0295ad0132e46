// IncludeTable: which folders of lib a folder may include, as the table in lib/ARCHITECTURE.md
// says.
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
  // Returns, for rows that name a folder without an earlier row, what is wrong: a sentence each.
  const std::vector<std::string>& wrong_rows() const { return wrong_rows_; }
  // Returns, for each include of `source` that its folder may not make, "lib/a/x.cpp:3: …".
  // `file` is the path in the repository, below lib.
  std::vector<std::string> wrong_includes(const std::string& file, std::string_view source) const;

 private:
  std::map<std::string, std::set<std::string>> allowed_;
  std::vector<std::string> wrong_rows_;
};

}  // namespace msprof::test
