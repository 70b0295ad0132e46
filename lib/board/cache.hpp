// BoardCache: the copy of a project that a board keeps between runs, brought up to date with as few
// bytes as possible, and the fresh copy of it that a run gets. For SshHost.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "board/transfer.hpp"
#include "collect/host.hpp"
#include "collect/project.hpp"

namespace msprof {

// What brings a copy in the state of `project`: entries to send (folders and links, which have no
// content, whenever in doubt) and paths to remove first, those that hold others before these.
struct CacheUpdate {
  std::vector<ProjectEntry> send;
  std::vector<std::string> remove;
  std::uint64_t files = 0;  // regular files among `send`
  std::uint64_t bytes = 0;  // their content
};

// Compares by kind, size, time in whole seconds and the owner's permissions. Names that cannot be
// listed (with control characters) are always sent.
CacheUpdate plan_update(const Project& project, const TreeListing& there);

// "my_app-0123456789abcdef" of the project's name, and of this machine and the project's path.
std::string cache_name(const Project& project);

// Removes `paths` below `folder` on the board. Throws Error(cannot_write) with the board's reason.
void remove_on_board(BoardShell& shell, const std::string& folder,
                     const std::vector<std::string>& paths);

// Runs a script that changes files on the board; throws Error(cannot_write) with its reason.
void change_board(BoardShell& shell, const BoardScript& script,
                  const std::vector<std::string>& arguments);

}  // namespace msprof
