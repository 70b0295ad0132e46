// The parameters of a collection as a runtime of CANN reads them from its environment.
#pragma once

#include <string>
#include <vector>

#include "collect/cann/collector_options.hpp"

namespace msprof {

// What the application is, for the parameters that name it.
struct ApplicationWords {
  std::string program;
  std::vector<std::string> arguments;
};

// PROFILER_SAMPLECONFIG: one JSON object with every parameter that has a name there. PROF folders
// are to be put into `output`, whose file "<collector>_profiling_output_record" then names them.
std::string sample_config(const CollectorSettings& settings, const ApplicationWords& application,
                          const std::string& output, long collector);

// The given options that have no name there: "--aicore-shape".
std::vector<std::string> options_without_parameter(const CollectorSettings& settings);

// What --host-sys asks for beyond what /proc tells: "disk,network"; empty: nothing.
std::string loads_without_proc(const CollectorSettings& settings);

// Options that a runtime without the driver of a card cannot honour, of those that are given and
// ask for something.
std::vector<std::string> options_for_driver(const CollectorSettings& settings);

}  // namespace msprof
