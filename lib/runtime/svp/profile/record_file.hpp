// The reference layout of raw files: a 16-byte header, then records; little-endian throughout.
// Source: svp_job.md 7 (records), 4 (.done), 9 (what is written).
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "runtime/engine/held_descriptor.hpp"
#include "runtime/svp/profile/record_space.hpp"
#include "runtime/svp/profile/sink.hpp"

namespace msprof::runtime {

static_assert(std::endian::native == std::endian::little,
              "records are written as they lie in memory");

enum class RecordKind : uint32_t { kAicore = 1, kAicpu = 2, kAclApi = 3 };

#pragma pack(push, 1)

struct FileHeader {
  char magic[4] = {'M', 'S', 'V', 'P'};
  uint16_t version = 1;
  uint16_t record_bytes = 0;
  uint32_t kind = 0;
  uint32_t zero = 0;
};
static_assert(sizeof(FileHeader) == 16);

// One layer of one execution; cycles at 1000 MHz, so that a cycle is a nanosecond.
struct AicoreRecord {
  uint32_t layer_id = 0;
  uint32_t zero = 0;
  uint64_t start_ns = 0;
  uint64_t total_cycles = 0;
  uint64_t mac_busy = 0, mac_ppen = 0, vec_busy = 0, vec_ppen = 0;
  uint64_t dstr = 0, dtrans = 0, dld = 0, wld = 0;
  uint64_t ddr_read_bytes = 0, ddr_write_bytes = 0;
  uint64_t execution = 0;
};
static_assert(sizeof(AicoreRecord) == 112);

struct AicpuRecord {
  uint32_t layer_id = 0;
  uint32_t thread_id = 0;
  uint64_t start_ns = 0, end_ns = 0;
  uint64_t execution = 0;
};
static_assert(sizeof(AicpuRecord) == 32);

struct AclApiRecord {
  uint32_t api_id = 0;
  uint32_t thread_id = 0;
  uint64_t start_ns = 0, end_ns = 0;
  uint64_t zero = 0;
};
static_assert(sizeof(AclApiRecord) == 32);

#pragma pack(pop)

// Of every kind: the start, which no record has as 0 and which is stored last. So what a killed
// application leaves at the end of a file is a whole record, or none.
inline constexpr std::size_t kStartOffset = 8;
static_assert(offsetof(AicoreRecord, start_ns) == kStartOffset &&
              offsetof(AicpuRecord, start_ns) == kStartOffset &&
              offsetof(AclApiRecord, start_ns) == kStartOffset);

constexpr uint16_t record_bytes(RecordKind kind) {
  return kind == RecordKind::kAicore ? sizeof(AicoreRecord) : sizeof(AicpuRecord);
}

// Numbers of the calls in acl_api records.
enum class ApiId : uint32_t {
  kLoadFromMem = 1,
  kExecute = 3,
  kUnload = 5,
  kGetDesc = 6,
  kCreateDataset = 7,
  kDestroyDataset = 8,
  kSetDevice = 256,
  kResetDevice = 257,
  kCreateStream = 258,
  kDestroyStream = 259,
  kSynchronizeStream = 260,
  kMalloc = 261,
  kFree = 262,
  kCreateContext = 263,
  kDestroyContext = 264,
  kInit = 512,
  kFinalize = 513,
};

// One raw data file. A record is stored in mapped memory, or reaches the kernel with a write() of
// its own where the file cannot be mapped, so that an application that dies loses at most the
// record being written. Complete only when its `.done` is there; without one, zeros behind the last
// record are room for more.

// Failures of all files of a JOB: the first is reported, the rest is counted.
class WriteHealth {
 public:
  void lost(uint64_t records, const std::string& path, const std::string& what);
  uint64_t lost_records() const { return lost_.load(); }

 private:
  std::atomic<uint64_t> lost_{0};
  std::atomic<bool> said_{false};
};

class RecordFile {
 public:
  // With a sink the records go there, and to the file from where its reader was gone: before that
  // place the file is a hole, and `<file>.sink` says how long that is.
  RecordFile(std::string path, RecordKind kind, WriteHealth& health,
             std::shared_ptr<Sink> sink = nullptr);
  ~RecordFile() = default;
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
  void open_file(const FileHeader& header);
  int descriptor();
  void leave_sink();
  bool store(const void* record);
  void write_from_now_on();
  bool write(const void* record);
  void count(uint64_t start_ns, uint64_t end_ns);

  const std::string path_;
  const std::size_t record_bytes_;
  const uint64_t limit_bytes_;
  WriteHealth& health_;
  std::shared_ptr<Sink> sink_;  // null: the records are in the file
  std::mutex mutex_;
  HeldDescriptor file_;
  bool is_open_ = false;  // false where records go to the stream, or cannot be written any more
  RecordSpace space_;
  bool is_mapped_ = false;  // false: records are written
  bool whole_ = false;
  bool finished_ = false;
  uint64_t size_bytes_ = 0;
  uint64_t start_ns_ = UINT64_MAX;
  uint64_t end_ns_ = 0;
};

// Locks now, or at exit within a moment; check owns_lock().
std::unique_lock<std::mutex> lock_for(std::mutex& mutex, bool at_exit);

}  // namespace msprof::runtime
