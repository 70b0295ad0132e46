// What all host records begin with, and how they look to a RecordStream. For the host kinds.
// Source: cann_host.md 1.4.
#pragma once

#include <cstdint>

#include "import/cann/slice_kind.hpp"

namespace msprof::cann {

struct __attribute__((packed)) HostHeader {
  std::uint16_t magic;  // kRecordMagic
  std::uint16_t level;
  std::uint32_t type;
  std::uint32_t thread;
  std::uint32_t data_len;  // bytes of payload; api_event: request id
  std::uint64_t time;      // count of the host; api_event: begin
};
static_assert(sizeof(HostHeader) == 24);

std::uint64_t host_record_time(std::span<const std::byte> record);

template <typename Wire>
constexpr RecordFormat host_format(std::string_view kind) {
  return {kind, sizeof(Wire), has_record_magic, "bad magic", host_record_time};
}

}  // namespace msprof::cann
