// ByteQueue: bytes from one thread to another, a bounded number at a time. For reading a stream of
// the connection, which pushes, with libarchive, which pulls.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>

namespace msprof {

class ByteQueue {
 public:
  // The writer's side. push() waits while the queue is full; it throws what the reader threw, if
  // the reader has ended so, and drops the bytes where the reader has ended well.
  void push(std::string_view bytes);
  // No more comes.
  void close();

  // The reader's side. The next block, good until the next call; empty at the end.
  std::string_view pull();
  // The reader has ended; `error` is empty where it has what it wanted.
  void leave(std::exception_ptr error);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> blocks_;
  std::size_t waiting_bytes_ = 0;
  std::string current_;  // the reader's alone
  std::exception_ptr error_;
  bool closed_ = false;
  bool left_ = false;
};

}  // namespace msprof
