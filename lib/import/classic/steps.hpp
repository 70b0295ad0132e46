// Finds training steps from the marks of training_trace. Used by the joins of CANN 5 and of classic
// captures. Source: cann5_classic.md 5.4, 9.
#pragma once

#include <cstdint>
#include <vector>

#include "derive/passes.hpp"
#include "import/classic/classic_import.hpp"

namespace msprof::classic {

// Next ids of rows that several devices have.
struct StepIds {
  std::int64_t iteration = 0;
  std::int64_t part = 0;
};

// Returns the ends of a device's iterations, in order. Uses those of ts_track.data if there are
// any, else finds them in training_trace and writes their rows. A step without a forward or a
// backward mark has an end but no row.
std::vector<IterationEnd> find_steps(const ImportContext& context, const CannPart& part,
                                     const DeviceData& data, StepIds& ids);

}  // namespace msprof::classic
