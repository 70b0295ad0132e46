#include "support/prof/prof_scene.hpp"

#include <algorithm>

namespace msprof::test::prof {

namespace {

constexpr std::uint64_t kFftsMargin = 100;  // an FFTS+ thread runs inside its task

std::uint32_t runtime_type(Core core) {
  switch (core) {
    case Core::aic:
      return kKernelAicore;
    case Core::aiv:
      return kKernelAivec;
    case Core::aicpu:
      return kKernelAicpu;
    case Core::mix_aic:
      return kKernelMixAic;
    case Core::mix_aiv:
      return kKernelMixAiv;
  }
  return 0;
}

// Source: T1 of cann_host.md 1.9.
std::uint32_t node_type(Core core) {
  switch (core) {
    case Core::aic:
      return 0;
    case Core::aicpu:
      return 1;
    case Core::aiv:
      return 2;
    case Core::mix_aic:
      return 4;
    case Core::mix_aiv:
      return 5;
  }
  return 0;
}

bool is_mix(Core core) {
  return core == Core::mix_aic || core == Core::mix_aiv;
}
bool is_mix(std::uint32_t type) {
  return type == kKernelMixAic || type == kKernelMixAiv;
}

// Source: cann_device.md 4.1.
std::uint8_t sqe_type(std::uint32_t task_type, bool stars) {
  switch (task_type) {
    case kKernelAicpu:
      return 1;
    case kKernelAivec:
    case kKernelMixAiv:
      return 2;
    case kEventRecord:
      return 4;
    case kStreamWaitEvent:
      return 5;
    case kNotifyRecord:
      return 6;
    case kNotifyWait:
      return 7;
    case kRdmaSend:
      return 8;
    case kMemcpyAsync:
      return stars ? 11 : 9;
    default:
      return 0;
  }
}

std::uint8_t sqe_type_v6(std::uint32_t task_type) {
  switch (task_type) {
    case kKernelAivec:
    case kKernelMixAiv:
      return 1;
    case kKernelAicpu:
      return 5;
    case kNotifyRecord:
      return 6;
    case kNotifyWait:
      return 7;
    case kEventRecord:
    case kStreamWaitEvent:
      return 8;
    case kMemcpyAsync:
      return 11;
    default:
      return 0;
  }
}

// The type in records of a 310's scheduler (cann_device.md 19).
std::uint16_t time_line_type(std::uint32_t task_type) {
  switch (task_type) {
    case kKernelAicpu:
      return 1;
    case kEventRecord:
      return 2;
    case kStreamWaitEvent:
      return 3;
    case kMemcpyAsync:
      return 5;
    default:
      return 0;
  }
}

}  // namespace

void ProfScene::call(std::uint16_t level, std::uint32_t type, const HostSpan& host,
                     std::uint64_t item, std::uint32_t request) {
  Api api;
  api.level = level;
  api.type = type;
  api.thread = host.thread;
  api.begin = host_at(host.begin);
  api.end = host_at(host.end);
  api.item = item;
  api.request = request;
  folder_.host(api);
}

void ProfScene::node_records(const OpKind& op, const HostSpan& node, bool in_model) {
  const std::uint64_t time = host_at(node.end - 50);
  const std::uint64_t name = folder_.hash(op.name);
  const NodeBasic basic{node.thread,           time,      name,         node_type(op.core),
                        folder_.hash(op.type), op.blocks, op.mix_ratio, op.hf32 ? 1u : 0u};
  folder_.host(in_model ? "unaging.compact.node_basic_info" : NodeBasic::kStem, bytes(basic));
  for (std::size_t first = 0; first < op.tensors.size(); first += 5) {
    const std::size_t last = std::min(first + 5, op.tensors.size());
    const auto begin = op.tensors.begin();
    folder_.host(TensorInfo{
        node.thread,
        time,
        name,
        {begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last)}});
  }
  if (!op.attr.empty()) folder_.host(NodeAttr{node.thread, time, name, 0, folder_.hash(op.attr)});
  if (is_mix(op.core)) folder_.host(ContextId{node.thread, time, name, {0}, kNode});
}

void ProfScene::launch(const OpKind& op, const HostSpan& host, const DeviceSpan& device,
                       const Launch& how) {
  const HostSpan node{host.thread, host.begin + 100, host.end - 100};
  if (!how.in_model) call(kAcl, how.acl_type, host);
  call(kNode, kLaunch, node, folder_.hash(op.name));
  node_records(op, node, how.in_model);
  call(kRuntime, kRtLaunch, {host.thread, host.begin + 200, host.end - 200});
  track(host.thread, host.begin + 250, runtime_type(op.core), device, how.batch, &op);
  device_task(runtime_type(op.core), device);
  if (how.pmu) pmu(op, device, *how.pmu);
  if (op.core == Core::aicpu && (setup().is_stars() || setup().is_v6())) aicpu(device);
}

void ProfScene::simple(std::uint32_t acl, std::uint32_t runtime, std::uint32_t task_type,
                       const HostSpan& host, const DeviceSpan& device) {
  call(kAcl, acl, host);
  call(kRuntime, runtime, {host.thread, host.begin + 100, host.end - 100});
  track(host.thread, host.begin + 200, task_type, device);
  device_task(task_type, device);
}

void ProfScene::copy(const HostSpan& host, const DeviceSpan& device, std::uint64_t size,
                     std::uint16_t direction) {
  simple(kAclMemcpyAsync, kRtMemcpy, kMemcpyAsync, host, device);
  folder_.host(
      MemcpyInfo{host.thread, host_at(host.begin + 200), size, std::uint64_t{1} << 26, direction});
}

void ProfScene::record_event(const HostSpan& host, const DeviceSpan& device) {
  simple(kAclRecordEvent, kRtEvent, kEventRecord, host, device);
}

void ProfScene::wait_event(const HostSpan& host, const DeviceSpan& device) {
  simple(kAclStreamWaitEvent, kRtEvent, kStreamWaitEvent, host, device);
}

void ProfScene::collective_step(const Collective& op, const CommStep& step, std::uint32_t thread,
                                std::uint64_t begin) {
  call(kHccl, step.is_master ? kMaster : kSlave, {thread, begin, begin + 350},
       folder_.hash(step.item));
  call(kRuntime, kRtMemcpy, {thread, begin + 50, begin + 300});
  track(thread, begin + 100, step.task_type, step.device);
  HcclInfo info;
  info.thread = thread;
  info.time = host_at(begin + 340);
  info.item = folder_.hash(step.item);
  info.group = folder_.hash(op.group);
  info.plane = step.plane;
  info.size = step.size;
  info.local_rank = step.local_rank;
  info.remote_rank = step.remote_rank;
  info.rank_size = step.rank_size;
  info.link = step.link;
  info.transport = step.transport;
  info.rdma = step.rdma;
  folder_.host(info);
  device_task(step.task_type, step.device);
}

std::uint64_t ProfScene::collective(const Collective& op, std::uint32_t thread,
                                    std::uint64_t begin) {
  const std::uint64_t end = begin + op.host_ns();
  call(kNode, op.call, {thread, begin, end}, folder_.hash(op.name));
  const std::uint64_t time = host_at(end - 50);
  NodeBasic basic;
  basic.thread = thread;
  basic.time = time;
  basic.op_name = folder_.hash(op.name);
  basic.task_type = 9;
  basic.op_type = folder_.hash(op.type);
  folder_.host(basic);
  folder_.host(
      HcclOp{thread, time, 0, 4, folder_.hash(op.algorithm), op.count, folder_.hash(op.group)});
  std::uint64_t at = begin + Collective::kMarginNs;
  for (const CommStep& step : op.steps) {
    collective_step(op, step, thread, at);
    at += Collective::kStepNs;
  }
  return end;
}

void ProfScene::track(std::uint32_t thread, std::uint64_t time, std::uint32_t task_type,
                      const DeviceSpan& device, std::uint16_t batch, const OpKind* op) {
  TaskTrack track;
  track.thread = thread;
  track.time = host_at(time);
  track.device = static_cast<std::uint16_t>(device.device);
  track.stream = device.stream;
  track.task = device.task;
  track.batch = setup().is_v6() ? device.task_high : batch;
  track.task_type = task_type;
  if (op != nullptr) {
    track.kernel_name = folder_.hash(op->name + "_kernel");
    track.blocks = op->blocks;
    track.mix_ratio = static_cast<std::uint8_t>(op->mix_ratio);
  }
  folder_.host(track);
}

// The task waits 200 ns before it runs, and is pending 100 ns before that.
void ProfScene::task_310(std::uint32_t task_type, const DeviceSpan& device) {
  const std::uint16_t type = time_line_type(task_type);
  enum : std::uint16_t { kWaiting = 1, kRunning = 2, kComplete = 3, kPending = 4 };
  const auto state = [&](std::uint16_t number, std::uint64_t ns) {
    folder_.device(device.device, TimeLine{type, number, device.stream, device.task, ticks_at(ns),
                                           1, static_cast<std::uint32_t>(device.device)});
  };
  state(kPending, device.start - 300);
  state(kWaiting, device.start - 200);
  state(kRunning, device.start);
  state(kComplete, device.end);
}

void ProfScene::device_task(std::uint32_t task_type, const DeviceSpan& device) {
  if (setup().is_310()) return task_310(task_type, device);
  if (setup().is_v6()) {
    for (const bool is_end : {false, true})
      folder_.device(device.device,
                     LogV6{is_end, sqe_type_v6(task_type), log_count_[device.device]++, device.id(),
                           ticks_at(is_end ? device.end : device.start)});
    return;
  }
  std::uint8_t& count = log_count_[device.device];
  const bool stars = setup().is_stars();
  const std::uint8_t sqe = sqe_type(task_type, stars);
  const std::uint64_t start = ticks_at(device.start), end = ticks_at(device.end);
  const auto [stream, task] = std::pair(device.stream, device.task);
  if (!stars) {
    folder_.device(device.device, HwtsLog{false, sqe, count++, stream, task, start});
    folder_.device(device.device, HwtsLog{true, sqe, count++, stream, task, end});
    return;
  }
  folder_.device(device.device, AcsqLog{false, sqe, count++, stream, task, start});
  if (is_mix(task_type)) {
    const std::uint8_t subtask = task_type == kKernelMixAic ? 6 : 7;
    folder_.device(device.device, FftsLog{false, sqe, count++, stream, task,
                                          ticks_at(device.start + kFftsMargin), subtask});
    folder_.device(device.device, FftsLog{true, sqe, count++, stream, task,
                                          ticks_at(device.end - kFftsMargin), subtask});
  }
  folder_.device(device.device, AcsqLog{true, sqe, count++, stream, task, end});
}

void ProfScene::pmu_v6(const OpKind& op, const DeviceSpan& device, const TaskPmu& pmu) {
  PmuV6 main;
  main.task = device.id();
  main.is_aiv = op.core == Core::aiv || op.core == Core::mix_aiv;
  main.is_mix = main.is_master = is_mix(op.core);
  main.start = ticks_at(device.start);
  main.end = ticks_at(device.end);
  const auto write = [&](PmuV6 record, std::uint64_t cycles, const Counters& counters) {
    record.count = pmu_count_[device.device]++;
    record.cycles = cycles;
    std::copy(counters.begin(), counters.end(), record.counters.begin());
    record.counters[8] = pmu.more[0];
    record.counters[9] = pmu.more[1];
    folder_.device(device.device, record);
  };
  write(main, pmu.cycles, pmu.counters);
  main.is_aiv = !main.is_aiv;
  main.is_master = false;
  for (const auto& [cycles, counters] : pmu.blocks) write(main, cycles, counters);
}

void ProfScene::pmu(const OpKind& op, const DeviceSpan& device, const TaskPmu& pmu) {
  if (setup().is_v6()) return pmu_v6(op, device, pmu);
  if (setup().is_310()) {
    folder_.device(device.device, EventCount{0, device.stream, device.task, 0, pmu.counters,
                                             pmu.cycles, ticks_at(device.end), op.blocks});
    return;
  }
  if (!setup().is_stars()) {
    const bool is_vector = op.core == Core::aiv;
    std::uint8_t& core_count = (is_vector ? vector_pmu_count_ : pmu_count_)[device.device];
    const CorePmu core{core_count++, device.stream, device.task, pmu.cycles, pmu.counters};
    folder_.device(device.device, is_vector ? CorePmu::kVectorStem : CorePmu::kStem, bytes(core));
    return;
  }
  std::uint8_t& count = pmu_count_[device.device];
  const std::uint64_t margin = is_mix(op.core) ? kFftsMargin : 0;
  ContextPmu main;
  main.count = count++;
  main.stream = device.stream;
  main.task = device.task;
  main.cycles = pmu.cycles;
  main.counters = pmu.counters;
  main.start = ticks_at(device.start + margin);
  main.end = ticks_at(device.end - margin);
  if (op.core == Core::aiv) main.ffts_type = main.subtask_type = 1;
  if (is_mix(op.core)) {
    main.ffts_type = 4;
    main.subtask_type = op.core == Core::mix_aic ? 6 : 7;
  }
  folder_.device(device.device, main);
  BlockPmu block;
  block.stream = device.stream;
  block.task = device.task;
  block.subtask_type = main.subtask_type;
  block.is_aiv = op.core == Core::mix_aic;
  block.start = ticks_at(device.start + 140);
  block.end = ticks_at(device.end - 140);
  for (const auto& [cycles, counters] : pmu.blocks) {
    block.count = count++;
    block.cycles = cycles;
    block.counters = counters;
    folder_.device(device.device, block);
    block.sub_block ^= 1;
    if (block.sub_block == 0) ++block.block;
    ++block.core;
  }
}

void ProfScene::aicpu(const DeviceSpan& device) {
  AicpuNode node;
  node.stream = setup().is_v6() ? device.task : device.stream;
  node.task = setup().is_v6() ? device.task_high : device.task;
  node.start = ticks_at(device.start + 200);
  node.end = ticks_at(device.end - 200);
  node.compute_start_us = 1000;
  node.memcpy_start_us = 1300;
  node.memcpy_end_us = 1350;
  node.submit = ticks_at(device.start);
  node.after_run = ticks_at(device.end);
  node.dispatch_us = 15;
  folder_.device(device.device, node);
}

void ProfScene::flip(std::uint32_t thread, std::uint64_t host_ns, std::uint64_t device_ns,
                     int device, std::uint16_t stream, std::uint16_t number) {
  TaskTrack flip;
  flip.thread = thread;
  flip.time = host_at(host_ns);
  flip.device = static_cast<std::uint16_t>(device);
  flip.stream = stream;
  flip.batch = number;
  flip.task_type = kFlipTask;
  folder_.host(flip);
  folder_.device(device, TsFlip{ticks_at(device_ns), stream, number, 0});
}

void ProfScene::step(int device, std::uint64_t ns, std::uint16_t tag, std::uint64_t index,
                     std::uint64_t model, std::uint16_t stream) {
  if (setup().is_v6()) {
    folder_.device(device, StepTraceV6{ticks_at(ns), index, model, tag, stream, 60000});
    return;
  }
  folder_.device(device, StepTrace{ticks_at(ns), index, model, stream, 60000, tag});
}

void ProfScene::mark(std::uint32_t thread, std::uint64_t begin, std::uint64_t end,
                     const std::string& message, std::uint32_t event) {
  TxMark mark;
  mark.thread = thread;
  mark.event = event;
  mark.begin = host_at(begin);
  mark.end = host_at(end);
  mark.message = message;
  folder_.host(mark);
}

void ProfScene::memory(std::uint32_t thread, std::uint64_t ns, const std::string& op,
                       std::uint64_t address, std::int64_t size, std::uint64_t allocated,
                       std::uint32_t device) {
  folder_.host(TaskMemory{thread, host_at(ns), address, size, folder_.hash(op), allocated,
                          std::uint64_t{1} << 33, device});
}

}  // namespace msprof::test::prof
