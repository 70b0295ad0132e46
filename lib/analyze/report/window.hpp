// Window: the stretch of a capture that is worth a picture. For report_page().
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
  std::vector<std::int64_t> all_ns;  // in their order
  std::size_t chosen = 0;            // of these the one of the window
};

struct Window {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::string what;                // a sentence
  std::optional<Lengths> lengths;  // of what it was chosen from
  // Begin of what it is about, without the calls before that: where both are too much for a
  // picture.
  std::int64_t late_begin_ns = 0;
};

// The execution of median length of a step, with the call that started it; without a step the
// iteration of median length of the model that took longest; without any the begin of the capture.
// Empty where no time is known.
std::optional<Window> window_of(const Database& db, const StepInfo* step, const Words& words);

}  // namespace msprof::report
