// Converts the work of a layer to unit cycles of a modelled core. A host has no such counters:
// these numbers are a model, documented in README.md, and never exceed the elapsed time. For the
// profiles of all runtimes.
#pragma once

#include <cstdint>

#include "runtime/engine/model/operator.hpp"

namespace msprof::runtime {

// Cycles at 1000 MHz: 1 cycle is 1 ns.
struct UnitCycles {
  uint64_t mac_busy = 0, mac_ppen = 0;  // matrix unit, with and without padding
  uint64_t vec_busy = 0, vec_ppen = 0;
  uint64_t dld = 0, wld = 0, dstr = 0, dtrans = 0;  // load of data and of weights, store, relayout
  uint64_t ddr_read_bytes = 0, ddr_write_bytes = 0;
};

// No unit is busy for more than `total_cycles`.
UnitCycles model_units(const LayerWork& work, uint64_t images, uint64_t total_cycles);

}  // namespace msprof::runtime
