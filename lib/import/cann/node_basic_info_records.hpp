// The wire layout of node_basic_info: name, type and blocks of an operator. For the host join.
// Source: cann_host.md 1.8.
#pragma once

#include "import/cann/host/host_record.hpp"

namespace msprof::cann {

struct __attribute__((packed)) NodeBasicInfoWire {
  HostHeader head;
  std::uint64_t name;  // hash
  std::uint32_t task_type;
  std::uint64_t type;    // hash
  std::uint32_t blocks;  // low half: blocks, high half: mix ratio
  std::uint32_t flag;    // 0: not hf32 eligible
  std::uint8_t state;    // not read: the slice tells (cann_host.md 1.2)
  std::uint8_t reserved[11];
};
static_assert(sizeof(NodeBasicInfoWire) == 64);

inline constexpr RecordFormat kNodeBasicInfoFormat =
    host_format<NodeBasicInfoWire>("node_basic_info");

}  // namespace msprof::cann
