#include "derive/passes.hpp"

namespace msprof {

// Tasks themselves need none: a step is a few ranges of neighbouring task ids, and only the ranges
// are looked up.
void create_indexes(TraceDbWriter& store) {
  store.execute("CREATE INDEX task_run_of_step ON task_run(step_id)");
}

}  // namespace msprof
