// The wire layout of memcpy_info: what a copy copies. For the host join.
// Source: cann_host.md 1.8.
#pragma once

#include "import/cann/host/host_record.hpp"

namespace msprof::cann {

struct __attribute__((packed)) MemcpyInfoWire {
  HostHeader head;
  std::uint64_t bytes;
  std::uint64_t most_bytes_per_task;
  std::uint16_t direction;
  std::uint8_t reserved[22];
};
static_assert(sizeof(MemcpyInfoWire) == 64);

inline constexpr RecordFormat kMemcpyInfoFormat = host_format<MemcpyInfoWire>("memcpy_info");

}  // namespace msprof::cann
