#include "runtime/acl/prof/stamps.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <new>
#include <vector>

#include "runtime/acl/device/lookup.hpp"
#include "runtime/acl/prof/recorder.hpp"
#include "runtime/acl/prof/recording.hpp"
#include "runtime/acl/prof/thread_number.hpp"
#include "runtime/engine/clock.hpp"
#include "runtime/mstx/mark_id.hpp"
#include "runtime/mstx/slot_table.hpp"
#include "runtime/mstx/tx_record.hpp"
#include "wire/cann/device_wire.hpp"
#include "wire/cann/host_wire.hpp"
#include "wire/cann/ts_track_wire.hpp"

namespace msprof::acl {
namespace {

using mstx::TxEvent;
using runtime::monotonic_ns;

constexpr std::size_t kMessageRoom = 128;  // maximum message size, including the terminating zero

// Content of a stamp. Copied when it is pushed or starts a range, so that the stamp may be changed
// or destroyed before the end.
struct Content {
  std::uint32_t category = 0;
  std::int32_t payload_type = 0;
  std::uint64_t payload = 0;
  std::uint32_t message_bytes = 0;
  std::array<char, kMessageRoom> message;

  Content() {}  // leaves the message uninitialized
  Content(const Content& other) { *this = other; }
  // Copies only the used part of the message.
  Content& operator=(const Content& other) {
    category = other.category;
    payload_type = other.payload_type;
    payload = other.payload;
    message_bytes = std::min<std::uint32_t>(other.message_bytes, kMessageRoom);
    std::memcpy(message.data(), other.message.data(), message_bytes);
    return *this;
  }
};

struct OpenStamp {
  std::uint64_t begin_ns = 0;
  Content content;
};

// Per-thread state. The ids are cached because each costs a system call.
struct ThreadStamps {
  std::uint32_t generation = UINT32_MAX;  // value of ActiveRecordings::generation()
  std::uint32_t process_id = 0;
  std::uint32_t thread_id = 0;
  std::vector<OpenStamp> pushed;
};

ThreadStamps& of_this_thread() {
  thread_local ThreadStamps stamps;
  const std::uint32_t now = ActiveRecordings::generation();
  if (stamps.generation != now) {
    stamps.generation = now;
    stamps.process_id = static_cast<std::uint32_t>(getpid());
    stamps.thread_id = thread_number();
    stamps.pushed.clear();
  }
  return stamps;
}

// The stamps available to an application; a bit per stamp shows whether it is in use.
class StampPool {
 public:
  Content* take() {
    for (std::size_t word = 0; word < taken_.size(); ++word) {
      std::uint64_t bits = taken_[word].load(std::memory_order_relaxed);
      for (std::size_t bit = free_bit(word, bits); bit < kBitsPerWord; bit = free_bit(word, bits)) {
        const std::uint64_t mask = std::uint64_t{1} << bit;
        if (!taken_[word].compare_exchange_weak(bits, bits | mask, std::memory_order_acquire))
          continue;
        Content& content = contents_[word * kBitsPerWord + bit];
        content = Content{};
        return &content;
      }
    }
    return nullptr;
  }

  // Null if this is not a stamp or if it was destroyed.
  Content* find(const void* stamp) {
    const auto address = reinterpret_cast<std::uintptr_t>(stamp);
    const auto begin = reinterpret_cast<std::uintptr_t>(contents_.data());
    if (address < begin || (address - begin) % sizeof(Content) != 0) return nullptr;
    const std::size_t index = (address - begin) / sizeof(Content);
    if (index >= kMaxStamps) return nullptr;
    const std::uint64_t bits = taken_[index / kBitsPerWord].load(std::memory_order_relaxed);
    return (bits >> (index % kBitsPerWord) & 1) != 0 ? &contents_[index] : nullptr;
  }

  void give_back(const Content* content) {
    const auto index = static_cast<std::size_t>(content - contents_.data());
    taken_[index / kBitsPerWord].fetch_and(~(std::uint64_t{1} << (index % kBitsPerWord)),
                                           std::memory_order_release);
  }

  void forget() {
    for (auto& word : taken_) word.store(0);
  }

 private:
  static constexpr std::size_t kBitsPerWord = 64;

  // Returns kBitsPerWord if no bit is free.
  static std::size_t free_bit(std::size_t word, std::uint64_t bits) {
    const auto bit = static_cast<std::size_t>(std::countr_one(bits));
    return word * kBitsPerWord + bit < kMaxStamps ? bit : kBitsPerWord;
  }

  std::array<std::atomic<std::uint64_t>, 2> taken_{};
  std::array<Content, kMaxStamps> contents_;
};

// Open ranges; any thread may start or stop one.
class RangeTable {
 public:
  // Returns 0 if too many ranges are open.
  std::uint32_t add(const Content& content, std::uint32_t thread) {
    for (std::size_t tries = 0; tries < kMaxOpenRanges; ++tries) {
      const std::uint32_t id = next_id_.fetch_add(1, std::memory_order_relaxed);
      const auto fill = [&](Range& range) {
        range.stamp.content = content;
        range.thread = thread;
        range.stamp.begin_ns = monotonic_ns();
      };
      if (id != 0 && open_.put(id, fill)) return id;
    }
    return 0;
  }

  // Returns false if `id` is not an open range.
  bool remove(std::uint32_t id, OpenStamp& stamp, std::uint32_t& thread) {
    return id != 0 && open_.take(id, [&](const Range& range) {
      stamp = range.stamp;
      thread = range.thread;
      return true;
    });
  }

  void forget() { open_.forget(); }

 private:
  struct Range {
    OpenStamp stamp;
    std::uint32_t thread = 0;
  };

  std::atomic<std::uint32_t> next_id_{1};
  mstx::SlotTable<Range, kMaxOpenRanges> open_;
};

// Never destroyed: threads may use stamps while the process exits.
StampPool& pool() {
  static StampPool* const made = new StampPool;
  return *made;
}

RangeTable& ranges() {
  static RangeTable* const made = new RangeTable;
  return *made;
}

void record(const ThreadStamps& self, std::uint32_t thread, TxEvent event, const OpenStamp& stamp,
            std::uint64_t end_ns) {
  MsprofTxWire wire = mstx::tx_record(event, self.process_id, thread, stamp.begin_ns, end_ns);
  const Content& content = stamp.content;
  wire.category = content.category;
  wire.payload_type = content.payload_type;
  wire.payload = content.payload;
  std::memcpy(wire.message, content.message.data(), content.message_bytes);
  record_stamp(wire, content.message_bytes);
}

}  // namespace

void* create_stamp() {
  return records_stamps() ? pool().take() : nullptr;
}

void destroy_stamp(void* stamp) {
  if (const Content* const content = pool().find(stamp)) pool().give_back(content);
}

aclError set_stamp_message(void* stamp, const char* message, std::size_t size) {
  if (stamp == nullptr || message == nullptr) return ACL_ERROR_INVALID_PARAM;
  Content* const content = pool().find(stamp);
  if (content == nullptr || size >= kMessageRoom) return kTxFailure;
  const std::size_t bytes = strnlen(message, size);
  std::memcpy(content->message.data(), message, bytes);
  content->message_bytes = static_cast<std::uint32_t>(bytes);
  return ACL_SUCCESS;
}

aclError set_stamp_category(void* stamp, std::uint32_t category) {
  if (stamp == nullptr) return ACL_ERROR_INVALID_PARAM;
  Content* const content = pool().find(stamp);
  if (content == nullptr) return kTxFailure;
  content->category = category;
  return ACL_SUCCESS;
}

aclError set_stamp_payload(void* stamp, std::int32_t type, const void* value) {
  constexpr std::int32_t kLastOf64Bits = 2;
  if (stamp == nullptr || value == nullptr) return ACL_ERROR_INVALID_PARAM;
  Content* const content = pool().find(stamp);
  if (content == nullptr || type < 0) return kTxFailure;
  content->payload_type = type;
  content->payload = 0;
  std::memcpy(&content->payload, value,
              type <= kLastOf64Bits ? sizeof(std::uint64_t) : sizeof(std::uint32_t));
  return ACL_SUCCESS;
}

aclError mark(void* stamp) {
  if (stamp == nullptr) return ACL_ERROR_INVALID_PARAM;
  const Content* const content = pool().find(stamp);
  if (content == nullptr || !records_stamps()) return kTxFailure;
  const ThreadStamps& self = of_this_thread();
  const std::uint64_t now = monotonic_ns();
  record(self, self.thread_id, TxEvent::marker, {now, *content}, now);
  return ACL_SUCCESS;
}

aclError mark_on_stream(std::string_view message, void* stream) {
  if (!records_stamps()) return kTxFailure;
  const ThreadStamps& self = of_this_thread();
  const std::uint64_t id = mstx::next_mark_id();
  const std::uint64_t now = monotonic_ns();
  TaskIds ids;
  if (!enqueue_step(stream, id, kNoModel, cann::step_tag::kMark, ids)) return kTxFailure;
  MsprofTxWire wire =
      mstx::tx_record(TxEvent::marker_ex, self.process_id, self.thread_id, now, now);
  wire.info_type = static_cast<std::uint16_t>(TxInfo::extended);
  wire.mark_id = id;
  wire.domain = intern_text("default");
  std::memcpy(wire.message, message.data(), std::min(message.size(), kTxMessageBytes - 1));
  record_stamp(wire);
  return ACL_SUCCESS;
}

aclError push(void* stamp) {
  if (stamp == nullptr) return ACL_ERROR_INVALID_PARAM;
  const Content* const content = pool().find(stamp);
  if (content == nullptr || !records_stamps()) return kTxFailure;
  ThreadStamps& self = of_this_thread();
  OpenStamp& pushed = self.pushed.emplace_back();
  pushed.content = *content;
  pushed.begin_ns = monotonic_ns();
  return ACL_SUCCESS;
}

aclError pop() {
  const std::uint64_t now = monotonic_ns();
  ThreadStamps& self = of_this_thread();
  if (self.pushed.empty()) return kTxFailure;
  const bool recorded = records_stamps();
  if (recorded) record(self, self.thread_id, TxEvent::push_pop, self.pushed.back(), now);
  self.pushed.pop_back();
  return recorded ? ACL_SUCCESS : kTxFailure;
}

aclError start_range(void* stamp, std::uint32_t* id) {
  if (stamp == nullptr || id == nullptr) return ACL_ERROR_INVALID_PARAM;
  const Content* const content = pool().find(stamp);
  if (content == nullptr || !records_stamps()) return kTxFailure;
  const std::uint32_t made = ranges().add(*content, of_this_thread().thread_id);
  if (made == 0) return kTxFailure;
  *id = made;
  return ACL_SUCCESS;
}

aclError stop_range(std::uint32_t id) {
  const std::uint64_t now = monotonic_ns();
  OpenStamp stamp;
  std::uint32_t thread = 0;
  if (!ranges().remove(id, stamp, thread) || !records_stamps()) return kTxFailure;
  record(of_this_thread(), thread, TxEvent::start_end, stamp, now);
  return ACL_SUCCESS;
}

void forget_stamps() {
  pool().forget();
  ranges().forget();
}

}  // namespace msprof::acl
