// Steps of training from the marks of training_trace. For the associations of CANN 5 and of classic
// captures. Source: cann5_classic.md 5.4, 9.
#pragma once

#include <cstdint>
#include <vector>

#include "derive/passes.hpp"
#include "import/classic/classic_import.hpp"

namespace msprof::classic {

// Rows that several devices have.
struct StepIds {
  std::int64_t iteration = 0;
  std::int64_t part = 0;
};

// The ends of a device's iterations, in their order: those that ts_track.data has, else those of
// training_trace, whose rows are written. Steps that lack a mark have an end, but no row.
std::vector<IterationEnd> find_steps(const ImportContext& context, const CannPart& part,
                                     const DeviceData& data, StepIds& ids);

}  // namespace msprof::classic
