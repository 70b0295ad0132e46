// RemoteProject: a project that is on the board already. For SshHost.
#pragma once

#include <filesystem>
#include <string>

#include "board/link.hpp"
#include "collect/project.hpp"

namespace msprof {

// A project that is on the board already (--no-upload --remote-dir).
struct RemoteProject {
  Project project;  // its root is the board's folder; its entries are the acl.json files alone
  std::string program_head;
};

// Finds `main` (relative) in `folder` of the board (absolute, or below the account's home). The
// acl.json files come to `scratch`. Throws Error(nothing_to_do) naming what is missing,
// Error(usage) where the folder holds the one that runs take place in.
RemoteProject find_remote_project(BoardLink& link, const std::string& main,
                                  const std::string& folder, const std::filesystem::path& scratch);

}  // namespace msprof
