// Which acl.json files a run gets: every one of the project patched, a default one where there is
// none, and the one that the runtime is told of. For the collector.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "collect/acl_json.hpp"
#include "collect/host.hpp"
#include "collect/project.hpp"

namespace msprof {

struct AclPlan {
  std::vector<PlacedFile> files;
  std::filesystem::path chosen;  // relative to the project
  bool own = false;              // the project had one, or --acl-json named one
  bool dump_on = false;
};

// `named` is --acl-json, looked up in the current folder, then in the project. Warns of files that
// are no JSON and of values that the run overrides. Throws Error(nothing_to_do) when `named` is
// missing.
AclPlan plan_acl_json(const Project& project, const std::optional<std::string>& named,
                      const ProfilerOptions& options, const std::string& output);

}  // namespace msprof
