#include "runtime/acl/prof/device_records.hpp"

#include <algorithm>

namespace msprof::acl {

namespace {

template <typename Wire>
void set_counters(Wire& record, const CounterValues& values) {
  for (std::size_t i = 0; i < kCounters; ++i) record.pmu[i] = values[i];
}

// Returns the end time of a node, slightly before the end of its task. Readers look up the task by
// this time in floating point, where the task's last ns may round to a later time.
std::uint64_t node_end(const DeviceTask& task) {
  constexpr std::uint64_t kBeforeTaskEnds = 1000;
  return task.end - std::min(kBeforeTaskEnds, (task.end - task.begin + 1) / 2);
}

// Sets the fields common to both forms of an AI CPU record. A host has no separate compute and copy
// times.
template <typename Wire>
void set_node(Wire& record, const DeviceTask& task) {
  const std::uint64_t end = node_end(task);
  record.stream = task.stream;
  record.task = task.task;
  record.run_start_us = task.begin / 1000;
  record.start_ticks = task.begin;
  record.compute_start_us = task.begin / 1000;
  record.memcpy_start_us = end / 1000;
  record.memcpy_end_us = end / 1000;
  record.run_end = end / 1000;
  record.end_ticks = end;
  record.submit_ticks = task.begin;
  record.schedule_ticks = task.begin;
  record.before_run_ticks = task.begin;
  record.after_run_ticks = end;
}

}  // namespace

unsigned sqe_type(int chip, TaskKind kind, std::uint32_t op_task_type) {
  enum : unsigned {
    kPlaceHolder = 3,
    kEventRecord = 4,
    kEventWait = 5,
    kNotifyRecord = 6,
    kNotifyWait = 7,
    kWriteValue = 8,
    kHwtsSdma = 9,
    kStarsSdma = 11,
    kHostCpu = 18
  };
  switch (kind) {
    case TaskKind::op:
      return op_task_type;
    case TaskKind::memcpy_async:
    case TaskKind::memset_async:
      return has_stars(chip) ? kStarsSdma : kHwtsSdma;
    case TaskKind::event_record:
      return kEventRecord;
    case TaskKind::event_wait:
      return kEventWait;
    case TaskKind::callback:
      return has_stars(chip) ? kHostCpu : kPlaceHolder;
    case TaskKind::notify_record:
      return kNotifyRecord;
    case TaskKind::notify_wait:
      return kNotifyWait;
    case TaskKind::value_write:
      return kWriteValue;
    case TaskKind::value_wait:
    case TaskKind::step:
      break;
  }
  return kPlaceHolder;
}

cann::StarsLogWire stars_log(const DeviceTask& task, unsigned sqe, bool is_end) {
  cann::StarsLogWire record = {};
  record.head =
      static_cast<std::uint16_t>((is_end ? cann::kTaskEnd : cann::kTaskStart) | sqe << 10U);
  record.magic = cann::kDeviceMagic;
  record.stream_id = task.stream;
  record.task_id = task.task;
  record.syscnt = is_end ? task.end : task.begin;
  return record;
}

cann::HwtsWire hwts_log(const DeviceTask& task, unsigned sqe, bool is_end) {
  cann::HwtsWire record = {};
  record.cnt_tag = is_end ? 1 : 0;
  record.task_type = static_cast<std::uint8_t>(sqe);
  record.magic = cann::kDeviceMagic;
  record.task_id = task.task;
  record.syscnt = is_end ? task.end : task.begin;
  record.stream_id = task.stream;
  return record;
}

cann::FftsWire stars_counters(const DeviceTask& task, bool is_vector_core,
                              const CounterValues& values) {
  cann::FftsWire record = {};
  record.head = cann::kContextCounters;
  record.magic = cann::kDeviceMagic;
  record.stream_id = task.stream;
  record.task_id = task.task;
  record.subtask = is_vector_core ? 1 : 0;
  record.ffts = is_vector_core ? 1U << 5U : 0;
  record.total_cycle = task.end - task.begin;
  set_counters(record, values);
  record.start = task.begin;
  record.end = task.end;
  return record;
}

cann::AicoreWire hwts_counters(const DeviceTask& task, const CounterValues& values) {
  cann::AicoreWire record = {};
  record.magic = cann::kDeviceMagic;
  record.task_id = task.task;
  record.total_cycle = task.end - task.begin;
  set_counters(record, values);
  record.stream_id = task.stream;
  return record;
}

cann::AicpuNodeWire aicpu_record(const DeviceTask& task, std::uint32_t thread) {
  cann::AicpuNodeWire record = {};
  record.head = {kRecordMagic, cann::kAicpuLevel, cann::kAicpuNodeType, thread,
                 232,          node_end(task)};
  set_node(record, task);
  return record;
}

cann::OldAicpuWire old_aicpu_record(const DeviceTask& task, std::uint32_t thread,
                                    std::uint16_t device) {
  cann::OldAicpuWire record = {};
  record.magic = kRecordMagic;
  record.tag = cann::kOldAicpuTag;
  record.thread_id = thread;
  record.device_id = device;
  set_node(record, task);
  return record;
}

cann::L2CacheWire l2_cache_record(const DeviceTask& task, unsigned sqe,
                                  const CounterValues& values) {
  cann::L2CacheWire record = {};
  record.task_type = static_cast<std::uint16_t>(sqe);
  record.stream = task.stream;
  record.task = task.task;
  // Has no meaning; a nonzero value distinguishes the record from unwritten space.
  record.reserved = cann::kDeviceMagic;
  for (std::size_t i = 0; i < cann::kL2CacheEvents; ++i) record.events[i] = values[i];
  return record;
}

cann::StepTraceWire step_record(std::uint16_t stream, std::uint16_t task, std::uint64_t index,
                                std::uint64_t model, std::uint16_t tag, std::uint64_t at) {
  cann::StepTraceWire record = {};
  record.head.tag = static_cast<std::uint8_t>(cann::TsTag::step_trace);
  record.head.bytes = sizeof(record);
  record.head.ticks = at;
  record.index_id = index;
  record.model_id = model;
  record.stream = stream;
  record.task = task;
  record.tag = tag;
  return record;
}

cann::FlipWire flip_record(std::uint16_t stream, std::uint16_t number, std::uint64_t at) {
  cann::FlipWire record = {};
  record.head.tag = static_cast<std::uint8_t>(cann::TsTag::flip);
  record.head.bytes = sizeof(record);
  record.head.ticks = at;
  record.stream = stream;
  record.number = number;
  return record;
}

}  // namespace msprof::acl
