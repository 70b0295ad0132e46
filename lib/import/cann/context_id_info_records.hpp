// The wire layout of context_id_info: the sub tasks of an operator. For the host join.
// Source: cann_host.md 1.8.
#pragma once

#include "import/cann/host/host_record.hpp"

namespace msprof::cann {

inline constexpr std::uint32_t kMostContexts = 55;
struct __attribute__((packed)) ContextIdInfoWire {
  HostHeader head;
  std::uint64_t name;  // hash
  std::uint32_t count;
  std::uint32_t ids[kMostContexts];
};
static_assert(sizeof(ContextIdInfoWire) == 256);

inline constexpr RecordFormat kContextIdInfoFormat =
    host_format<ContextIdInfoWire>("context_id_info");

}  // namespace msprof::cann
