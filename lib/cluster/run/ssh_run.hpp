// Runs an analysis of many captures on hosts without a scheduler: starts `msprof cluster` on each
// over SSH and streams its rank summary (part) back. Used by `msprof cluster --ssh`.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "board/session/config.hpp"
#include "cluster/run/local_run.hpp"

namespace msprof::cluster {

struct SshRunOptions {
  std::string msprof = "msprof";     // remote program, in PATH or absolute
  std::vector<std::string> folders;  // remote folders
  std::size_t jobs = 0;              // processes per host; 0: one per core
  std::size_t parallel = 16;         // number of hosts at the same time
  int retries = 2;                   // retries after a lost connection
};

// Parses a list of hosts: user@host[:port], one per line; '#' starts a comment. `user` is the
// default account. Throws Error(usage) with the line number for invalid lines and duplicate hosts.
std::vector<BoardConfig> parse_hosts(std::string_view text, const std::string& name,
                                     const std::string& user);

// Parses the output of `msprof cluster --json` on a host. Throws Error(partial_data).
RunReport parse_host_report(const std::string& text, const std::string& host);

// Runs on all `hosts` and stores their parts as OUTPUT/nodes/HOST/node.part. A failed host is
// reported as lost and does not affect the others. Throws Error(interrupted).
RunReport run_over_ssh(const std::filesystem::path& output, const std::vector<BoardConfig>& hosts,
                       const SshRunOptions& options,
                       std::vector<std::filesystem::path>& node_parts);

}  // namespace msprof::cluster
