// Forms of the layers that export/old also draws, as CANN 5 did. Each form's default is the current
// one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "export/scope/export_scope.hpp"
#include "export/timeline/cann_trace.hpp"
#include "export/timeline_layer.hpp"
#include "export/trace/trace_writer.hpp"
#include "store/schema.hpp"

namespace msprof::cann {

// Ranges and marks of the application.
struct RangeForm {
  TraceProcess process = TraceProcess::user_ranges;
  std::string_view process_name{};  // empty: that of the program
  bool has_device_marks = true;     // with arrows to them
};
std::unique_ptr<TimelineLayer> make_user_ranges(const RangeForm& form);

// Iterations.
struct StepForm {
  TraceProcess process = TraceProcess::hardware;
  std::string_view process_name = "Ascend Hardware";
  bool has_layer_names = true;  // threads are called "Step Trace(…)"
  bool has_us = true;           // durations in us; else in ns
  bool has_time_texts = false;  // start and end of a reduce as times; else as ns
  // True: an arrow starts at the end of its iteration, and exists only if the next one follows.
  // False: it starts in the middle of the refresh slice.
  bool has_arrows_from_end = false;
  bool counts_per_iteration = false;  // reduces; else in the whole file
};
std::unique_ptr<TimelineLayer> make_steps(const StepForm& form);

// Collectives and their tasks.
struct CommunicationForm {
  std::string_view process_name = "Communication";
  std::string_view op_thread_name{};  // empty: from the name of the group
  // Not 0: first thread of the collectives, and position of plane 0 on the screen; the numbers of
  // planes are then not shared with collectives.
  std::int64_t first_op_thread = 0;
  bool has_new_arguments = true;  // of collectives; context and model of tasks; notify_id as text
};
std::unique_ptr<TimelineLayer> make_communication(const CommunicationForm& form);

// Calls of one kind have the same text.
struct CallKind {
  std::int64_t thread = 0;
  std::int64_t type = 0;
  std::int64_t name = 0;
  std::int64_t level = 0;
  std::int64_t item = 0;  // kNull unless CallForm::has_item()
  bool operator==(const CallKind&) const = default;
};

// Text shared by calls of one kind on one thread.
struct CallText {
  SharedText name;
  SharedArguments arguments;
  TraceLane lane;
  std::int64_t level = 0;
  bool begins_arrow = false;
  bool is_drawn = false;  // at least once
};
using CallThreads = std::map<std::int64_t, std::set<std::int64_t>>;  // drawn threads by level

// Calls on the host: a process with a thread per thread. Used by several threads at a time.
class CallForm {
 public:
  virtual ~CallForm() = default;
  virtual bool draws(std::int64_t) const { return true; }
  // Returns true if texts depend on the item of a call. Without it there are far fewer kinds.
  virtual bool has_item() const { return true; }
  // Sets the name and the shared arguments; may change the lane.
  virtual void describe(const TraceProcesses& processes, Texts& texts, const CallKind& kind,
                        CallText& text) const = 0;
  // Writes the arguments of a single call.
  virtual void write_arguments(TraceWriter&, Texts&, const ExportScope&, const ApiCallRow&,
                               std::int64_t /*duration_ns*/) const {}
  virtual void write_metadata(TraceWriter& out, const TraceProcesses& processes,
                              const CallThreads& drawn) const;
};
// `form` must live as long as the program.
std::unique_ptr<TimelineLayer> make_calls(const CallForm& form);

// Writes the arguments of tasks, for one connection.
class TaskArguments {
 public:
  virtual ~TaskArguments() = default;
  // Called in ascending order of task ids within a chunk.
  virtual void write(TraceWriter& out, const TaskRow& task, TraceText type) = 0;
};

// Tasks on a device.
struct TaskForm {
  std::string_view process_name = "Ascend Hardware";
  // Null: the current arguments.
  std::unique_ptr<TaskArguments> (*make_arguments)(const Database& db,
                                                   const ExportScope& scope) = nullptr;
  // Not empty: all tasks are on this one thread, in the process of calls.
  std::string_view thread_name{};
  std::int64_t thread = 0;
};
std::unique_ptr<TimelineLayer> make_hardware(const TaskForm& form);

}  // namespace msprof::cann
