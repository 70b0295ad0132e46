// Profiling that is asked for from outside the program: the object "profiler" of acl.json, and the
// environment of an application that a collector started. Rules:
// docs/host_cann.md.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/acl/prof/prof_config.hpp"

namespace msprof::acl {

struct Configuration {
  bool wanted = false;   // whether anything is to be recorded
  bool dynamic = false;  // recording waits for a collector that says when
  ProfConfig config;
  ProfSettings settings;
  std::string output;            // absolute
  std::string collector;         // its process; empty: none wants to hear of the folder
  std::uint64_t delay_s = 0;     // before recording begins
  std::uint64_t duration_s = 0;  // of recording; 0: to the end
};

// Reads PROFILER_SAMPLECONFIG, else MSPROF_ACL_JSON, else `acl_json_path` (null: no file), else, in
// PROFILING_MODE=true, PROFILING_OPTIONS; all of `devices` are recorded unless the environment
// names some. What is wrong is said on stderr:
// ACL_ERROR_INVALID_FILE a file that cannot be read, ACL_ERROR_PARSE_FILE one that is no JSON
// object, ACL_ERROR_INVALID_PARAM an unknown key, ACL_ERROR_INVALID_PROFILING_CONFIG a wrong value.
aclError read_configuration(const char* acl_json_path, std::uint32_t devices,
                            Configuration& configuration);

// Reads an object like that of PROFILER_SAMPLECONFIG, which a collector sends; no time of it
// counts. What is wrong is a sentence in `why`.
aclError read_collector_config(const std::string& text, std::uint32_t devices,
                               Configuration& configuration, std::string& why);

// Whether a collector started the process with parameters of a recording (PROFILER_SAMPLECONFIG).
bool has_collector();

// Whether PROFILING_MODE says that a collector starts and stops the recording.
bool is_dynamic_mode();

// Adds the name of a PROF folder to the file in which the collector looks for them.
void tell_collector(const Configuration& configuration, const std::string& folder);

}  // namespace msprof::acl
