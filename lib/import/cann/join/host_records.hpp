// What the host recorded, once it is classified: calls and launched tasks; and records as they are
// on the wire with their place. For the host association. Times are counts of the host.
// Source: cann_host.md 1.8, 1.10.
#pragma once

#include <cstdint>

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

// A record that tells about a call, and what its place in the files says about it.
template <typename Wire>
struct HostRecord {
  Wire wire = {};
  std::uint64_t sequence = 0;  // place in reading order: the last record of a kind describes a node
  bool is_unaging = false;
};

}  // namespace msprof
