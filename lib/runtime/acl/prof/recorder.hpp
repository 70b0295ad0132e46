// What the interface and the devices tell the profiler, for api/ and device/. Every function may be
// called by any thread at any time, returns at once where nothing of the kind is recorded, never
// throws and never blocks on a reader, nor on a disk for longer than one allocation of a slice; but
// where slices are not mapped, a disk that is slower than the records makes them wait. Times are
// nanoseconds of runtime::monotonic_ns().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/engine/clock.hpp"
#include "runtime/engine/model/operator.hpp"
#include "wire/cann/host_wire.hpp"

namespace msprof::acl {

inline constexpr std::uint32_t kNoModel = 0xFFFFFFFF;

// Calls of the C interface that are recorded, and their numbers in type_info_dic: class << 16 |
// position in calls.def. Classes: cann_host.md 1.9, T9.
enum class CallClass : std::uint32_t { op = 1, model = 2, runtime = 3, other = 4, nn = 5 };
enum class Call : std::uint32_t {
#define CALL(name, call_class) name,
#include "runtime/acl/prof/calls.def"
#undef CALL
};

// An operator as records describe it; made once, when a model is loaded or an operator prepared. It
// must outlive the tasks that it names.
struct OpInfo {
  std::string name;
  std::string type;
  std::uint32_t task_type = 0;  // cann_host.md 1.9, T1: 0 AI_CORE, 1 AI_CPU, 2 AI_VECTOR_CORE
  std::uint16_t blocks = 1;
  std::vector<TensorWire> tensors;  // inputs, then outputs; of one image where a model has a batch
  std::string attributes;           // one text, may be empty
  runtime::LayerWork work;          // of one image
  // Filled by describe(): hashes of the dictionary.
  std::uint64_t name_hash = 0;
  std::uint64_t type_hash = 0;
  std::uint64_t attributes_hash = 0;
};

// Number of a call in records.
std::uint32_t call_type(Call call);

// Computes the hashes; call once before the first record that names the operator.
void describe(OpInfo& op);

// One task of a stream. `sequence` counts the tasks of the stream from 0; its low 16 bits are the
// task id of records, the rest the batch.
struct TaskIds {
  std::uint16_t device = 0;
  std::uint16_t stream = 0;
  std::uint32_t sequence = 0;
};

// Kinds of tasks that are no operators: names of level runtime (cann_host.md 1.5, 1.8.3).
enum class TaskKind : std::uint8_t {
  op,
  memcpy_async,
  memset_async,
  event_record,
  event_wait,
  callback,
  step,
  notify_record,
  notify_wait,
  value_write,
  value_wait
};

// A launch as the launching thread saw it.
struct Launch {
  TaskIds ids;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  // When the task got its sequence, read under the stream's lock; 0: the end. It decides on which
  // side of a turn of task ids the launch is where several threads launch on one stream.
  std::uint64_t issued_ns = 0;
};

// A task as its device ran it.
struct RanTask {
  TaskIds ids;
  TaskKind kind = TaskKind::op;
  const OpInfo* op = nullptr;  // of TaskKind::op
  std::uint32_t images = 1;    // batch of the execution
  std::uint32_t model = kNoModel;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};

enum class CopyDirection : std::uint16_t {
  host_to_host = 0,
  host_to_device = 1,
  device_to_host = 2,
  device_to_device = 3
};

// Records the call in whose body it lives (api_event of level acl). Costs one load where nothing is
// recorded.
class RecordedCall {
 public:
  explicit RecordedCall(Call call);
  ~RecordedCall();
  RecordedCall(const RecordedCall&) = delete;
  RecordedCall& operator=(const RecordedCall&) = delete;

 private:
  const Call call_;
  const std::uint64_t begin_ns_;  // 0: not recorded
};

// Is told every task and every execution of a model that any device ran, from the thread that ran
// it: for subscriptions. Null: nobody.
using TaskObserver = void (*)(const RanTask& task);
void observe_tasks(TaskObserver observer);

// True while anything at all is recorded, or a model is subscribed; when false, no clock needs to
// be read for it.
bool is_recording();
// The same for tasks of one device (any task time bit, or a subscription).
bool records_tasks(std::uint16_t device);

// Level model: one execution of a model, around its launches. `request` counts the executions of
// the process.
void record_model_execution(std::uint32_t model, std::uint32_t request, std::uint64_t begin_ns,
                            std::uint64_t end_ns, std::uint16_t device);
// An operator that the compiler of a model made of several; memory of one image.
struct FusedOp {
  std::string_view name;
  std::span<const std::string> originals;
  std::uint64_t input_bytes = 0;
  std::uint64_t output_bytes = 0;
  std::uint64_t weight_bytes = 0;
  std::uint64_t workspace_bytes = 0;
};
// Level model: "ModelLoad" around the loading of a model; graph name for graph_id_map, and what was
// fused in it.
void record_model_load(std::uint32_t model, std::string_view graph, std::span<const FusedOp> fused,
                       std::uint64_t begin_ns, std::uint64_t end_ns);
// Level node: the launch of an operator, with its description and its task.
void record_op_launch(const Launch& launch, const OpInfo& op, std::uint32_t images);
// A task that is no operator; `runtime_call` names the runtime call around it ("MemcpyAsync",
// "EventRecord", …).
void record_task_launch(const Launch& launch, TaskKind kind);
void record_copy_launch(const Launch& launch, std::uint64_t bytes, CopyDirection direction);
// The device ran a task: its begin and end, its counters; and the record of a subscribed model. In
// the order of the stream: of one stream by one thread at a time, each with a reading of the clock
// of its own.
void record_task(const RanTask& task);
// The device ran an execution of a model, from its begin mark to its end mark: kind step, no
// operator. Its marks are recorded by record_step(); this is for subscribers of the model.
void record_execution(const RanTask& execution);
// The device passed a step mark: of a model's execution (tag 0 begin, 1 end), a mark of the
// application or a stamp.
void record_step(const TaskIds& ids, std::uint64_t index, std::uint64_t model, std::uint16_t tag,
                 std::uint64_t at_ns);

// A stream is destroyed, after its last task.
void record_stream_destroyed(std::uint16_t device, std::uint16_t stream);
// Device memory is taken (bytes > 0) or given back (bytes < 0): by the operator of that name, or
// with "" by the application. The totals are those of the device afterwards.
void record_memory(std::uint16_t device, std::string_view op_name, std::uint64_t address,
                   std::int64_t bytes, std::uint64_t allocated_bytes, std::uint64_t reserved_bytes);

// Whether a recording takes stamps (bit MSPROFTX).
bool records_stamps();
// One record of msproftx, head included, into every recording that takes stamps. Behind
// `message_bytes` of the message it is zeros.
void record_stamp(const MsprofTxWire& record, std::size_t message_bytes = kTxMessageBytes);
// The hash of a text, which the dictionaries of all recordings have, those that start later too.
std::uint64_t intern_text(std::string_view text);
// Level node: an operator that the application describes around launches of its own; no task. Its
// hashes are taken as they are.
void record_op_range(std::uint64_t begin_ns, std::uint64_t end_ns, const OpInfo& op);

}  // namespace msprof::acl
