// Input of the host association: calls, launched tasks, and wire records with their position.
// Output: operators, collectives and host tasks, passed to a HostSink. Times are host counts.
// Source: cann_host.md 1.8, 1.10.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "import/cann/join/host_tasks.hpp"
#include "wire/cann/host_wire.hpp"

namespace msprof {

struct HostCall {
  std::int64_t id = kNull;  // id of the ApiCallRow
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t item = 0;  // hash of a name, or number of a model
  std::uint32_t thread = 0;
  std::uint32_t type = 0;
  std::uint16_t level = 0;
  bool is_step_info = false;  // from the name of its type
  bool is_master = false;     // from the name of its type
  bool is_lccl = false;       // its item's name starts with "Lccl"
};

// Meaning of a task type for the association.
enum class TaskClass : std::uint8_t {
  aicore,
  aicpu,
  aivec,
  simt,
  mix_aic,
  mix_aiv,
  other_kernel,  // other names that start with KERNEL
  stars_common,
  ffts_plus,
  memcpy_async,
  other
};

// A launched task (task_track).
struct HostTrack {
  std::uint64_t time = 0;
  std::uint64_t kernel_hash = 0;  // 0 if absent
  std::int64_t type_name_id = kNull;
  std::int64_t copy_bytes = kNull;
  std::uint32_t copy_direction = 65535;
  std::uint32_t thread = 0;
  std::uint32_t task_number = 0;
  std::uint32_t stream = 0;
  std::uint16_t device = 0;
  std::uint16_t batch = 0;
  TaskClass task_class = TaskClass::other;
  bool has_launch_info = false;
  // Launch info: blocks of a kernel and the ratio of its second kind of core, or the dimensions of
  // a SIMT kernel.
  std::uint8_t mix_ratio = 0;
  std::uint16_t block_num = 0;
  std::uint16_t grid_dim[3] = {};
  std::uint16_t block_dim[3] = {};
};

// A record that belongs to a call, with its position in the files.
template <typename Wire>
struct HostRecord {
  Wire wire = {};
  std::uint64_t sequence = 0;  // in reading order: the last record of a kind describes a node
  bool is_unaging = false;
};

// An operator as described by its node. Equal descriptions are one operator.
struct HostOp {
  static constexpr std::uint32_t kNoTaskType = 0xFFFFFFFE;  // no task type (table T1); shown as N/A

  std::uint64_t name_hash = 0;
  std::uint64_t type_hash = 0;       // 0: N/A
  std::uint64_t attribute_hash = 0;  // 0: N/A
  std::uint32_t task_type = kNoTaskType;
  std::uint32_t block_num = 0;
  std::uint32_t mix_block_num = 0;
  std::int8_t is_dynamic = -1;  // -1: N/A
  std::int8_t is_hf32 = -1;
  bool has_dims = false;
  std::uint16_t grid_dim[3] = {};
  std::uint16_t block_dim[3] = {};
  std::span<const std::byte> tensors;  // 44 bytes per tensor
};

// Host data of one task of a collective.
struct HostComm {
  std::uint64_t launch_count = 0;
  std::uint32_t thread = 0;
  bool is_master = false;
  bool has_task_info = false;
  bool has_op_info = false;
  bool has_kind = false;
  std::uint64_t kind_hash = 0;  // operator type in the call's first node_basic_info
  HcclInfoWire task = {};
  HcclOpInfoWire op = {};
  // The collective's call (node level).
  std::int64_t call_id = kNull;
  std::uint64_t call_begin = 0;
  std::uint64_t call_item = 0;
  std::uint32_t call_type = 0;
};

// Receives the output of the host association and assigns ids. Implemented by HostRows and by
// tests.
class HostSink {
 public:
  virtual ~HostSink() = default;
  virtual std::int64_t op_id(const HostOp& op) = 0;
  virtual std::int64_t comm_call_id(const HostComm& call) = 0;
  virtual std::int64_t kernel_name_id(std::uint64_t hash) = 0;
  // Returns the model whose graph the stream replays (capture_stream_info); kNull if there is none.
  virtual std::int64_t captured_model(const HostTrack& track) = 0;
  // Describes the operator of a kernel that a graph replays (capture_op_info). Returns false if
  // there is no description. Its tensors are valid until the next call.
  virtual bool captured_op(const HostTrack&, HostOp&) { return false; }
  virtual void add(const HostTask& task) = 0;
};

}  // namespace msprof
