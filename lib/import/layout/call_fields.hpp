// Finds the layout of acl_api records, which have id, start and end of a call. Source:
// layout_method.md 4.
#pragma once

#include <optional>
#include <vector>

#include "import/layout/inferred_layout.hpp"
#include "import/layout/samples.hpp"

namespace msprof::layout {

// Start of the first layer and end of the last layer of an execution, which a call encloses. The
// clock may differ from that of the calls.
struct ExecutionSpan {
  double begin_ns = 0, end_ns = 0;
};

// `done_hertz`: unit of the times in `.done` files, if other files determined it.
FoundKind find_call_layout(const std::vector<FileSample>& samples, std::optional<double> done_hertz,
                           const std::vector<ExecutionSpan>& executions);

}  // namespace msprof::layout
