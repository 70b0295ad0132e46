// What a framework's user asks for in the environment: PROFILING_MODE=true and the JSON object of
// PROFILING_OPTIONS. For the configuration. Keys and values: docs/frameworks.md.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "runtime/acl/include/acl/acl_base.h"

namespace msprof::acl {

// NOLINTNEXTLINE(bugprone-exception-escape): an empty JSON value takes no memory
struct FrameworkOptions {
  nlohmann::json profiler;  // the same as an object "profiler" of acl.json
  std::uint64_t bits = 0;   // what such an object has no key for
};

// Whether PROFILING_MODE is "true".
bool is_framework_mode();

// Reads PROFILING_OPTIONS; the documented defaults, with the current folder for the output, where
// it is missing or empty. ACL_ERROR_INVALID_PROFILING_CONFIG, said on stderr, for what is no JSON
// object, too long, without "output", or has an unknown key; values are left to the reader of
// `profiler`.
aclError read_framework_options(FrameworkOptions& options);

}  // namespace msprof::acl
