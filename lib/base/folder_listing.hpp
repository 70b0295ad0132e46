// list_folder(): lists a folder or returns the reason why it cannot. All modules list folders
// through this header, so that an unreadable folder is never mistaken for an empty one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace msprof {

struct FolderEntry {
  std::string name;
  // Folder, regular file or link. Unknown for special files, and if the file system does not report
  // it.
  std::filesystem::file_type type = std::filesystem::file_type::unknown;
};

struct FolderListing {
  std::vector<FolderEntry> entries;  // sorted by name, without "." and ".."
  int error_number = 0;              // if not 0, `entries` holds the names read before the error

  // True if the folder does not exist: missing, a file, or a link loop.
  bool is_absent() const;
  // True if the folder may contain names that are not in `entries`.
  bool is_cut() const { return error_number != 0 && !is_absent(); }
};

// Lists at most `limit` entries, in the order that readdir() returns them.
FolderListing list_folder(const std::filesystem::path& folder,
                          std::size_t limit = std::numeric_limits<std::size_t>::max());

// Returns the names in a folder, sorted; empty if the folder does not exist. Throws
// Error(partial_data) if it cannot be listed.
std::vector<std::string> list_names(const std::filesystem::path& folder);

// Returns the paths that match a pattern, as glob(3) with `flags`. Throws Error(partial_data) if a
// folder that may hold matches cannot be listed.
std::vector<std::string> list_matches(const std::string& pattern, int flags);

// Returns "cannot list DIR: Permission denied".
std::string listing_problem(const std::filesystem::path& folder, int error_number);

}  // namespace msprof
