// A run over many captures on hosts without a scheduler: `msprof cluster` on each of them over SSH,
// its part streamed back. For `msprof cluster --ssh`.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "board/config.hpp"
#include "cluster/run/local_run.hpp"

namespace msprof::cluster {

struct SshRunOptions {
  std::string msprof = "msprof";     // the program there, in PATH or absolute
  std::vector<std::string> folders;  // there
  std::size_t jobs = 0;              // processes on each; 0: one a core
  std::size_t parallel = 16;         // hosts at a time
  int retries = 2;                   // of a lost connection
};

// The hosts of a file: user@host[:port], one a line; '#' begins a comment. Without an account it is
// `user`. Throws Error(usage) with the line for what makes no sense, and for a host that is there
// twice.
std::vector<BoardConfig> parse_hosts(std::string_view text, const std::string& name,
                                     const std::string& user);

// What `msprof cluster --json` said on a host: results of its captures. Throws Error(partial_data).
RunReport parse_host_report(const std::string& text, const std::string& host);

// Runs on all of `hosts`; parts come to OUTPUT/nodes/HOST/node.part. A host that fails is among the
// lost and ends no other. Throws Error(interrupted).
RunReport run_over_ssh(const std::filesystem::path& output, const std::vector<BoardConfig>& hosts,
                       const SshRunOptions& options,
                       std::vector<std::filesystem::path>& node_parts);

}  // namespace msprof::cluster
