#include "import/old/other_tasks.hpp"

#include <algorithm>
#include <tuple>

#include "base/number.hpp"

namespace msprof::cann5 {

std::vector<std::size_t> place_nodes(const std::vector<AicpuNodeRow>& nodes,
                                     const std::function<bool(const OldTask&)>& may_be,
                                     TraceDbWriter& store, std::vector<OldTask>& tasks) {
  std::vector<std::size_t> places;
  if (nodes.empty()) return places;
  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (may_be(tasks[i])) order.push_back(static_cast<std::uint32_t>(i));
  }
  const auto key = [](const OldTask& task) {
    return std::tuple(std::int64_t{task.stream}, std::int64_t{task.task}, task.start_ns);
  };
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return key(tasks[a]) < key(tasks[b]); });
  const std::int64_t type_id = store.name_id("AI_CPU");
  for (const AicpuNodeRow& node : nodes) {
    auto at = std::upper_bound(
        order.begin(), order.end(), std::tuple(node.stream_id, node.task_number, node.end_ns),
        [&](const auto& wanted, std::uint32_t place) { return wanted < key(tasks[place]); });
    if (at != order.begin()) {
      const std::uint32_t place = *--at;
      OldTask& seen = tasks[place];
      if (seen.stream == node.stream_id && seen.task == node.task_number &&
          seen.end_ns >= node.start_ns) {
        seen.kind = OpKind::ai_cpu;
        places.push_back(place);
        continue;
      }
    }
    OldTask task;
    task.start_ns = node.start_ns;
    task.end_ns = node.end_ns;
    task.duration_ns = saturating_subtract(node.end_ns, node.start_ns);
    task.device_type_name_id = type_id;
    task.stream = static_cast<std::uint32_t>(node.stream_id);
    task.task = static_cast<std::uint32_t>(node.task_number);
    task.kind = OpKind::ai_cpu;
    places.push_back(tasks.size());
    tasks.push_back(task);
  }
  return places;
}

void write_nodes(std::vector<AicpuNodeRow>& nodes, TraceDbWriter& store, std::int64_t& next_id) {
  std::stable_sort(nodes.begin(), nodes.end(), [](const AicpuNodeRow& a, const AicpuNodeRow& b) {
    return a.start_ns < b.start_ns;
  });
  for (AicpuNodeRow& node : nodes) {
    node.id = next_id++;
    store.add(node);
  }
}

void add_copies(const std::vector<cann::CopyState>& copies, const CannPart& part,
                TraceDbWriter& store, std::vector<OldTask>& tasks) {
  enum : std::uint8_t { kCopyStart = 1, kCopyEnd = 2 };  // cann5_classic.md 5.3
  if (copies.empty()) return;
  RunPairing pairing;
  for (const cann::CopyState& state : copies) {
    if (state.state == kCopyStart) pairing.start(state.stream, state.task_number, state.ticks);
    if (state.state == kCopyEnd) pairing.end(state.stream, state.task_number, state.ticks);
  }
  const std::int64_t type_id = store.name_id("MEMCPY_ASYNC");
  const std::int64_t name_id = store.name_id("MemcopyAsync");
  for (const OldTaskRun& run : pairing.take()) {
    OldTask task = make_task(run, part, store, false);
    task.device_type_name_id = task.host_type_name_id = type_id;
    task.kernel_name_id = name_id;
    task.kind = OpKind::other;
    tasks.push_back(task);
  }
}

const IterationEnd* find_window(const std::vector<IterationEnd>& windows, std::int64_t end_ns) {
  const auto at = std::lower_bound(
      windows.begin(), windows.end(), end_ns,
      [](const IterationEnd& window, std::int64_t ns) { return window.end_ns < ns; });
  return at == windows.end() ? nullptr : &*at;
}

void add_comm_tasks(std::vector<OldCommTask>& records, const std::vector<IterationEnd>& windows,
                    TraceDbWriter& store, std::int64_t& next_call, std::vector<OldTask>& tasks) {
  if (records.empty()) return;
  const std::int64_t type_id = store.name_id("HCCL");
  for (OldCommTask& record : records) {
    OldTask task;
    task.start_ns = record.start_ns;
    task.duration_ns = record.duration_ns;
    task.end_ns = saturating_add(record.start_ns, record.duration_ns);
    task.stream = record.stream;
    task.task = record.task;
    task.device_type_name_id = task.host_type_name_id = type_id;
    task.kernel_name_id = record.call.item_name_id;
    const IterationEnd* window = find_window(windows, task.end_ns);
    if (window != nullptr) task.model_number = window->model_number;
    record.call.id = task.comm_call_id = next_call++;
    record.call.op_begin_count = window == nullptr ? 0 : window->number;
    store.add(record.call);
    tasks.push_back(task);
  }
  records = {};
}

}  // namespace msprof::cann5
