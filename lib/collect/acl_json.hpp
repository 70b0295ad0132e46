// acl.json: configuration that an SVP application hands to svp_acl_init, and its section
// "profiler". For the collector; nothing else knows this format.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collect/host.hpp"
#include "collect/project.hpp"

namespace msprof {

inline constexpr std::string_view kArithmeticUtilization = "ArithmeticUtilization";
// Values of --aac_metrics.
const std::vector<std::string>& aac_metrics_names();
inline constexpr long kMaxInterval = 9999;

// Options of the command line; one that is not given has the manual's default: everything on,
// interval 0.
struct ProfilerOptions {
  std::optional<long> interval;  // 0 … kMaxInterval
  std::optional<bool> acl_api;
  std::optional<bool> aicpu;
  std::optional<bool> on;
  std::optional<std::string> metrics;
};

struct PatchedAclJson {
  std::string text;
  bool replaced = false;  // the original was no JSON object: this is a default one
  bool dump_on = false;   // it also asks for dump, which disturbs profiling
  // "interval 20 becomes 0": values of the file that the defaults override.
  std::vector<std::string> overridden;
};

// Returns `original` with the section "profiler" set for a run that writes to `output`. All other
// keys and their order are kept, and so is the spelling of the keys (aicpu or aacpu, aic_metrics or
// aac_metrics).
PatchedAclJson patch_acl_json(std::string_view original, const ProfilerOptions& options,
                              const std::string& output);

// A configuration that holds nothing but the section "profiler".
std::string default_acl_json(const ProfilerOptions& options, const std::string& output);

// Plans the acl.json files of a run: every one of the project patched, a default one if there is
// none, and the one whose path the runtime gets.
struct AclPlan {
  std::vector<ExtraFile> files;
  std::filesystem::path chosen;  // relative to the project
  bool own = false;              // the project had one, or --acl-json named one
  bool dump_on = false;
};

// Takes --acl-json as `named`, looked up in the current folder, then in the project. Warns of files
// that are no JSON and of values that the run overrides. Throws Error(nothing_to_do) when `named`
// is missing.
AclPlan plan_acl_json(const Project& project, const std::optional<std::string>& named,
                      const ProfilerOptions& options, const std::string& output);

}  // namespace msprof
