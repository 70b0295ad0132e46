#include "runtime/acl/device/device.hpp"

#include <algorithm>

#include "acl/acl_base.h"
#include "runtime/acl/device/failure.hpp"

namespace msprof::acl {

std::uint16_t Device::take_lowest_locked() {
  const auto free = std::find(in_use_.begin(), in_use_.end(), false);
  if (free == in_use_.end()) {
    throw Failure(ACL_ERROR_RT_NO_STREAM_RESOURCE, "a device has 2048 streams, all are in use");
  }
  *free = true;
  return static_cast<std::uint16_t>(free - in_use_.begin());
}

std::uint16_t Device::take_stream_id() {
  const std::lock_guard lock(mutex_);
  return take_lowest_locked();
}

std::uint32_t Device::stream_sequence(std::uint16_t stream) const {
  const std::lock_guard lock(mutex_);
  return sequences_[stream];
}

void Device::give_back_stream_id(std::uint16_t stream, std::uint32_t next_sequence) {
  const std::lock_guard lock(mutex_);
  in_use_[stream] = false;
  sequences_[stream] = next_sequence;
}

CopyLane::CopyLane(Device& device) : device_(device) {
  const std::lock_guard lock(device.mutex_);
  if (device.free_lanes_.empty()) {
    // Reserve space for all lanes, so that returning one cannot fail.
    device.free_lanes_.reserve(device.lanes_ + 1);
    device.free_lanes_.push_back(device.take_lowest_locked());
    ++device.lanes_;
  }
  stream_ = device.free_lanes_.back();
  device.free_lanes_.pop_back();
  sequence_ = device.sequences_[stream_]++;
}

CopyLane::~CopyLane() {
  const std::lock_guard lock(device_.mutex_);
  device_.free_lanes_.push_back(stream_);
}

}  // namespace msprof::acl
