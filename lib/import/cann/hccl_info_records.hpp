// The wire layout of hccl_info: one task of a collective. For the host join.
// Source: cann_host.md 1.8.
#pragma once

#include "import/cann/host/host_record.hpp"

namespace msprof::cann {

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
  std::uint8_t reserved[116];
};
static_assert(sizeof(HcclInfoWire) == 256);

inline constexpr RecordFormat kHcclInfoFormat = host_format<HcclInfoWire>("hccl_info");

}  // namespace msprof::cann
