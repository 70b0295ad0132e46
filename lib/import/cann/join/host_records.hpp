// What the host recorded, once decoded and classified: calls, launched tasks, and what operators
// and collectives say about themselves. For the host association. Times are counts of the host.
// Source: cann_host.md 1.8, 1.10.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "import/cann/host_wire.hpp"
#include "store/bulk_insert.hpp"

namespace msprof {

struct HostCall {
  std::int64_t id = kNull;  // ApiCallRow
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t item = 0;  // hash of a name; number of a model
  std::uint32_t thread = 0;
  std::uint32_t type = 0;
  std::uint16_t level = 0;
  bool is_step_info = false;  // by the name of its type
  bool is_master = false;     // likewise
  bool is_lccl = false;       // its item's name begins with "Lccl"
};

// What the name of a task's type means for the association.
enum class TaskClass : std::uint8_t {
  aicore,
  aicpu,
  aivec,
  simt,
  mix_aic,
  mix_aiv,
  other_kernel,  // another name that begins with KERNEL
  stars_common,
  ffts_plus,
  memcpy_async,
  other
};

// A task that was launched (task_track).
struct HostTrack {
  std::uint64_t time = 0;
  std::uint64_t kernel_hash = 0;  // 0: none
  std::int64_t type_name_id = kNull;
  std::int64_t copy_bytes = kNull;
  std::uint32_t copy_direction = 65535;
  std::uint32_t thread = 0;
  std::uint16_t device = 0;
  std::uint16_t stream = 0;
  std::uint16_t task_number = 0;
  std::uint16_t batch = 0;
  TaskClass task_class = TaskClass::other;
  bool has_launch_info = false;
  // Of the launch info: blocks of a kernel with the ratio of its second kind of core, or the
  // dimensions of a SIMT kernel.
  std::uint8_t mix_ratio = 0;
  std::uint16_t block_num = 0;
  std::uint16_t grid_dim[3] = {};
  std::uint16_t block_dim[3] = {};
};

// `sequence` is the place in reading order: the last record of a kind describes a node.
struct NodeBasicInfo {
  std::uint64_t sequence = 0;
  std::uint64_t name_hash = 0;
  std::uint64_t type_hash = 0;
  std::uint32_t task_type = 0;  // table T1
  std::uint32_t blocks = 0;     // low half: blocks, high half: mix ratio
  bool is_hf32 = false;
  bool is_dynamic = false;
};

struct NodeAttribute {
  std::uint64_t sequence = 0;
  std::uint64_t name_hash = 0;
  std::uint64_t attribute_hash = 0;
};

// Some tensors of an operator; records of equal name and time belong together.
struct TensorList {
  std::uint64_t sequence = 0;
  std::uint64_t name_hash = 0;
  std::span<const std::byte> tensors;  // 44 bytes each, as recorded
};

struct ContextIds {
  std::uint64_t sequence = 0;
  std::uint64_t name_hash = 0;
  std::uint16_t level = 0;
  std::span<const std::uint32_t> ids;  // communication level: first and last of a range
};

// hccl_info: one task of a collective.
struct CommTaskInfo {
  std::uint64_t sequence = 0;
  std::uint64_t item_hash = 0;
  std::uint64_t group_hash = 0;
  std::uint64_t notify_id = 0;
  std::uint64_t size_bytes = 0;
  double duration_estimated_us = 0;
  std::uint32_t context = 0xFFFFFFFF;
  std::uint32_t local_rank = 0;
  std::uint32_t remote_rank = 0;
  std::uint32_t rank_size = 0;
  std::uint32_t plane_id = 0;
  std::uint32_t data_type = 0;
  std::uint32_t link_type = 0;
  std::uint32_t transport_type = 0;
  std::uint32_t rdma_type = 0;
};

// hccl_op_info: a collective.
struct CommOpInfo {
  std::uint64_t sequence = 0;
  std::uint64_t algorithm_hash = 0;
  std::uint64_t count = 0;
  std::uint64_t group_hash = 0;
  std::uint8_t data_type = 0;
  bool is_relay = false;
  bool is_retry = false;
};

// A copy (memcpy_info); the tasks launched by the same thread at the same time share it.
struct CopyInfo {
  std::uint64_t time = 0;
  std::uint64_t bytes = 0;
  std::uint64_t most_bytes_per_task = 0;
  std::uint32_t thread = 0;
  std::uint32_t direction = 65535;
};

}  // namespace msprof
