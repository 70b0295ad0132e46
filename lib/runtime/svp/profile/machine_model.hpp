// Converts the work of a layer to the cycles of the units of an imagined core. A host has no such
// counters: these numbers are a model, stated in README.md, and never more than the time that
// really passed.
#pragma once

#include <cstdint>

#include "runtime/engine/model/operator.hpp"
#include "runtime/svp/profile/record_file.hpp"

namespace msprof::runtime {

// Fills the unit cycles and DDR bytes of a record whose total_cycles (1 cycle = 1 ns) is set
// already.
void model_units(const LayerWork& work, uint64_t batch, AicoreRecord& record);

}  // namespace msprof::runtime
