// The layout of acl_api records: one a call, with its id, start and end. For layout_finder.
// layout_method.md 4.
#pragma once

#include <optional>
#include <vector>

#include "import/layout/inferred_layout.hpp"
#include "import/layout/samples.hpp"

namespace msprof::layout {

// Begin of the first and end of the last layer of an execution, which a call encloses; the clock
// may be another one.
struct ExecutionSpan {
  double begin_ns = 0, end_ns = 0;
};

// `done_hertz`: unit of the times in `.done` files, where other files told it.
FoundKind find_call_layout(const std::vector<Sample>& samples, std::optional<double> done_hertz,
                           const std::vector<ExecutionSpan>& executions);

}  // namespace msprof::layout
