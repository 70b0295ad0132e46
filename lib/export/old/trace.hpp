// Helpers shared by the timelines of captures of CANN 5 and older: layers implemented as functions,
// and processes numbered as by the tools of that time. Source: cann5_classic.md 10.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "export/old/tables.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof::old {

using Draw = void (*)(const Database& db, const OutputFile& file, TraceWriter& out);

class OldLayer : public cann::CannLayer {
 public:
  OldLayer(const LayerInfo& info, Draw draw) : CannLayer(info), draw_(draw) {}
  void write(const Database& db, const OutputFile& file, TraceWriter& out) const override {
    draw_(db, file, out);
  }

 private:
  Draw draw_;
};

std::unique_ptr<TimelineLayer> make_layer(std::string_view exists, Draw draw);

// OutputFile.key of the timeline of all processes.
inline constexpr std::int64_t kWholeTimeline = -3;

// ai_stack_time: one process with a thread each for AscendCL, GE, the runtime and tasks.
inline constexpr std::string_view kAiStackProcess = "AI Stack Time";
enum class AiStackThread : std::int64_t { acl, ge, runtime, tasks };
constexpr std::string_view ai_stack_thread_name(AiStackThread thread) {
  constexpr std::string_view kNames[] = {"AscendCL", "GE", "Runtime", "Task Scheduler"};
  return kNames[static_cast<std::size_t>(thread)];
}

std::int64_t host_process(const Database& db);

// Returns a text; N/A if it is missing. Valid until the next look-up in `texts`.
inline TraceText find_text(cann::Texts& texts, std::optional<std::int64_t> id) {
  return id ? TraceText(texts(*id)) : TraceText("N/A");
}

// A process of a timeline. Writes its name before its first slice, and each thread's name before
// that thread's first slice. Its id is `pid`, but "<layer>_<pid>" in the timeline of all processes,
// where it is sorted by layer.
class OldProcess {
 public:
  OldProcess(TraceWriter& out, const OutputFile& file, std::int64_t layer, std::int64_t pid,
             std::string_view name);

  // The thread is named "Thread 7", or `name`.
  TraceLane thread(std::int64_t tid) { return thread(tid, "Thread " + std::to_string(tid)); }
  TraceLane thread(std::int64_t tid, std::string_view name);
  // Returns a lane without writing a thread name.
  TraceLane unnamed(std::int64_t tid);

 private:
  void begin();

  TraceWriter& out_;
  TraceLane lane_;  // of its thread 0
  std::string name_;
  bool is_begun_ = false;
  std::set<std::int64_t> threads_;
};

// Selects the tasks of streams, without those that only collectives recorded.
class SchedulerTasks {
 public:
  explicit SchedulerTasks(const Database& db);
  bool has(const TaskRow& task) const {
    return task.stream_id != kNull && task.device_type_name_id != kNull &&
           task.device_type_name_id != collective_;
  }
  bool is_copy(const TaskRow& task) const { return task.device_type_name_id == copy_; }

 private:
  std::int64_t copy_;
  std::int64_t collective_;
};

}  // namespace msprof::old
