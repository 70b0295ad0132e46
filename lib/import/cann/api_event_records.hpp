// The wire layout of api_event: calls, and events that open or close one. For the host join.
// Source: cann_host.md 1.8.
#pragma once

#include "import/cann/host/host_record.hpp"

namespace msprof::cann {

struct __attribute__((packed)) ApiEventWire {
  HostHeader head;  // data_len is the request id
  std::uint64_t end;
  std::uint64_t item;  // hash of a name; number of a model
};
static_assert(sizeof(ApiEventWire) == 40);
// In place of an end: one of the two events of a call.
inline constexpr std::uint64_t kIsEvent = UINT64_MAX;

inline constexpr RecordFormat kApiEventFormat = host_format<ApiEventWire>("api_event");

}  // namespace msprof::cann
