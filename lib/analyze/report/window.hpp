// Selects the time range of a capture to draw.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/overview.hpp"
#include "analyze/report/report_words.hpp"
#include "store/database.hpp"

namespace msprof::report {

// Lengths of the executions of a step, or of the iterations of a model on a device.
struct Lengths {
  std::size_t count = 0;
  std::int64_t median_ns = 0;
  std::int64_t shortest_ns = 0;
  std::int64_t longest_ns = 0;
  std::vector<std::int64_t> all_ns;  // in time order
  std::size_t chosen = 0;            // index of the execution shown in the window
};

struct Window {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::string what;                // description, a sentence
  std::optional<Lengths> lengths;  // of the executions it was selected from
  // Start without the preceding calls; used if a picture cannot show both.
  std::int64_t late_begin_ns = 0;
};

// Selects the execution of median length of a step, with the call that started it. Without a step:
// the iteration of median length of the model with the most total time. Without iterations: the
// start of the capture. Empty if no times are known.
std::optional<Window> choose_window(const Database& db, const StepInfo* step,
                                    const ReportWords& words);

}  // namespace msprof::report
