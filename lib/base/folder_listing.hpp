// list_folder(): lists a folder, or returns why it cannot. For every module: nothing else reads the
// names of a folder, because a folder that cannot be listed must not pass for an empty one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace msprof {

struct FolderEntry {
  std::string name;
  // Of the entry itself, a link is not followed. Unknown where the file system does not tell.
  std::filesystem::file_type type = std::filesystem::file_type::unknown;
};

struct FolderListing {
  std::vector<FolderEntry> entries;  // sorted by name, without "." and ".."
  int error_number = 0;              // else `entries` is what was read before the error

  // True if there is no such folder: nothing of that name, a file, or a link to itself.
  bool is_absent() const;
  // True if the folder may hold other names than those of `entries`.
  bool is_cut() const { return error_number != 0 && !is_absent(); }
};

// At most `limit` entries, whichever come first.
FolderListing list_folder(const std::filesystem::path& folder,
                          std::size_t limit = std::numeric_limits<std::size_t>::max());

// The names in a folder, sorted; empty if there is no such folder. Throws Error(partial_data) with
// a sentence if the folder cannot be listed.
std::vector<std::string> list_names(const std::filesystem::path& folder);

// The paths that match a pattern, sorted, as glob(3) with `flags`. Throws Error(partial_data) with
// a sentence if a folder that may hold some cannot be listed.
std::vector<std::string> list_matches(const std::string& pattern, int flags);

// "cannot list DIR: Permission denied".
std::string listing_problem(const std::filesystem::path& folder, int error_number);

}  // namespace msprof
