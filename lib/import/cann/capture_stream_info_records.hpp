// The wire layout of capture_stream_info: streams captured into the graph of a model. For the host
// join. Source: cann_host.md 1.8.
#pragma once

#include "import/cann/host/host_record.hpp"

namespace msprof::cann {

struct __attribute__((packed)) CaptureStreamInfoWire {
  HostHeader head;
  std::uint16_t status;  // 0 captured, 1 destroyed
  std::uint16_t model_stream;
  std::uint16_t original_stream;
  std::uint16_t model;
  std::uint16_t device;
  std::uint8_t reserved[30];
};
static_assert(sizeof(CaptureStreamInfoWire) == 64);

inline constexpr RecordFormat kCaptureStreamInfoFormat =
    host_format<CaptureStreamInfoWire>("capture_stream_info");

}  // namespace msprof::cann
