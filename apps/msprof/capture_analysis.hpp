// `msprof --analyze=on`: analyzes the collectives of a capture, into its folder analyze/.
#pragma once

#include "base/error.hpp"
#include "collect/cann/collector_options.hpp"
#include "msprof/pipeline.hpp"

namespace msprof {

// Writes the analyses selected by --rule and --type and prints the paths of the JSON files. Imports
// the capture first if necessary.
Exit analyse_capture(const CollectorSettings& settings, const ChosenCapture& capture);

}  // namespace msprof
