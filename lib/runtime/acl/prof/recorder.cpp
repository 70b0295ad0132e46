#include "runtime/acl/prof/recorder.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "runtime/acl/prof/device_records.hpp"
#include "runtime/acl/prof/dictionary.hpp"
#include "runtime/acl/prof/known_models.hpp"
#include "runtime/acl/prof/recording.hpp"
#include "runtime/acl/prof/thread_number.hpp"
#include "runtime/acl/prof/type_names.hpp"

namespace msprof::acl {

namespace {

std::atomic<TaskObserver> g_observer{nullptr};

constexpr int kAscend910a = 1;

// A record with the size it has in its file; the bytes after the last used field are zeros.
template <typename Wire, std::size_t kBytes>
struct Padded {
  union {
    Wire wire;
    std::byte bytes[kBytes];
  };
  Padded() { std::memset(bytes, 0, sizeof(bytes)); }
};
template <typename Wire>
using Compact = Padded<Wire, 64>;
template <typename Wire>
using Additional = Padded<Wire, 256>;

HostHeader head(CallLevel level, std::uint32_t type, std::uint32_t payload_bytes,
                std::uint64_t time_ns) {
  return {kRecordMagic, static_cast<std::uint16_t>(level), type, thread_number(), payload_bytes,
          time_ns};
}

struct Span {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};

// Readers use a call's time range to find its records, so a call must not have zero duration.
Span span(std::uint64_t begin_ns, std::uint64_t end_ns) {
  return {begin_ns, std::max(end_ns, begin_ns + 1)};
}

void append_call(Recording& recording, CallLevel level, std::uint32_t type, const Span& time,
                 std::uint64_t item = 0, std::uint32_t request = 0) {
  const ApiEventWire record = {head(level, type, request, time.begin_ns), time.end_ns, item};
  recording.append(HostFile::api_event, &record);
}

// Visits the active recordings that have one of the bits and started before `begin_ns`. A call that
// was running when a recording started is not recorded partially.
template <typename Use>
void record(std::uint64_t bits, std::uint64_t begin_ns, Use&& use) {
  ActiveRecordings& active = ActiveRecordings::instance();
  if ((active.bits() & bits) == 0) return;
  active.for_each([&](Recording& recording) {
    if ((recording.options().bits & bits) != 0 && begin_ns >= recording.begin_ns()) use(recording);
  });
}

template <typename Use>
void record_on(std::uint16_t device, std::uint64_t bits, std::uint64_t begin_ns, Use&& use) {
  record(bits, begin_ns, [&](Recording& recording) {
    if (recording.has_device(device)) use(recording);
  });
}

void append_turn(Recording& recording, RecordSide side, const TaskIds& ids, std::uint32_t number,
                 std::uint64_t at_ns) {
  const auto stream = static_cast<std::uint16_t>(ids.stream & cann::kStreamMask);
  if (side == RecordSide::device) {
    const cann::FlipWire flip = flip_record(stream, static_cast<std::uint16_t>(number), at_ns);
    recording.append(ids.device, DeviceFile::ts_track, &flip);
    return;
  }
  Compact<TaskTrackWire> flip;
  flip.wire.head = head(CallLevel::runtime, record_type::kTaskTrack, kLaunchDataLen, at_ns);
  flip.wire.device = ids.device;
  flip.wire.stream = stream;
  flip.wire.batch = static_cast<std::uint16_t>(number);
  flip.wire.type = task_type::kFlip;
  recording.append(HostFile::task_turns, &flip);
}

// Records the task id wraparounds up to this task that the recording does not contain yet. Readers
// count them on the host and on the device, so both need all of them, even if recording started
// later.
void turn(Recording& recording, RecordSide side, const TaskIds& ids, std::uint64_t before_ns) {
  std::atomic<std::uint32_t>* const turns = recording.turns(ids.device, ids.stream, side);
  const std::uint32_t batch = ids.sequence >> 16U;
  std::uint32_t seen = turns->load(std::memory_order_relaxed);
  if (batch <= seen) return;
  while (seen < batch && !turns->compare_exchange_weak(seen, batch, std::memory_order_relaxed)) {
  }
  for (std::uint32_t number = seen + 1; number <= batch; ++number)
    append_turn(recording, side, ids, number, before_ns);
}

std::uint64_t issued_ns(const Launch& launch, const Span& time) {
  const bool is_given = launch.issued_ns > time.begin_ns && launch.issued_ns <= time.end_ns;
  return is_given ? launch.issued_ns : time.end_ns;
}

void append_track(Recording& recording, const TaskIds& ids, std::uint32_t type,
                  std::uint64_t kernel_hash, std::uint16_t blocks, std::uint64_t at_ns) {
  turn(recording, RecordSide::host, ids, at_ns - 1);
  Compact<TaskTrackWire> track;
  track.wire.head = head(CallLevel::runtime, record_type::kTaskTrack, kLaunchDataLen, at_ns);
  track.wire.device = ids.device;
  track.wire.stream = ids.stream & cann::kStreamMask;
  track.wire.task_number = static_cast<std::uint16_t>(ids.sequence);
  track.wire.batch = static_cast<std::uint16_t>(ids.sequence >> 16U);
  track.wire.type = type;
  track.wire.kernel_name = kernel_hash;
  const KernelLaunchWire launch = {blocks, 0, 0};
  std::memcpy(track.wire.launch, &launch, sizeof(launch));
  recording.append(HostFile::task_track, &track);
}

// A 910A has a single kind of cores.
std::uint32_t recorded_kind(const OpInfo& op, const Recording& recording) {
  return op.task_type == kVectorCoreTask && recording.options().chip == kAscend910a ? kAiCoreTask
                                                                                    : op.task_type;
}

std::uint32_t to_task_type(std::uint32_t op_task_type) {
  if (op_task_type == kAiCpuTask) return task_type::kAiCpu;
  return op_task_type == kVectorCoreTask ? task_type::kAiVector : task_type::kAiCore;
}

void append_basic(Recording& recording, const OpInfo& op, std::uint64_t at_ns) {
  Compact<NodeBasicInfoWire> basic;
  basic.wire.head = head(CallLevel::node, record_type::kNodeBasicInfo, 40, at_ns);
  basic.wire.name = op.name_hash;
  basic.wire.task_type = recorded_kind(op, recording);
  basic.wire.type = op.type_hash;
  basic.wire.blocks = op.blocks;
  recording.append(HostFile::node_basic_info, &basic);
}

void append_attributes(Recording& recording, const OpInfo& op, std::uint64_t at_ns) {
  recording.intern(op.attributes_hash, op.attributes);
  Compact<NodeAttrInfoWire> attributes;
  attributes.wire.head = head(CallLevel::node, record_type::kNodeAttrInfo, 40, at_ns);
  attributes.wire.name = op.name_hash;
  attributes.wire.attribute = op.attributes_hash;
  recording.append(HostFile::node_attr_info, &attributes);
}

// A record has room for a limited number of original operators; readers reject longer records.
void append_fusion(Recording& recording, const FusedOp& op, std::uint64_t at_ns) {
  if (op.originals.size() > kMaxFusedOps) return;
  Additional<FusionOpInfoWire> fusion;
  fusion.wire.head = head(CallLevel::node, record_type::kFusionOpInfo,
                          sizeof(fusion) - sizeof(fusion.wire.head), at_ns);
  fusion.wire.name = recording.intern(op.name);
  fusion.wire.count = static_cast<std::uint32_t>(op.originals.size());
  fusion.wire.input_bytes = op.input_bytes;
  fusion.wire.output_bytes = op.output_bytes;
  fusion.wire.weight_bytes = op.weight_bytes;
  fusion.wire.workspace_bytes = op.workspace_bytes;
  fusion.wire.total_bytes = op.input_bytes + op.output_bytes + op.weight_bytes + op.workspace_bytes;
  for (std::size_t i = 0; i < op.originals.size(); ++i)
    fusion.wire.names[i] = recording.intern(op.originals[i]);
  recording.append(HostFile::fusion_op_info, &fusion);
}

// The first dimension of these formats is the number of images.
bool counts_images(const TensorWire& tensor) {
  constexpr std::uint32_t kLastImageFormat = 3;  // NCHW, NHWC, ND, NC1HWC0
  return tensor.format <= kLastImageFormat && tensor.shape[0] != 0;
}

void append_tensors(Recording& recording, const OpInfo& op, std::uint32_t images,
                    std::uint64_t at_ns) {
  for (std::size_t from = 0; from < op.tensors.size(); from += kMaxTensors) {
    Additional<TensorInfoWire> tensors;
    tensors.wire.head = head(CallLevel::node, record_type::kTensorInfo, 232, at_ns);
    tensors.wire.name = op.name_hash;
    tensors.wire.tensor_count =
        static_cast<std::uint32_t>(std::min<std::size_t>(op.tensors.size() - from, kMaxTensors));
    for (std::uint32_t i = 0; i < tensors.wire.tensor_count; ++i) {
      TensorWire tensor = op.tensors[from + i];
      if (images > 1 && counts_images(tensor)) tensor.shape[0] *= images;
      tensors.wire.tensors[i] = tensor;
    }
    recording.append(HostFile::tensor_info, &tensors);
  }
}

struct TaskNames {
  std::uint32_t type;
  std::uint32_t call;
};

TaskNames task_names(TaskKind kind) {
  switch (kind) {
    case TaskKind::memcpy_async:
      return {task_type::kMemcpyAsync, runtime_call::kMemcpyAsync};
    case TaskKind::memset_async:
      return {task_type::kMemsetAsync, runtime_call::kMemsetAsync};
    case TaskKind::event_record:
      return {task_type::kEventRecord, runtime_call::kEventRecord};
    case TaskKind::event_wait:
      return {task_type::kStreamWaitEvent, runtime_call::kStreamWaitEvent};
    case TaskKind::callback:
      return {task_type::kCallback, runtime_call::kCallback};
    case TaskKind::step:
      return {task_type::kProfilerTrace, runtime_call::kProfilerTrace};
    case TaskKind::notify_record:
      return {task_type::kNotifyRecord, runtime_call::kNotifyRecord};
    case TaskKind::notify_wait:
      return {task_type::kNotifyWait, runtime_call::kNotifyWait};
    case TaskKind::value_write:
      return {task_type::kValueWrite, runtime_call::kValueWrite};
    case TaskKind::value_wait:
      return {task_type::kValueWait, runtime_call::kValueWait};
    case TaskKind::op:
      break;
  }
  return {task_type::kAiCore, runtime_call::kLaunch};
}

constexpr std::uint64_t kLaunchBits = prof_bits::kAnyTaskTime | prof_bits::kRuntimeApi;

void append_launch(Recording& recording, const Launch& launch, const Span& time, TaskKind kind) {
  const std::uint64_t bits = recording.options().bits;
  const TaskNames names = task_names(kind);
  if ((bits & prof_bits::kRuntimeApi) != 0)
    append_call(recording, CallLevel::runtime, names.call, time);
  if ((bits & prof_bits::kAnyTaskTime) == 0) return;
  if (kind == TaskKind::step) append_call(recording, CallLevel::node, record_type::kStepInfo, time);
  append_track(recording, launch.ids, names.type, 0, 0, issued_ns(launch, time));
}

void append_counters(Recording& recording, const RanTask& task, const DeviceTask& run) {
  const Metrics* const metrics = find_metrics(recording.options());
  const std::uint32_t kind = recorded_kind(*task.op, recording);
  if (metrics == nullptr || kind == kAiCpuTask) return;
  const int chip = recording.options().chip;
  const bool is_vector = kind == kVectorCoreTask;
  const CounterValues values =
      count_events(*metrics, chip, is_vector, task.op->work, task.images, run.end - run.begin);
  const DeviceFile file = is_vector ? DeviceFile::vector_counters : DeviceFile::counters;
  if (has_stars(chip)) {
    const cann::FftsWire record = stars_counters(run, is_vector, values);
    recording.append(task.ids.device, file, &record);
  } else {
    const cann::AicoreWire record = hwts_counters(run, values);
    recording.append(task.ids.device, file, &record);
  }
}

void append_l2_cache(Recording& recording, const RanTask& task, const DeviceTask& run,
                     unsigned sqe) {
  if ((recording.options().bits & prof_bits::kL2Cache) == 0 || task.op->task_type == kAiCpuTask)
    return;
  const CounterValues values = count_l2_cache(recording.options().chip, task.op->work, task.images);
  const cann::L2CacheWire record = l2_cache_record(run, sqe, values);
  recording.append(task.ids.device, DeviceFile::l2_cache, &record);
}

void append_aicpu(Recording& recording, const RanTask& task, const DeviceTask& run) {
  if ((recording.options().bits & prof_bits::kAicpu) == 0 || task.op->task_type != kAiCpuTask)
    return;
  if (has_stars(recording.options().chip)) {
    const cann::AicpuNodeWire record = aicpu_record(run, thread_number());
    recording.append(task.ids.device, DeviceFile::aicpu, &record);
  } else {
    const cann::OldAicpuWire record = old_aicpu_record(run, thread_number(), task.ids.device);
    recording.append(task.ids.device, DeviceFile::aicpu, &record);
  }
}

void append_task(Recording& recording, const RanTask& task, const Span& time) {
  const DeviceTask run = {static_cast<std::uint16_t>(task.ids.stream & cann::kStreamMask),
                          static_cast<std::uint16_t>(task.ids.sequence), time.begin_ns,
                          time.end_ns};
  turn(recording, RecordSide::device, task.ids, time.begin_ns - 1);
  const std::uint32_t op_type = task.op != nullptr ? recorded_kind(*task.op, recording) : 0;
  const unsigned sqe = sqe_type(recording.options().chip, task.kind, op_type);
  for (const bool is_end : {false, true}) {
    if (has_stars(recording.options().chip)) {
      const cann::StarsLogWire record = stars_log(run, sqe, is_end);
      recording.append(task.ids.device, DeviceFile::task_log, &record);
    } else {
      const cann::HwtsWire record = hwts_log(run, sqe, is_end);
      recording.append(task.ids.device, DeviceFile::task_log, &record);
    }
  }
  if (task.kind != TaskKind::op || task.op == nullptr) return;
  append_counters(recording, task, run);
  append_aicpu(recording, task, run);
  append_l2_cache(recording, task, run, sqe);
}

}  // namespace

void describe(OpInfo& op) {
  op.name_hash = text_hash(op.name);
  op.type_hash = text_hash(op.type);
  op.attributes_hash = op.attributes.empty() ? 0 : text_hash(op.attributes);
}

RecordedCall::RecordedCall(Call call)
    : call_(call),
      begin_ns_((ActiveRecordings::instance().bits() & prof_bits::kAclApi) != 0
                    ? runtime::monotonic_ns()
                    : 0) {}

RecordedCall::~RecordedCall() {
  if (begin_ns_ == 0) return;
  const Span time = span(begin_ns_, runtime::monotonic_ns());
  record(prof_bits::kAclApi, begin_ns_, [&](Recording& recording) {
    append_call(recording, CallLevel::acl, call_type(call_), time);
  });
}

void observe_tasks(TaskObserver observer) {
  g_observer.store(observer, std::memory_order_release);
}

bool is_recording() {
  return ActiveRecordings::instance().bits() != 0 ||
         g_observer.load(std::memory_order_relaxed) != nullptr;
}

bool records_tasks(std::uint16_t device) {
  if (g_observer.load(std::memory_order_relaxed) != nullptr) return true;
  bool does = false;
  record_on(device, prof_bits::kAnyTaskTime, UINT64_MAX, [&](Recording&) { does = true; });
  return does;
}

void record_model_execution(std::uint32_t model, std::uint32_t request, std::uint64_t begin_ns,
                            std::uint64_t end_ns, std::uint16_t device) {
  constexpr std::uint64_t kBits =
      prof_bits::kTaskDetails | prof_bits::kGeApiL0 | prof_bits::kGeApiL1;
  record_on(device, kBits, begin_ns, [&](Recording& recording) {
    append_call(recording, CallLevel::model, record_type::kModelExecute, span(begin_ns, end_ns),
                model, request);
  });
}

void record_model_load(std::uint32_t model, std::string_view graph, std::span<const FusedOp> fused,
                       std::uint64_t begin_ns, std::uint64_t end_ns) {
  know_model(model, graph);
  constexpr std::uint64_t kBits =
      prof_bits::kTaskDetails | prof_bits::kGeApiL0 | prof_bits::kGeApiL1;
  record(kBits, begin_ns, [&](Recording& recording) {
    append_call(recording, CallLevel::model, record_type::kModelLoad, span(begin_ns, end_ns),
                model);
    record_model_name(recording, model, graph, end_ns);
    for (const FusedOp& op : fused) append_fusion(recording, op, end_ns);
  });
}

void record_op_launch(const Launch& launch, const OpInfo& op, std::uint32_t images) {
  const Span time = span(launch.begin_ns, launch.end_ns);
  const std::uint64_t at_ns = issued_ns(launch, time);
  record_on(launch.ids.device, kLaunchBits, time.begin_ns, [&](Recording& recording) {
    const std::uint64_t bits = recording.options().bits;
    const std::uint32_t kind = recorded_kind(op, recording);
    if ((bits & prof_bits::kRuntimeApi) != 0) {
      append_call(recording, CallLevel::runtime,
                  kind == kAiCpuTask ? runtime_call::kAicpuLaunch : runtime_call::kLaunch, time);
    }
    if ((bits & prof_bits::kAnyTaskTime) == 0) return;
    recording.intern(op.name_hash, op.name);
    recording.intern(op.type_hash, op.type);
    append_call(recording, CallLevel::node, record_type::kLaunch, time, op.name_hash);
    append_basic(recording, op, at_ns);
    if ((bits & prof_bits::kTaskDetails) != 0) {
      append_tensors(recording, op, images, at_ns);
      if ((bits & prof_bits::kOpAttr) != 0 && !op.attributes.empty())
        append_attributes(recording, op, at_ns);
    }
    append_track(recording, launch.ids, to_task_type(kind), op.name_hash, op.blocks, at_ns);
  });
}

void record_task_launch(const Launch& launch, TaskKind kind) {
  const Span time = span(launch.begin_ns, launch.end_ns);
  record_on(launch.ids.device, kLaunchBits, time.begin_ns,
            [&](Recording& recording) { append_launch(recording, launch, time, kind); });
}

void record_copy_launch(const Launch& launch, std::uint64_t bytes, CopyDirection direction) {
  const Span time = span(launch.begin_ns, launch.end_ns);
  record_on(launch.ids.device, kLaunchBits, time.begin_ns, [&](Recording& recording) {
    // Written before the task's record: readers match the two by thread and time.
    if ((recording.options().bits & prof_bits::kAnyTaskTime) != 0) {
      Compact<MemcpyInfoWire> copy;
      copy.wire.head =
          head(CallLevel::runtime, record_type::kMemcpyInfo, 40, issued_ns(launch, time));
      copy.wire.bytes = bytes;
      copy.wire.most_bytes_per_task = bytes;
      copy.wire.direction = static_cast<std::uint16_t>(direction);
      recording.append(HostFile::memcpy_info, &copy);
    }
    append_launch(recording, launch, time, TaskKind::memcpy_async);
  });
}

void record_task(const RanTask& task) {
  const Span time = span(task.begin_ns, task.end_ns);
  record_on(task.ids.device, prof_bits::kAnyTaskTime, time.begin_ns,
            [&](Recording& recording) { append_task(recording, task, time); });
  if (const TaskObserver observer = g_observer.load(std::memory_order_acquire)) observer(task);
}

void record_execution(const RanTask& execution) {
  if (const TaskObserver observer = g_observer.load(std::memory_order_acquire)) observer(execution);
}

void record_step(const TaskIds& ids, std::uint64_t index, std::uint64_t model, std::uint16_t tag,
                 std::uint64_t at_ns) {
  const bool is_stamp = cann::step_tag::is_stamp(tag);
  record_on(ids.device, is_stamp ? prof_bits::kMsprofTx : prof_bits::kTrainingTrace, at_ns,
            [&](Recording& recording) {
              const cann::StepTraceWire step =
                  step_record(static_cast<std::uint16_t>(ids.stream & cann::kStreamMask),
                              static_cast<std::uint16_t>(ids.sequence), index, model, tag, at_ns);
              recording.append(ids.device, DeviceFile::ts_track, &step);
            });
}

void record_op_range(std::uint64_t begin_ns, std::uint64_t end_ns, const OpInfo& op) {
  const Span time = span(begin_ns, end_ns);
  record(prof_bits::kAnyTaskTime, time.begin_ns, [&](Recording& recording) {
    append_call(recording, CallLevel::node, record_type::kLaunch, time, op.name_hash);
    append_basic(recording, op, time.end_ns);
    append_tensors(recording, op, 1, time.end_ns);
  });
}

void record_stream_destroyed(std::uint16_t device, std::uint16_t stream) {
  const std::uint64_t at_ns = runtime::monotonic_ns();
  record_on(device, prof_bits::kAnyTaskTime, at_ns, [&](Recording& recording) {
    const TaskIds ids = {device, stream, 0};
    for (const RecordSide side : {RecordSide::host, RecordSide::device}) {
      append_turn(recording, side, ids, kStreamDestroyed, at_ns);
      recording.turns(device, stream, side)->store(0, std::memory_order_relaxed);
    }
  });
}

void record_memory(std::uint16_t device, std::string_view op_name, std::uint64_t address,
                   std::int64_t bytes, std::uint64_t allocated_bytes,
                   std::uint64_t reserved_bytes) {
  const std::uint64_t at_ns = runtime::monotonic_ns();
  record_on(device, prof_bits::kTaskMemory, at_ns, [&](Recording& recording) {
    constexpr std::uint32_t kNpu = 20;
    TaskMemoryWire record = {};
    record.head = head(CallLevel::node, record_type::kTaskMemoryInfo, 232, at_ns);
    record.address = address;
    record.size_bytes = bytes;
    record.name = recording.intern(op_name);
    record.total_allocated_bytes = allocated_bytes;
    record.total_reserved_bytes = reserved_bytes;
    record.device_id = device;
    record.device_type = kNpu;
    recording.append(HostFile::task_memory_info, &record);
  });
}

}  // namespace msprof::acl
