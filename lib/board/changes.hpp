// What a run changed on a board: two listings of its folder compared. For SshHost.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "board/transfer.hpp"

namespace msprof {

inline constexpr std::string_view kTreeName = "tree";         // around the project
inline constexpr std::string_view kOutputName = "profiling";  // that acl.json names

// Paths are relative to the folder of the run.
struct BoardChanges {
  std::vector<std::string> captures;  // "profiling/JOB…", or where an application put its own
  std::vector<std::string> files;     // made or changed, outside of captures
  std::vector<std::string> deleted;
  std::uint64_t special = 0;  // new links, pipes, sockets outside of captures
};

// `touched` are files of the tree that are newer than the start of the run by the board's clock and
// were not before it: a change within the second that sizes and times do not show.
BoardChanges compare_run(const BoardListing& before, const BoardListing& after,
                         const std::set<std::string>& touched);

// `path` is `folder` or lies in it.
bool is_below(std::string_view path, std::string_view folder);

}  // namespace msprof
