#include "board/byte_queue.hpp"

namespace msprof {

namespace {

constexpr std::size_t kBlockBytes = 256 << 10;
constexpr std::size_t kMostBytes = 4 << 20;

}  // namespace

void ByteQueue::push(std::string_view bytes) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return left_ || waiting_bytes_ < kMostBytes; });
  if (error_) std::rethrow_exception(error_);
  if (left_) return;
  const bool was_empty = blocks_.empty();
  // Small pieces share a block, so that the reader is not woken for each.
  if (was_empty || blocks_.back().size() + bytes.size() > kBlockBytes) {
    blocks_.emplace_back();
    blocks_.back().reserve(kBlockBytes);
  }
  blocks_.back().append(bytes);
  waiting_bytes_ += bytes.size();
  if (was_empty) changed_.notify_all();
}

void ByteQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

std::string_view ByteQueue::pull() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return closed_ || !blocks_.empty(); });
  if (blocks_.empty()) return {};
  const bool was_full = waiting_bytes_ >= kMostBytes;
  current_ = std::move(blocks_.front());
  blocks_.pop_front();
  waiting_bytes_ -= current_.size();
  if (was_full) changed_.notify_all();
  return current_;
}

void ByteQueue::leave(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  error_ = std::move(error);
  left_ = true;
  blocks_.clear();
  waiting_bytes_ = 0;
  changed_.notify_all();
}

}  // namespace msprof
