// Parts that the timelines of captures of CANN 5 and older share: layers that are functions, and
// processes as the tools of that time numbered them. Source: cann5_classic.md 10.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "export/summary/old_tables.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof::old {

using Draw = void (*)(const Database& db, const OutputFile& file, TraceJsonWriter& out);

class OldLayer : public cann::Layer {
 public:
  OldLayer(const LayerInfo& info, Draw draw) : Layer(info), draw_(draw) {}
  void write(const Database& db, const OutputFile& file, TraceJsonWriter& out) const override {
    draw_(db, file, out);
  }

 private:
  Draw draw_;
};

// A layer of a topic, of the whole capture beside each iteration unless `is_of_host` is false.
std::unique_ptr<TimelineLayer> make_layer(std::string_view name, std::string_view exists,
                                          const Cann5Topic& topic, Draw draw,
                                          bool is_of_host = true);

// The number of the profiled process.
std::int64_t host_process(const Database& db);

// A text as JSON, N/A where there is none. Valid until the next text is asked for.
inline JsonText text_of(cann::Texts& texts, std::optional<std::int64_t> id) {
  const std::string_view text = id ? std::string_view(texts(*id)) : std::string_view();
  return {text.empty() ? "\"N/A\"" : text};
}

// A process of a timeline, which gets its names with the first slice of each thread. In a timeline
// of its own it is a number; in that of all it is "<layer>_<number>", and stands in the order of
// the layers.
class OldProcess {
 public:
  OldProcess(TraceJsonWriter& out, const OutputFile& file, std::int64_t layer, std::int64_t pid,
             std::string_view name);
  ~OldProcess() { out_.set_process_prefix({}); }
  OldProcess(const OldProcess&) = delete;
  OldProcess& operator=(const OldProcess&) = delete;

  // "Thread 7", or what `name` says.
  TraceLane thread(std::int64_t tid) { return thread(tid, "Thread " + std::to_string(tid)); }
  TraceLane thread(std::int64_t tid, std::string_view name);
  // Without a name of its own.
  TraceLane unnamed(std::int64_t tid);

 private:
  void begin();

  TraceJsonWriter& out_;
  bool is_whole_;
  std::int64_t layer_;
  std::int64_t pid_;
  std::string name_;
  bool is_begun_ = false;
  std::set<std::int64_t> threads_;
};

// The tasks of streams: not those that collectives alone recorded.
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
