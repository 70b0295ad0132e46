// The parameters of a collection that a CANN runtime reads from its environment.
#pragma once

#include <string>
#include <vector>

#include "collect/cann/collector_options.hpp"

namespace msprof {

// The application, for the parameters that contain its name.
struct ApplicationWords {
  std::string program;
  std::vector<std::string> arguments;
};

// Returns PROFILER_SAMPLECONFIG: a JSON object with every option that has a parameter name. PROF
// folders are written to `output`, and listed there in the file
// "<collector>_profiling_output_record".
std::string sample_config(const CollectorSettings& settings, const ApplicationWords& application,
                          const std::string& output, long collector);

// Returns the given options that have no parameter name: "--aicore-shape".
std::vector<std::string> options_without_parameter(const CollectorSettings& settings);

// Returns those values of --host-sys that /proc does not provide: "disk,network"; empty: none.
std::string loads_without_proc(const CollectorSettings& settings);

// Returns the given options that have an effect and need the driver of a card.
std::vector<std::string> options_for_driver(const CollectorSettings& settings);

}  // namespace msprof
