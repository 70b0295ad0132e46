// `msprof --analyze=on`: the analyses of the collectives of a capture, in its folder analyze/.
#pragma once

#include "base/error.hpp"
#include "collect/cann/collector_options.hpp"
#include "msprof/pipeline.hpp"

namespace msprof {

// Writes what --rule and --type name, and prints where the JSON files are. Imports first where that
// is needed.
Exit analyse_capture(const CollectorSettings& settings, const ChosenCapture& capture);

}  // namespace msprof
