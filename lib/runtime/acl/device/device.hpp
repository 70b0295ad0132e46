// One device of this host, and the contexts on it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace msprof::acl {

class Stream;

inline constexpr std::uint32_t kMaxStreams = 2048;  // of one device

// What a thread works in. Its default stream is the one that a null aclrtStream stands for.
struct Context {
  std::uint16_t device = 0;
  bool is_default = false;  // made by aclrtSetDevice, ends with the last aclrtResetDevice
  std::shared_ptr<Stream> default_stream;
};

class Device {
 public:
  explicit Device(std::uint16_t id) : id_(id) {}

  std::uint16_t id() const { return id_; }

  // The lowest free number. Throws Failure when all are in use.
  std::uint16_t take_stream_id();
  // Where the count of tasks of a stream of this number goes on, so that two streams that follow
  // each other under one number give no task the same id.
  std::uint32_t stream_sequence(std::uint16_t stream) const;
  void give_back_stream_id(std::uint16_t stream, std::uint32_t next_sequence);

 private:
  friend class CopyLane;

  std::uint16_t take_lowest_locked();

  const std::uint16_t id_;
  mutable std::mutex mutex_;
  std::array<bool, kMaxStreams> in_use_{};
  std::array<std::uint32_t, kMaxStreams> sequences_{};
  std::vector<std::uint16_t> free_lanes_;
  std::size_t lanes_ = 0;
};

// For a copy that the calling thread makes itself, while it lives: the number of a stream on which
// no other copy is under way, and the sequence of the copy's task there.
class CopyLane {
 public:
  explicit CopyLane(Device& device);
  ~CopyLane();
  CopyLane(const CopyLane&) = delete;
  CopyLane& operator=(const CopyLane&) = delete;

  std::uint16_t stream() const { return stream_; }
  std::uint32_t sequence() const { return sequence_; }

 private:
  Device& device_;
  std::uint16_t stream_;
  std::uint32_t sequence_;
};

}  // namespace msprof::acl
