// RemoteProject: a project that is already on the board (--no-upload --remote-dir). Used by
// SshHost.
#pragma once

#include <filesystem>
#include <string>

#include "board/session/link.hpp"
#include "collect/project.hpp"

namespace msprof {

struct RemoteProject {
  Project project;  // its root is the board's folder; its entries are only the acl.json files
  std::string program_head;
};

// Finds `main` (relative) in `folder` on the board (absolute, or below the account's home folder).
// Downloads the acl.json files to `scratch`. Throws Error(nothing_to_do) naming what is missing,
// Error(usage) if msprof's folder for runs is inside `folder`.
RemoteProject find_remote_project(BoardLink& link, const std::string& main,
                                  const std::string& folder, const std::filesystem::path& scratch);

}  // namespace msprof
