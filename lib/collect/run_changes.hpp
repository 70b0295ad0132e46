// Changes made by a run: compares two listings of its folder, on this machine or on a board. Used
// by the hosts. The run folder contains "tree", the parent of the copy of the project, and
// "profiling", the output folder that acl.json specifies.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collect/project.hpp"

namespace msprof {

inline constexpr std::string_view kTreeName = "tree";
inline constexpr std::string_view kOutputName = "profiling";
// Folder for files that the application wrote above the project.
inline constexpr std::string_view kParentFolder = "parent-folder";

// Entry of a tree, with the attributes that a write changes. On a board, times are in whole
// seconds.
struct ListedFile {
  EntryKind kind = EntryKind::file;
  bool is_special = false;  // neither file, folder nor link
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_seconds = 0;
  std::int64_t ctime_seconds = 0;  // 0 if the listing method does not report it
  std::uint64_t inode = 0;         // 0 if unknown
  std::uint32_t mode = 0;
  std::int64_t mtime_part_ns = 0;  // fraction of a second; 0 if unknown
  std::int64_t ctime_part_ns = 0;

  bool is_file() const { return kind == EntryKind::file && !is_special; }
  bool is_folder() const { return kind == EntryKind::folder && !is_special; }
  bool operator==(const ListedFile&) const = default;
};

struct TreeListing {
  std::map<std::string, ListedFile> files;  // by path relative to the listed folder, without "./"
  std::uint64_t refused = 0;                // rejected names: control characters, ".."
  std::string trouble;                      // printable message about unreadable folders
};

// Lists everything readable below a local folder, without following links.
TreeListing list_tree(const std::filesystem::path& root);

// Paths are relative to the run folder.
struct RunChanges {
  std::vector<std::string> captures;  // "profiling/JOB…", or in a folder of the application
  std::vector<std::string> files;     // created or changed, outside captures
  std::vector<std::string> deleted;   // deleted files of the tree
  std::uint64_t special = 0;          // new links, pipes, sockets outside captures
};

// Compares two listings. If captures have the same name, the first one is used, and the contents of
// the others are treated as files. `touched` are files of the tree modified after the start of the
// run by the board's clock; finds changes within a second, which sizes and times do not show.
RunChanges compare_run(const TreeListing& before, const TreeListing& after,
                       const std::set<std::string>& touched = {});

// Maps a path of RunChanges to the folder of results; `project` is the name of the project's
// folder. Files of the project keep their paths, files above it are put into kParentFolder.
std::string fetched_name(const std::string& path, const std::string& project);

// Returns true if `path` is `folder` or inside it.
bool is_below(std::string_view path, std::string_view folder);

// The same for any of `folders`; fast for large listings from a board.
using PathSet = std::set<std::string, std::less<>>;
bool is_below_any(std::string_view path, const PathSet& folders);

}  // namespace msprof
