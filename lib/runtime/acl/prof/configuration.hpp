// Profiling requested from outside the program: the object "profiler" of acl.json, or the
// environment of an application started by a collector. Codes: acl/api/README.md.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/acl/prof/prof_config.hpp"

namespace msprof::acl {

struct Configuration {
  bool wanted = false;      // true if anything is recorded
  bool is_dynamic = false;  // recording waits for commands of a collector
  ProfConfig config;
  ProfSettings settings;
  std::string output;            // absolute
  std::string collector;         // process id of the collector; empty: no collector
  std::uint64_t delay_s = 0;     // before recording starts
  std::uint64_t duration_s = 0;  // length of the recording; 0: until the end
};

// Reads PROFILER_SAMPLECONFIG, else MSPROF_ACL_JSON, else `acl_json_path` (null: no file), else,
// with PROFILING_MODE=true, PROFILING_OPTIONS. All `devices` are recorded unless the environment
// lists some. Errors are printed on stderr: ACL_ERROR_INVALID_FILE for an unreadable file,
// ACL_ERROR_PARSE_FILE if it is not a JSON object, ACL_ERROR_INVALID_PARAM for an unknown key,
// ACL_ERROR_INVALID_PROFILING_CONFIG for an invalid value.
aclError read_configuration(const char* acl_json_path, std::uint32_t devices,
                            Configuration& configuration);

// Reads an object in the format of PROFILER_SAMPLECONFIG, sent by a collector; its times are
// ignored. Errors are stored in `why`.
aclError read_collector_config(const std::string& text, std::uint32_t devices,
                               Configuration& configuration, std::string& why);

// True if a collector started the process with recording parameters (PROFILER_SAMPLECONFIG).
bool has_collector();

// True if PROFILING_MODE lets a collector start and stop the recording.
bool is_dynamic_mode();

// Appends the name of a PROF folder to the file from which the collector reads it.
void tell_collector(const Configuration& configuration, const std::string& folder);

}  // namespace msprof::acl
