// The wire layout of tensor_info: inputs and outputs of an operator. For the host join.
// Source: cann_host.md 1.8.
#pragma once

#include "import/cann/host/host_record.hpp"

namespace msprof::cann {

struct __attribute__((packed)) TensorWire {
  std::uint32_t kind;  // 0 input, 1 output
  std::uint32_t format;
  std::uint32_t data_type;
  std::uint32_t shape[8];  // up to the first 0
};
static_assert(sizeof(TensorWire) == 44);

inline constexpr std::uint32_t kMostTensors = 5;
struct __attribute__((packed)) TensorInfoWire {
  HostHeader head;
  std::uint64_t name;  // hash
  std::uint32_t tensor_count;
  TensorWire tensors[kMostTensors];
};
static_assert(sizeof(TensorInfoWire) == 256);

inline constexpr RecordFormat kTensorInfoFormat = host_format<TensorInfoWire>("tensor_info");

}  // namespace msprof::cann
