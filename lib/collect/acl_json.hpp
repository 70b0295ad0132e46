// acl.json: the configuration that an SVP application passes to svp_acl_init, with its section
// "profiler". Used by the collector; no other module knows this format.
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
// Switches the cores off, as every value but ArithmeticUtilization does by the manual.
inline constexpr std::string_view kMetricsOff = "none";
// Values of --aac_metrics.
const std::vector<std::string>& aac_metrics_names();
inline constexpr long kMaxInterval = 9999;

// Command line options. The defaults are the manual's: everything on, interval 0.
struct ProfilerOptions {
  std::optional<long> interval;  // 0 to kMaxInterval
  std::optional<bool> acl_api;
  std::optional<bool> aicpu;
  std::optional<bool> on;
  std::optional<std::string> metrics;
};

struct PatchedAclJson {
  std::string text;
  bool is_replaced = false;  // the original was not a JSON object; `text` is a default file
  bool is_dump_on = false;   // the file also enables dump, which disturbs profiling
  // "interval 20 becomes 0": values in the file that the defaults override.
  std::vector<std::string> overridden;
};

// Returns `original` with the section "profiler" set for a run that writes to `output`. Keeps all
// other keys, their order, and the spelling of the keys (aicpu or aacpu, aic_metrics or
// aac_metrics).
PatchedAclJson patch_acl_json(std::string_view original, const ProfilerOptions& options,
                              const std::string& output);

// Returns an acl.json that contains only the section "profiler".
std::string default_acl_json(const ProfilerOptions& options, const std::string& output);

// The acl.json files of a run: those of the project, patched, or a default one if there are none,
// and the path of the one that is passed to the runtime.
struct AclPlan {
  std::vector<ExtraFile> files;
  std::filesystem::path chosen;  // relative to the project
  bool own = false;              // the chosen file is from the project or --acl-json
  bool is_dump_on = false;
};

// `named` is the value of --acl-json, searched in the current folder, then in the project. Warns
// about files that are not JSON and about values that the run overrides. Throws
// Error(nothing_to_do) if `named` does not exist.
AclPlan plan_acl_json(const Project& project, const std::optional<std::string>& named,
                      const ProfilerOptions& options, const std::string& output);

}  // namespace msprof
