#include "collect/run_changes.hpp"

#include <cerrno>

#include "base/folder_listing.hpp"
#include "base/text.hpp"
#include "collect/arrival.hpp"
#include "collect/file_tree.hpp"

namespace msprof {

namespace {

std::string_view base_name(std::string_view path) {
  const auto at = path.rfind('/');
  return at == std::string_view::npos ? path : path.substr(at + 1);
}

// An application's own folders may have similar names: a folder that is not directly in the output
// folder must also look like a capture, and be new.
bool is_capture(const std::string& path, const TreeListing& before, const TreeListing& after) {
  if (!is_capture_name(base_name(path))) return false;
  if (path == std::string(kOutputName) + '/' + std::string(base_name(path))) return true;
  const bool ours = is_below(path, kTreeName) || is_below(path, kOutputName);
  if (!ours || before.files.contains(path)) return false;
  return after.files.contains(path + "/data") || after.files.contains(path + "/info.json.0");
}

// Files that CANN's runtime writes for its collector, next to the captures listed in them.
bool is_collector_record(std::string_view path) {
  return is_below(path, kOutputName) && path.ends_with("_profiling_output_record");
}

std::vector<std::string> find_captures(const TreeListing& before, const TreeListing& after) {
  PathSet captures;
  std::set<std::string_view> names;
  // Sorted by path, so a folder precedes its contents.
  for (const auto& [path, file] : after.files) {
    if (!file.is_folder() || !is_capture(path, before, after) || is_below_any(path, captures))
      continue;
    if (names.insert(base_name(path)).second) captures.insert(path);
  }
  return {captures.begin(), captures.end()};
}

ListedFile listed(const struct stat& status) {
  ListedFile file;
  file.is_special =
      !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode) && !S_ISLNK(status.st_mode);
  if (S_ISDIR(status.st_mode)) file.kind = EntryKind::folder;
  if (S_ISLNK(status.st_mode)) file.kind = EntryKind::link;
  file.size_bytes = static_cast<std::uint64_t>(status.st_size);
  file.mtime_seconds = status.st_mtim.tv_sec;
  file.mtime_part_ns = status.st_mtim.tv_nsec;
  file.ctime_seconds = status.st_ctim.tv_sec;
  file.ctime_part_ns = status.st_ctim.tv_nsec;
  file.inode = status.st_ino;
  file.mode = status.st_mode & ALLPERMS;
  return file;
}

}  // namespace

TreeListing list_tree(const std::filesystem::path& root) {
  TreeListing listing;
  const auto note = [&](const std::filesystem::path& path, const struct stat& status) {
    listing.files.emplace(path.string(), listed(status));
    return true;
  };
  walk_tree(root, note, [&](const std::filesystem::path& path, int error_number) {
    if (error_number == ENOENT) return;  // the folder does not exist (any more)
    if (!listing.trouble.empty()) listing.trouble += "; ";
    listing.trouble += printable(listing_problem(root / path, error_number));
  });
  return listing;
}

bool is_below(std::string_view path, std::string_view folder) {
  if (!path.starts_with(folder)) return false;
  return path.size() == folder.size() || path[folder.size()] == '/';
}

bool is_below_any(std::string_view path, const PathSet& folders) {
  while (!folders.contains(path)) {
    const auto at = path.rfind('/');
    if (at == std::string_view::npos) return false;
    path = path.substr(0, at);
  }
  return true;
}

RunChanges compare_run(const TreeListing& before, const TreeListing& after,
                       const std::set<std::string>& touched) {
  RunChanges changes;
  changes.captures = find_captures(before, after);
  const PathSet captures(changes.captures.begin(), changes.captures.end());
  for (const auto& [path, file] : after.files) {
    const bool ours = is_below(path, kTreeName) || is_below(path, kOutputName);
    if (!ours || file.is_folder() || is_below_any(path, captures) || is_collector_record(path))
      continue;
    const auto old = before.files.find(path);
    const bool is_new = old == before.files.end();
    if (!is_new && old->second == file && !touched.contains(path)) continue;
    if (file.is_file()) {
      changes.files.push_back(path);
    } else if (is_new || old->second.is_file() || old->second.is_folder()) {
      ++changes.special;
    }
  }
  for (const auto& [path, file] : before.files) {
    if (!file.is_file() || !is_below(path, kTreeName)) continue;
    const auto now = after.files.find(path);
    if (now == after.files.end() || !now->second.is_file()) changes.deleted.push_back(path);
  }
  return changes;
}

std::string fetched_name(const std::string& path, const std::string& project) {
  const std::string copy = std::string(kTreeName) + '/' + project;
  if (path != copy && is_below(path, copy)) return path.substr(copy.size() + 1);
  if (is_below(path, kTreeName)) {
    return std::string(kParentFolder) + "/" + path.substr(kTreeName.size() + 1);
  }
  return path;
}

}  // namespace msprof
