// InsertQueue: queue of batches that a separate thread inserts, so that decoding and inserting use
// two cores. For BulkTables.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace msprof {

// Rows of one table, or texts; one of the two is empty.
struct InsertBatch {
  std::size_t table = 0;
  std::size_t rows = 0;
  std::vector<std::int64_t> cells;
  std::vector<std::pair<std::int64_t, std::string>> names;
};

class InsertQueue {
 public:
  // `insert` runs on the queue's thread, for one batch at a time in the order of push().
  explicit InsertQueue(std::function<void(const InsertBatch&)> insert);
  // Stops the thread; queued batches are discarded.
  ~InsertQueue();
  InsertQueue(const InsertQueue&) = delete;
  InsertQueue& operator=(const InsertQueue&) = delete;

  // Blocks while the queue is full. Rethrows the exception of an earlier insert.
  void push(InsertBatch batch);
  // Blocks until everything is inserted. Afterwards the caller may use the database directly.
  void drain();
  // Returns a buffer for the cells of a batch; reuses the buffer of an inserted batch if possible.
  std::vector<std::int64_t> cells();

 private:
  void work();
  void insert_first(std::unique_lock<std::mutex>& lock);
  void rethrow();

  static constexpr std::size_t kMaxWaiting = 32;
  // Waking the thread costs as much as decoding a hundred rows, so it sleeps until this many
  // batches wait.
  static constexpr std::size_t kFew = 8;
  std::function<void(const InsertBatch&)> insert_;
  std::mutex mutex_;
  std::condition_variable filled_;   // wakes the thread
  std::condition_variable emptied_;  // wakes push() and drain()
  std::deque<InsertBatch> waiting_;
  std::vector<std::vector<std::int64_t>> used_cells_;
  bool is_busy_ = false;
  bool wants_all_ = false;  // true while drain() waits
  bool is_ending_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // last member: it uses all others
};

}  // namespace msprof
