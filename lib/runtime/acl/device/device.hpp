// One device of this host, and its contexts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace msprof::acl {

class Stream;

inline constexpr std::uint32_t kMaxStreams = 2048;  // per device

// The context in which a thread works. A null aclrtStream means its default stream.
struct Context {
  std::uint16_t device = 0;
  bool is_default = false;  // created by aclrtSetDevice, destroyed by the last aclrtResetDevice
  std::shared_ptr<Stream> default_stream;
};

class Device {
 public:
  explicit Device(std::uint16_t id) : id_(id) {}

  std::uint16_t id() const { return id_; }

  // Returns the lowest free id. Throws Failure if all are in use.
  std::uint16_t take_stream_id();
  // First task sequence number of a new stream with this id. It continues that of the previous
  // stream with the same id, so that no two tasks get the same id.
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

// Reserves a stream id for a copy made by the calling thread: during its lifetime no other copy
// uses the id. sequence() is the sequence number of the copy's task.
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
