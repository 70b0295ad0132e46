// HostSink: where the host association puts what it found out, and asks for ids of it.
// For HostAssociation; implemented by the import, and by tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "import/cann/join/host_records.hpp"
#include "import/cann/join/host_task.hpp"

namespace msprof {

// An operator as its node describes it. Equal descriptions are one operator.
struct HostOp {
  static constexpr std::uint32_t kNoTaskType = 0xFFFFFFFE;  // of table T1; none is N/A

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
  std::span<const std::byte> tensors;  // 44 bytes each
};

// The host's side of one task of a collective.
struct HostComm {
  std::uint64_t launch_count = 0;
  std::uint32_t thread = 0;
  bool is_master = false;
  bool has_task_info = false;
  bool has_op_info = false;
  bool has_kind = false;
  std::uint64_t kind_hash = 0;  // operator type of the call's first node_basic_info
  HcclInfoWire task = {};
  HcclOpInfoWire op = {};
  // The collective's call (node level).
  std::int64_t call_id = kNull;
  std::uint64_t call_begin = 0;
  std::uint64_t call_item = 0;
  std::uint32_t call_type = 0;
};

class HostSink {
 public:
  virtual ~HostSink() = default;
  virtual std::int64_t op_id(const HostOp& op) = 0;
  virtual std::int64_t comm_call_id(const HostComm& call) = 0;
  virtual std::int64_t kernel_name_id(std::uint64_t hash) = 0;
  // The model whose graph a stream replays (capture_stream_info); kNull: none.
  virtual std::int64_t captured_model(const HostTrack& track) = 0;
  virtual void add(const HostTask& task) = 0;
};

}  // namespace msprof
