// InsertQueue: batches of rows on their way to SQLite, inserted by a thread of its own, so that
// decoding and inserting share two cores. For TraceDbWriter.
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

// Rows of one table, or texts for the table `name`, whichever is not empty.
struct InsertBatch {
  std::size_t table = 0;
  std::size_t rows = 0;
  std::vector<std::int64_t> cells;
  std::vector<std::pair<std::int64_t, std::string>> names;
};

class InsertQueue {
 public:
  // `insert` runs on the thread of the queue, one batch after the other in the order of push().
  explicit InsertQueue(std::function<void(const InsertBatch&)> insert);
  // Ends the thread; batches that wait are not inserted any more.
  ~InsertQueue();
  InsertQueue(const InsertQueue&) = delete;
  InsertQueue& operator=(const InsertQueue&) = delete;

  // Waits while too many batches wait. Throws what an earlier insert threw.
  void push(InsertBatch batch);
  // Until everything is inserted; after it the caller may use the database itself.
  void drain();
  // Room for the cells of a batch: that of one already inserted, where there is one.
  std::vector<std::int64_t> cells();

 private:
  void work();
  void rethrow();

  static constexpr std::size_t kMostWaiting = 32;
  std::function<void(const InsertBatch&)> insert_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<InsertBatch> waiting_;
  std::vector<std::vector<std::int64_t>> used_cells_;
  bool is_busy_ = false;
  bool is_ending_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // last: it uses all the others
};

}  // namespace msprof
