// The wire layout of fusion_op_info: operators that a compiler fused. For the host join.
// Source: cann_host.md 1.8.
#pragma once

#include "import/cann/host/host_record.hpp"

namespace msprof::cann {

inline constexpr std::uint32_t kMostFusedOps = 8;
struct __attribute__((packed)) FusionOpInfoWire {
  HostHeader head;
  std::uint64_t name;  // hash
  std::uint32_t count;
  std::uint64_t input_bytes;
  std::uint64_t output_bytes;
  std::uint64_t weight_bytes;
  std::uint64_t workspace_bytes;
  std::uint64_t total_bytes;
  std::uint64_t names[kMostFusedOps];  // hashes
  std::uint8_t reserved[116];
};
static_assert(sizeof(FusionOpInfoWire) == 256);

inline constexpr RecordFormat kFusionOpInfoFormat = host_format<FusionOpInfoWire>("fusion_op_info");

}  // namespace msprof::cann
