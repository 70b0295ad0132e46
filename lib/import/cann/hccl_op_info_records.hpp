// The wire layout of hccl_op_info: a collective. For the host join.
// Source: cann_host.md 1.8.
#pragma once

#include "import/cann/host/host_record.hpp"

namespace msprof::cann {

struct __attribute__((packed)) HcclOpInfoWire {
  HostHeader head;
  std::uint8_t flags;  // bit 0 relay, bit 1 retry
  std::uint8_t data_type;
  std::uint64_t algorithm;  // hash
  std::uint64_t count;
  std::uint64_t group;  // hash
  std::uint8_t reserved[14];
};
static_assert(sizeof(HcclOpInfoWire) == 64);

inline constexpr RecordFormat kHcclOpInfoFormat = host_format<HcclOpInfoWire>("hccl_op_info");

}  // namespace msprof::cann
