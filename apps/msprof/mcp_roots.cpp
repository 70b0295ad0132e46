// The folders that `msprof mcp` may read.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>

#include "base/error.hpp"
#include "base/folder_listing.hpp"
#include "base/text.hpp"
#include "msprof/mcp_tools.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostFiles = 200'000;  // below a folder that is checked for links
constexpr int kMostLevels = 40;

}  // namespace

Roots::Roots(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    if (error || !fs::is_directory(real, error))
      throw Error(Exit::usage, fmt::format("--root: {} is not a folder", folder));
    folders_.push_back(real);
  }
}

std::string Roots::text() const {
  std::string text;
  for (const fs::path& folder : folders_) text += (text.empty() ? "" : ", ") + folder.string();
  return text;
}

bool Roots::contains(const fs::path& path) const {
  return std::any_of(folders_.begin(), folders_.end(), [&](const fs::path& root) {
    return std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
  });
}

fs::path Roots::resolve(const std::string& text) const {
  std::vector<fs::path> candidates;
  if (fs::path(text).is_absolute()) candidates.emplace_back(text);
  if (candidates.empty())
    for (const fs::path& root : folders_) candidates.push_back(root / text);
  bool is_inside = false;
  for (const fs::path& candidate : candidates) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(candidate, error);
    if (error || !contains(real)) continue;
    is_inside = true;
    if (fs::exists(real, error)) return real;
  }
  const std::string shown = shorten(printable(text), 200);
  // The same for each path outside, whether or not it exists.
  if (!is_inside) {
    throw Error(Exit::usage, fmt::format("{} is outside of the folders that may be read: {}", shown,
                                         this->text()));
  }
  throw Error(Exit::nothing_to_do,
              fmt::format("{} does not exist; the tool list lists the captures", shown));
}

fs::path Roots::find_way_out(const fs::path& folder) const {
  std::size_t files = 0;
  std::vector<std::pair<fs::path, int>> open = {{folder, 0}};
  std::set<fs::path> entered;  // targets of links: a cycle is searched once
  while (!open.empty()) {
    const auto [below, level] = std::move(open.back());
    open.pop_back();
    for (const FolderEntry& entry : list_folder(below).entries) {
      check();
      const fs::path path = below / entry.name;
      std::error_code error;
      const fs::file_type type = entry.type == fs::file_type::unknown
                                     ? fs::symlink_status(path, error).type()
                                     : entry.type;
      if (++files > kMostFiles || level > kMostLevels) {
        throw Error(Exit::usage,
                    fmt::format("{} contains too many files: name one capture", folder.string()));
      }
      if (type == fs::file_type::directory) open.emplace_back(path, level + 1);
      if (type != fs::file_type::symlink) continue;
      const fs::path target = fs::weakly_canonical(path, error);
      if (error || !contains(target)) return path;
      if (fs::is_directory(target, error) && entered.insert(target).second)
        open.emplace_back(target, level + 1);
    }
  }
  return {};
}

}  // namespace msprof
