#include "docs/include_table.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace msprof::test {

namespace {

constexpr std::string_view kLastColumn = "may include";

// Returns the cells of a row of a table, trimmed; empty for other lines.
std::vector<std::string_view> cells_of(std::string_view line) {
  line = trim(line);
  if (line.size() < 2 || line.front() != '|' || line.back() != '|') return {};
  std::vector<std::string_view> cells;
  for (const std::string_view cell : split(line.substr(1, line.size() - 2), '|'))
    cells.push_back(trim(cell));
  return cells;
}

// Returns the path in an include of a repository file; empty for other lines.
std::string_view included_path(std::string_view line) {
  line = trim(line);
  if (!line.starts_with('#')) return {};
  line = trim(line.substr(1));
  constexpr std::string_view kInclude = "include";
  if (!line.starts_with(kInclude)) return {};
  line = trim(line.substr(kInclude.size()));
  if (line.size() < 2 || line.front() != '"') return {};
  return line.substr(1, line.find('"', 1) - 1);
}

std::string first_folder(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == path.npos ? std::string() : std::string(path.substr(0, slash));
}

}  // namespace

IncludeTable::IncludeTable(std::string_view markdown) {
  bool is_in_table = false;
  for (const std::string_view line : split(markdown, '\n')) {
    const auto cells = cells_of(line);
    if (cells.empty()) {
      is_in_table = false;
      continue;
    }
    if (cells.back() == kLastColumn) is_in_table = true;
    if (!is_in_table || cells.back() == kLastColumn || cells.front().starts_with("--")) continue;
    std::set<std::string>& allowed = allowed_[std::string(cells.front())];
    for (const std::string_view name : split(cells.back(), ',')) {
      const std::string folder(trim(name));
      if (folder == "–") continue;
      if (!allowed_.contains(folder) || folder == cells.front())
        wrong_rows_.push_back(
            fmt::format("{} may include {}, which has no row above it", cells.front(), folder));
      allowed.insert(folder);
    }
  }
}

std::set<std::string> IncludeTable::folders() const {
  std::set<std::string> folders;
  for (const auto& [folder, allowed] : allowed_) folders.insert(folder);
  return folders;
}

std::vector<std::string> IncludeTable::wrong_includes(const std::string& file,
                                                      std::string_view source) const {
  constexpr std::string_view kLib = "lib/";
  const std::string own = first_folder(std::string_view(file).substr(kLib.size()));
  const auto row = allowed_.find(own);
  std::vector<std::string> wrong;
  std::size_t number = 0;
  for (const std::string_view line : split(source, '\n')) {
    ++number;
    const std::string_view path = included_path(line);
    const std::string folder = first_folder(path);
    if (folder == own || !allowed_.contains(folder)) continue;
    if (row == allowed_.end() || !row->second.contains(folder))
      wrong.push_back(fmt::format("{}:{}: {} may not include \"{}\"", file, number, own, path));
  }
  return wrong;
}

}  // namespace msprof::test
