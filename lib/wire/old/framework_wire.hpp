// Records of the graph engine of CANN 5.0 and 5.1 (Framework.*): operators and their tasks, models,
// steps. All start with kRecordMagic and a tag. Source: cann5_classic.md 6.2.
#pragma once

#include <cstddef>
#include <cstdint>

namespace msprof::old {

// A NUL-terminated text of at most kRoom - 1 bytes, or the hash of a longer one.
template <std::size_t kRoom>
struct __attribute__((packed)) MixText {
  std::uint8_t is_text;  // 0: the first 8 bytes are a hash
  std::uint8_t reserved[7];
  char bytes[kRoom];
};

enum class FrameworkTag : std::uint16_t {
  model_load = 20,
  fusion_op = 21,
  model_time = 22,
  task_desc = 23,
  tensor_data = 24,
  step = 25,
  id_map = 26,
  dynamic_op_execute = 27
};

struct __attribute__((packed)) RecordHead {
  std::uint16_t magic;
  std::uint16_t tag;
};

// task_desc_info: an operator and the task that runs it. Iteration 0 means every iteration.
struct __attribute__((packed)) TaskDescWire {
  RecordHead head;
  std::uint32_t task_type;  // 0 AI core, 1 AI CPU, 2 vector core
  MixText<120> name;
  MixText<56> type;
  std::uint64_t iteration;
  std::uint64_t time_ns;  // host's monotonic clock; equal in the operator's tensor records
  std::uint32_t shape;    // 0 static
  std::uint32_t blocks;
  std::uint32_t model;
  std::uint32_t stream;
  std::uint16_t task;
  std::uint16_t batch;
  std::uint32_t thread;
  std::uint64_t context;
  std::uint8_t unused[8];
};
static_assert(sizeof(TaskDescWire) == 256);

struct __attribute__((packed)) OldTensorWire {
  std::uint32_t kind;  // 0 input, 1 output
  std::uint32_t format;
  std::uint32_t data_type;
  std::uint32_t shape[8];  // unused dimensions are 0
};
static_assert(sizeof(OldTensorWire) == 44);

// tensor_data_info: up to five tensors of a task; more may follow in the next record.
inline constexpr std::uint32_t kMaxOldTensors = 5;
struct __attribute__((packed)) TensorDataWire {
  RecordHead head;
  std::uint32_t model;
  std::uint64_t iteration;
  std::uint32_t stream;
  std::uint16_t task;
  std::uint16_t batch;
  std::uint32_t count;
  OldTensorWire tensors[kMaxOldTensors];
  std::uint64_t time_ns;
};
static_assert(sizeof(TensorDataWire) == 256);

struct __attribute__((packed)) StepInfoWire {
  RecordHead head;
  std::uint32_t model;
  std::uint32_t stream;
  std::uint16_t task;
  std::uint16_t batch;
  std::uint64_t time_ns;
  std::uint64_t iteration;
  std::uint32_t thread;
  std::uint8_t is_end;
  std::uint8_t unused[27];
};
static_assert(sizeof(StepInfoWire) == 64);

struct __attribute__((packed)) IdMapWire {
  RecordHead head;
  std::uint32_t graph;
  std::uint32_t model;
  std::uint32_t session;
  std::uint64_t time_ns;
  std::uint16_t mode;
  std::uint8_t unused[6];
};
static_assert(sizeof(IdMapWire) == 32);

struct __attribute__((packed)) ModelLoadWire {
  RecordHead head;
  std::uint32_t model;
  MixText<120> name;
  std::uint64_t start_ns;
  std::uint64_t end_ns;
  std::uint8_t unused[104];
};
static_assert(sizeof(ModelLoadWire) == 256);

inline constexpr std::uint64_t kMaxOldFusedOps = 8;
struct __attribute__((packed)) OldFusionOpWire {
  RecordHead head;
  std::uint32_t model;
  MixText<120> name;
  std::uint64_t input_bytes;
  std::uint64_t output_bytes;
  std::uint64_t weight_bytes;
  std::uint64_t workspace_bytes;
  std::uint64_t total_bytes;
  std::uint64_t count;
  std::uint64_t names[kMaxOldFusedOps];  // hashes
  std::uint8_t unused[8];
};
static_assert(sizeof(OldFusionOpWire) == 256);

struct __attribute__((packed)) ModelTimeWire {
  RecordHead head;
  std::uint32_t model;
  MixText<120> name;
  std::uint32_t request;
  std::uint32_t thread;
  std::uint64_t input_start_ns;
  std::uint64_t input_end_ns;
  std::uint64_t infer_start_ns;
  std::uint64_t infer_end_ns;
  std::uint64_t output_start_ns;
  std::uint64_t output_end_ns;
  std::uint8_t unused[64];
};
static_assert(sizeof(ModelTimeWire) == 256);

// A launch phase of an operator whose shape is computed on the host.
struct __attribute__((packed)) DynamicOpExecuteWire {
  RecordHead head;
  std::uint32_t thread;
  std::uint64_t type;   // hash
  std::uint64_t phase;  // hash, for example of "Tiling"
  std::uint64_t start_ns;
  std::uint64_t end_ns;
  std::uint8_t unused[24];
};
static_assert(sizeof(DynamicOpExecuteWire) == 64);

}  // namespace msprof::old
