// Changes of a run: two listings of its folder compared, be that on this machine or on a
// board. For the hosts. In the run folder lie "tree", around the copy of the project, and
// "profiling", the output folder that acl.json names.
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

// Entry of a tree, with what changes when it is written. A board gives whole seconds.
struct ListedFile {
  EntryKind kind = EntryKind::file;
  bool special = false;  // neither file, folder nor link
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_seconds = 0;
  std::int64_t ctime_seconds = 0;  // 0 where the way of listing has none
  std::uint64_t inode = 0;         // 0 likewise
  std::uint32_t mode = 0;
  std::int64_t mtime_part_ns = 0;  // beyond the seconds; 0 likewise
  std::int64_t ctime_part_ns = 0;

  bool is_file() const { return kind == EntryKind::file && !special; }
  bool is_folder() const { return kind == EntryKind::folder && !special; }
  bool operator==(const ListedFile&) const = default;
};

struct TreeListing {
  std::map<std::string, ListedFile> files;  // by path relative to the listed folder, without "./"
  std::uint64_t refused = 0;                // names that cannot be ours: control characters, ".."
  std::string trouble;                      // about folders that could not be read, printable
};

// Lists everything below a folder of this machine that can be read; links are not followed.
TreeListing list_tree(const std::filesystem::path& root);

// Paths are relative to the run folder.
struct RunChanges {
  std::vector<std::string> captures;  // "profiling/JOB…", or where an application put its own
  std::vector<std::string> files;     // made or changed, outside of captures
  std::vector<std::string> deleted;   // of the tree
  std::uint64_t special = 0;          // new links, pipes, sockets outside of captures
};

// Compares. Of captures of one name the first counts; what is in the others are files. `touched`
// are files of the tree that are newer than the start of the run by the board's clock and were not
// before it: a change within the second that sizes and times do not show.
RunChanges compare_run(const TreeListing& before, const TreeListing& after,
                       const std::set<std::string>& touched = {});

// Maps such a path into the folder of results, `project` being the name of the project's
// folder: files of the project keep their paths, what lies above it gets a folder.
std::string fetched_name(const std::string& path, const std::string& project);

// True if `path` is `folder` or lies in it.
bool is_below(std::string_view path, std::string_view folder);

// Likewise for one of `folders`, which may be as many as a board likes to list.
using PathSet = std::set<std::string, std::less<>>;
bool is_below_any(std::string_view path, const PathSet& folders);

}  // namespace msprof
