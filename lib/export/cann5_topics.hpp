// THE lists of what `--style cann5` writes: topics, each a file a device, as CANN 5 did. A topic is
// a set of timeline layers, or a table under the names of that time.
// Source: cann_device.md 24.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "export/summary_table.hpp"
#include "export/timeline_layer.hpp"

namespace msprof {

// How a layer that CANN 5 drew in another way draws.
enum class TraceStyle { current, cann5 };

struct Cann5Timeline {
  std::string_view name;
  std::vector<std::string_view> layers;  // empty: those of the default
  std::int64_t key = 0;                  // Document.key: only calls of that level, or kStepsAlone
};
const std::vector<Cann5Timeline>& cann5_timelines();

// Document.key of iterations in a file of their own: it has a process for them.
inline constexpr std::int64_t kStepsAlone = 1;

// The layers of its topics: those of today, with the names, arguments and units of that time in the
// layers that have others now.
std::vector<std::unique_ptr<TimelineLayer>> cann5_layers();
std::unique_ptr<TimelineLayer> make_cann5_hardware();
std::unique_ptr<TimelineLayer> make_cann5_steps();
std::unique_ptr<TimelineLayer> make_cann5_communication();

// Their tables, in order; names are those of the topics.
std::vector<std::unique_ptr<SummaryTable>> cann5_tables();

// Tables that only this style has, one a file below summary/.
std::unique_ptr<SummaryTable> make_cann_ai_stack_time();
std::unique_ptr<SummaryTable> make_cann_runtime_api();
std::unique_ptr<SummaryTable> make_cann_ge_op_execute();

// `table` as CANN 5 wrote it: without Device_id, with the column names and units of that time.
std::unique_ptr<SummaryTable> make_cann5_table(std::unique_ptr<SummaryTable> table);

}  // namespace msprof
