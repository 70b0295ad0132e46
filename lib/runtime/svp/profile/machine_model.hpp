// Writes the results of the machine model (engine/machine_model.hpp) to a record.
#pragma once

#include <cstdint>

#include "runtime/engine/model/operator.hpp"
#include "runtime/svp/profile/record_file.hpp"

namespace msprof::runtime {

// Fills the unit cycles and DDR bytes of a record whose total_cycles (1 cycle = 1 ns) is already
// set.
void model_units(const LayerWork& work, uint64_t batch, SvpAicoreRecord& record);

}  // namespace msprof::runtime
