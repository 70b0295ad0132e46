#include "derive/passes.hpp"

namespace msprof {

void run_derive_passes(TraceDbWriter& store) {
  create_indexes(store);
  derive_step_time(store);
}

}  // namespace msprof
