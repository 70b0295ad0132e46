// The wire layout of node_attr_info: the attributes of an operator, as one text. For the host join.
// Source: cann_host.md 1.8.
#pragma once

#include "import/cann/host/host_record.hpp"

namespace msprof::cann {

struct __attribute__((packed)) NodeAttrInfoWire {
  HostHeader head;
  std::uint64_t name;  // hash
  std::uint32_t attribute_type;
  std::uint64_t attribute;  // hash
  std::uint8_t reserved[20];
};
static_assert(sizeof(NodeAttrInfoWire) == 64);

inline constexpr RecordFormat kNodeAttrInfoFormat = host_format<NodeAttrInfoWire>("node_attr_info");

}  // namespace msprof::cann
