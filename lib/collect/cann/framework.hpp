// Environment variables that record a framework's program without a change to its script. Used by
// the collector. Table: docs/frameworks.md.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

enum class Framework { none, tensorflow, mindspore, torch };

// Values of --framework: "tf", "tensorflow", "mindspore", "torch".
const std::vector<std::string>& framework_names();
// Throws Error(usage) for an unknown name, suggesting the nearest one.
Framework parse_framework(std::string_view name);

// Returns true if the framework records by itself, enabled by its variables. Then do not set
// PROFILER_SAMPLECONFIG, and use no other collector.
bool records_by_itself(Framework framework);

struct FrameworkPlan {
  std::vector<std::string> environment;  // "NAME=value" for the application
  std::vector<std::string> sentences;    // messages to print before the start
};

// `options` is the value of --profiling-options, `output` the absolute folder for results. Reads
// PROF_CONFIG_PATH of this process. Throws Error(usage) with all problems of the options, or if the
// framework does not support options.
FrameworkPlan plan_framework(Framework framework, const std::optional<std::string>& options,
                             const std::filesystem::path& output);

}  // namespace msprof
