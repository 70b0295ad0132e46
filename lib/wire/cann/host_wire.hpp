// Host records: all records that are joined into the call tree, and their head, which aicpu.data
// also uses. A struct ends with the last used field; the record size is in the table of
// host_streams.hpp. Source: cann_host.md 1.4, 1.8 (one section per kind), 1.9 (numbers).
#pragma once

#include <cstddef>
#include <cstdint>

namespace msprof {

// Magic number of every host record and of aicpu.data (cann_host.md 1.4).
inline constexpr std::uint16_t kRecordMagic = 0x5A5A;

struct __attribute__((packed)) HostHeader {
  std::uint16_t magic;  // kRecordMagic
  std::uint16_t level;
  std::uint32_t type;
  std::uint32_t thread;
  std::uint32_t data_len;  // payload bytes; api_event: request id
  std::uint64_t time;      // host count; api_event: start of the call
};
static_assert(sizeof(HostHeader) == 24);

// api_event: a call, or an event that starts or ends one.
struct __attribute__((packed)) ApiEventWire {
  HostHeader head;
  std::uint64_t end;
  std::uint64_t item;  // hash of a name, or model number
};
static_assert(sizeof(ApiEventWire) == 40);
// Value of `end` if the record is a call's start or end event.
inline constexpr std::uint64_t kIsEvent = UINT64_MAX;

// task_track: a task launch.
struct __attribute__((packed)) TaskTrackWire {
  HostHeader head;
  std::uint16_t device;  // high 4 bits: 0 NPU, 1 DPU
  std::uint16_t stream;
  std::uint16_t task_number;
  std::uint16_t batch;  // in a flip record: the number of the flip
  std::uint64_t type;
  std::uint64_t kernel_name;  // hash of the name; 0 if absent
  std::uint8_t launch[16];    // KernelLaunchWire or SimtLaunchWire, depending on data_len
};
static_assert(sizeof(TaskTrackWire) == 64);
inline constexpr std::uint32_t kLaunchDataLen = 40;
inline constexpr std::uint64_t kFlipType = 98;        // wraparound of the task ids of a stream
inline constexpr std::uint64_t kMaintenanceType = 6;  // internal task, not of the application
inline constexpr std::uint16_t kStreamDestroyed = 65535;

// task_track_v2: the same task with full ids, written in addition to the first form; only for tasks
// of graphs and for streams that end (cann_new_kinds.md 2.1).
struct __attribute__((packed)) TaskTrackV2Wire {
  HostHeader head;
  std::uint16_t device;
  std::uint16_t reserved;
  std::uint32_t stream;
  std::uint32_t task;
  std::uint32_t type;
  std::uint64_t kernel_name;  // hash of the name; 0 if absent
};
static_assert(sizeof(TaskTrackV2Wire) == 48);

struct __attribute__((packed)) KernelLaunchWire {
  std::uint16_t block_num;
  std::uint16_t args_bytes;
  std::uint8_t ratio_and_mode;  // bits 0-2: mix ratio
};
static_assert(sizeof(KernelLaunchWire) == 5);

struct __attribute__((packed)) SimtLaunchWire {
  std::uint16_t grid_dim[3];
  std::uint16_t block_dim[3];
  std::uint16_t args_bytes;
  std::uint8_t mode;
};
static_assert(sizeof(SimtLaunchWire) == 15);

// node_basic_info: name, type and blocks of an operator.
struct __attribute__((packed)) NodeBasicInfoWire {
  HostHeader head;
  std::uint64_t name;       // hash
  std::uint32_t task_type;  // table T1
  std::uint64_t type;       // hash
  std::uint32_t blocks;     // low half: blocks, high half: mix ratio
  std::uint32_t flag;       // 0: not hf32 eligible
  std::uint8_t state;       // not used: unaging slices are static (cann_host.md 1.2)
};
static_assert(sizeof(NodeBasicInfoWire) == 53);

// node_attr_info: the attributes of an operator, as one text.
struct __attribute__((packed)) NodeAttrInfoWire {
  HostHeader head;
  std::uint64_t name;  // hash
  std::uint32_t attribute_type;
  std::uint64_t attribute;  // hash
};
static_assert(sizeof(NodeAttrInfoWire) == 44);

// tensor_info: inputs and outputs of an operator; records with equal name and time belong together.
constexpr std::uint32_t kInputTensor = 0, kOutputTensor = 1;  // TensorWire::kind
struct __attribute__((packed)) TensorWire {
  std::uint32_t kind;  // 0 input, 1 output
  std::uint32_t format;
  std::uint32_t data_type;
  std::uint32_t shape[8];  // up to the first 0
};
static_assert(sizeof(TensorWire) == 44);

inline constexpr std::uint32_t kMaxTensors = 5;
struct __attribute__((packed)) TensorInfoWire {
  HostHeader head;
  std::uint64_t name;  // hash
  std::uint32_t tensor_count;
  TensorWire tensors[kMaxTensors];
};
static_assert(sizeof(TensorInfoWire) == 256);

// context_id_info: the sub tasks of an operator; at the communication level, the first and last sub
// task of a range.
inline constexpr std::uint32_t kMaxContexts = 55;
struct __attribute__((packed)) ContextIdInfoWire {
  HostHeader head;
  std::uint64_t name;  // hash
  std::uint32_t count;
  std::uint32_t ids[kMaxContexts];
};
static_assert(sizeof(ContextIdInfoWire) == 256);

// fusion_op_info: operators fused by a compiler.
inline constexpr std::uint32_t kMaxFusedOps = 8;
struct __attribute__((packed)) FusionOpInfoWire {
  HostHeader head;
  std::uint64_t name;  // hash
  std::uint32_t count;
  std::uint64_t input_bytes;
  std::uint64_t output_bytes;
  std::uint64_t weight_bytes;
  std::uint64_t workspace_bytes;
  std::uint64_t total_bytes;
  std::uint64_t names[kMaxFusedOps];  // hashes
};
static_assert(sizeof(FusionOpInfoWire) == 140);

// memcpy_info: a copy; belongs to all tasks launched by the same thread at the same time.
struct __attribute__((packed)) MemcpyInfoWire {
  HostHeader head;
  std::uint64_t bytes;
  std::uint64_t most_bytes_per_task;
  std::uint16_t direction;
};
static_assert(sizeof(MemcpyInfoWire) == 42);

// hccl_info: one task of a collective.
struct __attribute__((packed)) HcclInfoWire {
  HostHeader head;
  std::uint64_t item;   // hash
  std::uint64_t tag;    // hash
  std::uint64_t group;  // hash
  std::uint32_t local_rank;
  std::uint32_t remote_rank;
  std::uint32_t rank_size;
  std::uint32_t work_flow_mode;
  std::uint32_t plane_id;
  std::uint32_t context;
  std::uint64_t notify_id;
  std::uint32_t stage;
  std::uint32_t role;
  double duration_estimated_us;
  std::uint64_t source_address;
  std::uint64_t destination_address;
  std::uint64_t size_bytes;
  std::uint32_t reduce_type;
  std::uint32_t data_type;
  std::uint32_t link_type;
  std::uint32_t transport_type;
  std::uint32_t rdma_type;
};
static_assert(sizeof(HcclInfoWire) == 140);

// hccl_op_info: a collective.
struct __attribute__((packed)) HcclOpInfoWire {
  HostHeader head;
  std::uint8_t flags;  // kRelayFlag, kRetryFlag
  std::uint8_t data_type;
  std::uint64_t algorithm;  // hash
  std::uint64_t count;
  std::uint64_t group;  // hash
};
static_assert(sizeof(HcclOpInfoWire) == 50);
inline constexpr std::uint8_t kRelayFlag = 1;
inline constexpr std::uint8_t kRetryFlag = 2;

// capture_stream_info: a stream captured into the graph of a model.
struct __attribute__((packed)) CaptureStreamInfoWire {
  HostHeader head;
  std::uint16_t status;  // 0 captured, 1 destroyed
  std::uint16_t model_stream;
  std::uint16_t original_stream;
  std::uint16_t model;
  std::uint16_t device;
};
static_assert(sizeof(CaptureStreamInfoWire) == 34);

// capture_stream_info_v2: the same, with full ids (cann_new_kinds.md 2.2).
struct __attribute__((packed)) CaptureStreamInfoV2Wire {
  HostHeader head;
  std::uint16_t device;
  std::uint8_t status;
  std::uint8_t reserved;
  std::uint32_t model_stream;
  std::uint32_t original_stream;
  std::uint32_t model;
};
static_assert(sizeof(CaptureStreamInfoV2Wire) == 40);

// memmng_info: an allocation or release by the runtime (cann_new_kinds.md 3.1).
struct __attribute__((packed)) MemmngInfoWire {
  HostHeader head;
  std::uint64_t address;  // for physical memory: a handle
  std::uint64_t bytes;    // 0: released
  std::uint32_t kind;     // RuntimeMemoryRow::kind
  std::uint16_t is_free;
  std::uint16_t device;
  std::uint32_t stream;
};
static_assert(sizeof(MemmngInfoWire) == 52);

// memcpy_ext_info: a copy by a runtime call (cann_new_kinds.md 3.2).
struct __attribute__((packed)) MemcpyExtInfoWire {
  HostHeader head;
  std::uint64_t bytes;
  std::uint16_t kind;  // its meaning depends on the call
  std::uint16_t device;
  std::uint32_t stream;  // kInvalidId: the call is synchronous
};
static_assert(sizeof(MemcpyExtInfoWire) == 40);

// memset_info: a memset by a runtime call (cann_new_kinds.md 3.3).
struct __attribute__((packed)) MemsetInfoWire {
  HostHeader head;
  std::uint64_t bytes;
  std::int32_t value;
  std::uint32_t stream;  // kInvalidId: the call is synchronous
  std::uint16_t device;
};
static_assert(sizeof(MemsetInfoWire) == 42);

// graph_id_map: the name of a model.
struct __attribute__((packed)) GraphIdMapWire {
  HostHeader head;
  std::uint64_t model_name;  // hash
  std::uint32_t graph_id;
  std::uint32_t model_id;
  std::uint8_t reserved[216];
};
static_assert(sizeof(GraphIdMapWire) == 256);

// task_memory_info: device memory allocated and freed by operators.
struct __attribute__((packed)) TaskMemoryWire {
  HostHeader head;
  std::uint64_t address;
  std::int64_t size_bytes;
  std::uint64_t name;  // hash
  std::uint64_t total_allocated_bytes;
  std::uint64_t total_reserved_bytes;
  std::uint32_t device_id;
  std::uint32_t device_type;
  std::uint8_t reserved[184];
};
static_assert(sizeof(TaskMemoryWire) == 256);

// msproftx: a range or a mark named by the application.
enum class TxInfo : std::uint16_t { stamp = 0, extended = 1 };

inline constexpr std::size_t kTxMessageBytes = 156;

struct __attribute__((packed)) MsprofTxWire {
  HostHeader head;
  std::uint16_t info_type;  // TxInfo
  std::uint16_t segment;    // of the message; extended records only
  std::uint32_t reserved;
  std::uint16_t inner_magic;
  std::uint16_t data_tag;
  std::uint32_t process_id;
  std::uint32_t thread_id;
  std::uint32_t category;
  std::uint32_t event_type;  // 0 marker, 1 push/pop, 2 start/end, 3 marker_ex
  std::int32_t payload_type;
  std::uint64_t payload;
  std::uint64_t start_count;  // host count
  std::uint64_t end_count;
  std::uint64_t mark_id;
  std::uint64_t domain;  // hash
  std::int32_t message_type;
  char message[kTxMessageBytes];  // NUL-terminated if shorter than the array
};
static_assert(sizeof(MsprofTxWire) == 256);

}  // namespace msprof
