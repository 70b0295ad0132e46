// Interface through which api/ and device/ report events to the profiler. Every function may be
// called by any thread at any time, returns at once if nothing of the kind is recorded, and never
// throws. It never waits for a reader. It waits for the disk while a slice is allocated and, if
// slices are not mapped, while the disk is slower than the records. Times are nanoseconds of
// runtime::monotonic_ns().
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

// Recorded calls of the C interface. Their number in type_info_dic is class << 16 | position in
// calls.def. Classes: cann_host.md 1.9, T9.
enum class CallClass : std::uint32_t { op = 1, model = 2, runtime = 3, other = 4, nn = 5 };
enum class Call : std::uint32_t {
#define CALL(name, call_class) name,
#include "runtime/acl/prof/calls.def"
#undef CALL
};

// An operator as described in records. Created once, when a model is loaded or an operator
// prepared. It must outlive its tasks.
struct OpInfo {
  std::string name;
  std::string type;
  std::uint32_t task_type = 0;  // cann_host.md 1.9, T1: 0 AI_CORE, 1 AI_CPU, 2 AI_VECTOR_CORE
  std::uint16_t blocks = 1;
  std::vector<TensorWire> tensors;  // inputs, then outputs; per image if the model has a batch
  std::string attributes;           // a single text, may be empty
  runtime::LayerWork work;          // per image
  // Hashes in the dictionary, set by describe().
  std::uint64_t name_hash = 0;
  std::uint64_t type_hash = 0;
  std::uint64_t attributes_hash = 0;
};

std::uint32_t call_type(Call call);

// Computes the hashes. Call once, before the first record of the operator.
void describe(OpInfo& op);

// Ids of one task of a stream. `sequence` counts the tasks of the stream from 0; its low 16 bits
// are the task id of records, the rest is the batch.
struct TaskIds {
  std::uint16_t device = 0;
  std::uint16_t stream = 0;
  std::uint32_t sequence = 0;
};

// Kinds of tasks; all except `op` are names of level runtime (cann_host.md 1.5, 1.8.3).
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

// A launch, with the times of the launching thread.
struct Launch {
  TaskIds ids;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  // Time at which the task got its sequence number, read under the stream's lock; 0: use end_ns. If
  // several threads launch on a stream, it decides whether a launch is before or after a wraparound
  // of the task ids.
  std::uint64_t issued_ns = 0;
};

// A task as executed by its device.
struct RanTask {
  TaskIds ids;
  TaskKind kind = TaskKind::op;
  const OpInfo* op = nullptr;  // for TaskKind::op
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

// Records the call in whose body it is declared (api_event of level acl). Costs one load if nothing
// is recorded.
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

// Called for every task and every model execution of any device, from the thread that ran it. For
// subscriptions. Null removes the observer.
using TaskObserver = void (*)(const RanTask& task);
void observe_tasks(TaskObserver observer);

// True while anything is recorded or a model is subscribed. If false, callers need not read the
// clock.
bool is_recording();
// True while tasks of this device are recorded (any task time bit) or a model is subscribed.
bool records_tasks(std::uint16_t device);

// Level model: one execution of a model, around its launches. `request` numbers the executions of
// the process.
void record_model_execution(std::uint32_t model, std::uint32_t request, std::uint64_t begin_ns,
                            std::uint64_t end_ns, std::uint16_t device);
// An operator that the model compiler fused from several; memory per image.
struct FusedOp {
  std::string_view name;
  std::span<const std::string> originals;
  std::uint64_t input_bytes = 0;
  std::uint64_t output_bytes = 0;
  std::uint64_t weight_bytes = 0;
  std::uint64_t workspace_bytes = 0;
};
// Level model: "ModelLoad", the time of loading a model; also its graph name for graph_id_map, and
// its fused operators.
void record_model_load(std::uint32_t model, std::string_view graph, std::span<const FusedOp> fused,
                       std::uint64_t begin_ns, std::uint64_t end_ns);
// Level node: the launch of an operator, with its description and its task.
void record_op_launch(const Launch& launch, const OpInfo& op, std::uint32_t images);
// Launch of a task that is not an operator, with the runtime call around it ("MemcpyAsync",
// "EventRecord", …).
void record_task_launch(const Launch& launch, TaskKind kind);
void record_copy_launch(const Launch& launch, std::uint64_t bytes, CopyDirection direction);
// The device ran a task: records its start and end, its counters, and the record of a subscribed
// model. Tasks of one stream must be reported in order, by one thread at a time, with a separate
// clock reading for each.
void record_task(const RanTask& task);
// The device ran an execution of a model, from its start mark to its end mark. `execution` has kind
// step and no operator. For subscribers of the model; record_step() records the marks.
void record_execution(const RanTask& execution);
// The device passed a step mark: of a model's execution (tag 0 start, 1 end), a mark of the
// application or a stamp.
void record_step(const TaskIds& ids, std::uint64_t index, std::uint64_t model, std::uint16_t tag,
                 std::uint64_t at_ns);

// A stream is destroyed. Call after its last task.
void record_stream_destroyed(std::uint16_t device, std::uint16_t stream);
// Device memory is allocated (bytes > 0) or freed (bytes < 0) by the named operator or, if the name
// is empty, by the application. The totals are the device's new totals.
void record_memory(std::uint16_t device, std::string_view op_name, std::uint64_t address,
                   std::int64_t bytes, std::uint64_t allocated_bytes, std::uint64_t reserved_bytes);

// True if any recording includes stamps (bit MSPROFTX).
bool records_stamps();
// Writes one msproftx record, including its header, to every recording that includes stamps. The
// message is zero after `message_bytes`.
void record_stamp(const MsprofTxWire& record, std::size_t message_bytes = kTxMessageBytes);
// Returns the hash of a text and adds it to the dictionaries of all recordings, including later
// ones.
std::uint64_t intern_text(std::string_view text);
// Level node: an operator that the application marked around its own launches; it has no task. Its
// hashes must already be set.
void record_op_range(std::uint64_t begin_ns, std::uint64_t end_ns, const OpInfo& op);

}  // namespace msprof::acl
