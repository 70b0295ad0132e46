// Finds training steps from the marks of training_trace. Used by the joins of CANN 5 and of classic
// captures. Source: cann5_classic.md 5.4, 9.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "derive/passes.hpp"
#include "import/raw_kind.hpp"
#include "session/cann_session.hpp"

namespace msprof::old {

// A record of training_trace.
struct TraceMark {
  std::uint64_t tag = 0;
  std::uint64_t ticks = 0;
  std::uint16_t stream = 0;
};

// Contents of the files of a device that mark its steps.
struct StepMarks {
  std::vector<TraceMark> marks;
  std::unordered_map<std::uint64_t, std::string> points;  // operators by the tag of their mark
};

// Next ids of rows that several devices have.
struct StepIds {
  std::int64_t iteration = 0;
  std::int64_t part = 0;
};

// Returns the ends of a device's iterations, in order. Uses those of ts_track.data if there are
// any, else finds them in training_trace and writes their rows. A step without a forward or a
// backward mark has an end but no row.
std::vector<IterationEnd> find_steps(const ImportContext& context, const CannPart& part,
                                     const StepMarks& data, StepIds& ids);

}  // namespace msprof::old
