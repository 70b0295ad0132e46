#include "export/ordered_chunks.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/parallel.hpp"
#include "store/read_failure.hpp"
#include "store/trace_db.hpp"

namespace msprof {

namespace {

// Thrown in the other threads when a chunk has failed.
struct Abandoned {};

}  // namespace

OrderedChunks::OrderedChunks(std::size_t count, std::size_t threads, std::size_t held_bytes)
    : threads_(std::max<std::size_t>(threads, 1)),
      max_held_bytes_(threads_ * held_bytes),
      chunks_(count) {}

void OrderedChunks::run(const Database& db, const Make& make, std::vector<std::size_t> order) {
  if (order.empty()) {
    order.resize(chunks_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
  }
  std::vector<TraceDb> others;
  try {
    while (others.size() + 1 < std::min(threads_, order.size())) {
      auto other = TraceDb::open(db.path());
      if (!other) break;
      others.push_back(std::move(*other));
    }
  } catch (const UnreadableDatabase&) {  // no more files or memory for this process
  }
  in_parallel(order.size(), others.size() + 1, [&](std::size_t item, std::size_t thread) {
    try {
      make(thread == 0 ? db : others[thread - 1].database(), order[item]);
      end(order[item]);
    } catch (const Abandoned&) {
    } catch (...) {
      abandon();
      throw;
    }
  });
}

template <typename Condition>
void OrderedChunks::wait(std::unique_lock<std::mutex>& lock, const Condition& condition) {
  changed_.wait(lock, [&] { return is_abandoned_ || condition(); });
  if (is_abandoned_) throw Abandoned();
}

bool OrderedChunks::has_turn(std::size_t chunk) {
  std::unique_lock lock(mutex_);
  wait(lock, [&] { return chunk == head_ || held_bytes_ < max_held_bytes_; });
  if (chunk != head_) return false;
  output_held(chunk, lock);
  return true;
}

void OrderedChunks::hold(std::size_t chunk, std::size_t bytes, std::function<void()> output) {
  const std::lock_guard lock(mutex_);
  chunks_[chunk].held.push_back(std::move(output));
  chunks_[chunk].bytes += bytes;
  held_bytes_ += bytes;
}

void OrderedChunks::wait_for_turn(std::size_t chunk) {
  std::unique_lock lock(mutex_);
  wait(lock, [&] { return chunk == head_; });
}

// Unlocks while it outputs: nobody else may output for `chunk`, the head.
void OrderedChunks::output_held(std::size_t chunk, std::unique_lock<std::mutex>& lock) {
  const auto held = std::exchange(chunks_[chunk].held, {});
  if (held.empty()) return;
  lock.unlock();
  for (const auto& output : held) output();
  lock.lock();
  held_bytes_ -= std::exchange(chunks_[chunk].bytes, 0);
  changed_.notify_all();
}

void OrderedChunks::end(std::size_t chunk) {
  std::unique_lock lock(mutex_);
  chunks_[chunk].is_done = true;
  if (chunk != head_) return;
  while (head_ < chunks_.size() && chunks_[head_].is_done) {
    output_held(head_, lock);
    ++head_;
  }
  changed_.notify_all();
}

void OrderedChunks::abandon() {
  const std::lock_guard lock(mutex_);
  is_abandoned_ = true;
  changed_.notify_all();
}

}  // namespace msprof
