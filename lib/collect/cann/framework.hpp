// What a run puts into the environment so that a framework's program is recorded without a change
// of its script. For the collector. Table: docs/frameworks.md.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

enum class Framework { none, tensorflow, mindspore, torch };

// Names that --framework takes: "tf", "tensorflow", "mindspore", "torch".
const std::vector<std::string>& framework_names();
// Throws Error(usage) naming the nearest one for a name that is none.
Framework parse_framework(std::string_view name);

// Its variables start a recording of their own: PROFILER_SAMPLECONFIG must not be set beside them,
// nor PROFILING_MODE for anything else, and no other collector runs it.
bool records_by_itself(Framework framework);

struct FrameworkPlan {
  std::vector<std::string> environment;  // "NAME=value", for the application
  std::vector<std::string> sentences;    // to print before the start
};

// `options` is the text of --profiling-options, `output` the absolute folder that results go to.
// Reads PROF_CONFIG_PATH of this process. Throws Error(usage) with all that is wrong with the
// options, and for options of a framework that has none.
FrameworkPlan plan_framework(Framework framework, const std::optional<std::string>& options,
                             const std::filesystem::path& output);

}  // namespace msprof
