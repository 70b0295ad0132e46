// OrderedChunks: makes the chunks of a product on several threads and outputs them in their order.
// For timelines and tables.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "store/database.hpp"

namespace msprof {

// Data that chunks share, one instance per connection: texts by id, statements.
template <typename Part>
class PerConnection {
 public:
  template <typename Make>
  Part& find(const Database& db, const Make& make) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Part>& part = parts_[&db];
    if (!part) part = make();
    return *part;
  }
  // Call only when no thread writes any more.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [db, part] : parts_) visit(*part);
  }

 private:
  std::mutex mutex_;
  std::map<const Database*, std::unique_ptr<Part>> parts_;
};

// More threads would wait for the disk.
inline constexpr std::size_t kMaxChunkThreads = 16;

class OrderedChunks {
 public:
  // Makes a chunk. Each thread has its own connection.
  using Make = std::function<void(const Database& db, std::size_t chunk)>;

  // Uses at most `threads` threads, which hold outputs of about `held_bytes` bytes each.
  OrderedChunks(std::size_t count, std::size_t threads, std::size_t held_bytes);

  // Makes all chunks; they start in `order`, or ascending if it is empty. Without more connections
  // to the file of `db`, uses fewer threads. Rethrows the first error of a chunk or an output.
  void run(const Database& db, const Make& make, std::vector<std::size_t> order = {});

  // For Make, about its own chunk; they throw, to end the chunk, after an error of another one.

  // Returns true if the chunk can output now, until its end: the chunks before it have done so and
  // what was held is output. Before returning false, waits while the held outputs need too much
  // memory.
  bool has_turn(std::size_t chunk);
  // Keeps an output of about `bytes` bytes until the turn of its chunk. It is called by any thread,
  // but only by one at a time.
  void hold(std::size_t chunk, std::size_t bytes, std::function<void()> output);
  void wait_for_turn(std::size_t chunk);

 private:
  struct Chunk {
    std::vector<std::function<void()>> held;
    std::size_t bytes = 0;
    bool is_done = false;
  };

  template <typename Condition>
  void wait(std::unique_lock<std::mutex>& lock, const Condition& condition);
  void output_held(std::size_t chunk, std::unique_lock<std::mutex>& lock);
  void end(std::size_t chunk);
  void abandon();

  std::size_t threads_;
  std::size_t max_held_bytes_;  // of all threads
  std::vector<Chunk> chunks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t head_ = 0;  // the chunk whose turn it is
  std::size_t held_bytes_ = 0;
  bool is_abandoned_ = false;
};

}  // namespace msprof
