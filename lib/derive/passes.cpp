#include "derive/passes.hpp"

namespace msprof {

void run_derive_passes(TraceDbWriter& store) {
  create_indexes(store);
  derive_step_time(store);
  derive_iterations(store);
  derive_memory_blocks(store);
  derive_comm_ops(store);
  derive_overlap(store);
}

}  // namespace msprof
