// One raw data file: every record reaches the kernel with a write() of its own, so that an
// application that dies loses at most the record being written. Complete only when its `.done` is
// there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "runtime/profile/wire_records.hpp"

namespace msprof::runtime {

// Shared by all files of a JOB: the first failure is said, the rest is counted.
class WriteHealth {
 public:
  void lost(uint64_t records, const std::string& path, const std::string& what);
  uint64_t lost_records() const { return lost_.load(); }

 private:
  std::atomic<uint64_t> lost_{0};
  std::atomic<bool> said_{false};
};

// Writes a small text file under a temporary name and renames it; false with errno when that fails.
bool write_whole_file(const std::string& path, std::string_view text);

class RecordFile {
 public:
  RecordFile(std::string path, RecordKind kind, WriteHealth& health);
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  // Thread-safe. `record` has the size of the file's kind; times are nanoseconds and widen the
  // times of `.done`.
  void append(const void* record, uint64_t start_ns, uint64_t end_ns);

  // Closes the file and writes `.done` with these further lines; later records are counted as lost.
  // A file that lost records or could not be written gets no `.done`: a reader then knows that it
  // is partial. At exit a lock that another thread holds is given up on: no `.done` is better than
  // an exit that hangs.
  void finish(std::string_view more_lines, bool at_exit = false);

 private:
  void fail(const char* what);

  const std::string path_;
  const std::size_t record_bytes_;
  const uint64_t limit_bytes_;
  WriteHealth& health_;
  std::mutex mutex_;
  int fd_ = -1;
  bool whole_ = false;
  bool finished_ = false;
  uint64_t size_bytes_ = 0;
  uint64_t start_ns_ = UINT64_MAX;
  uint64_t end_ns_ = 0;
};

// Locks now, or at exit within a moment; check owns_lock().
std::unique_lock<std::mutex> lock_for(std::mutex& mutex, bool at_exit);

}  // namespace msprof::runtime
