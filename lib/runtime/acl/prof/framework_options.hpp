// Options of framework users in the environment: PROFILING_MODE=true and the JSON object
// PROFILING_OPTIONS. For the configuration. Keys and values: docs/frameworks.md.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "runtime/acl/include/acl/acl_base.h"

namespace msprof::acl {

// NOLINTNEXTLINE(bugprone-exception-escape): an empty JSON value takes no memory
struct FrameworkOptions {
  nlohmann::json profiler;  // equivalent to an object "profiler" of acl.json
  std::uint64_t bits = 0;   // options without a key in that object
};

// True if PROFILING_MODE is "true".
bool is_framework_mode();

// Reads PROFILING_OPTIONS. If it is missing or empty, uses the documented defaults, with the
// current folder as output. Returns ACL_ERROR_INVALID_PROFILING_CONFIG, with a message on stderr,
// if it is too long, not a JSON object, has no "output", or has an unknown key. Most values are
// checked later, by the reader of `profiler`.
aclError read_framework_options(FrameworkOptions& options);

}  // namespace msprof::acl
