// Layout of raw files: a 16-byte header, then records; little-endian throughout. Source: svp_job.md
// 7 (records), 4 (.done), 9 (what is written).
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "runtime/engine/held_descriptor.hpp"

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

// One layer of one execution. Cycles are at 1000 MHz, so a cycle is a nanosecond.
struct SvpAicoreRecord {
  uint32_t layer_id = 0;
  uint32_t zero = 0;
  uint64_t start_ns = 0;
  uint64_t total_cycles = 0;
  uint64_t mac_busy = 0, mac_ppen = 0, vec_busy = 0, vec_ppen = 0;
  uint64_t dstr = 0, dtrans = 0, dld = 0, wld = 0;
  uint64_t ddr_read_bytes = 0, ddr_write_bytes = 0;
  uint64_t execution = 0;
};
static_assert(sizeof(SvpAicoreRecord) == 112);

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

// Offset of the start time in every record kind. It is never 0 and is stored last, so that a killed
// application leaves either a whole record or none at the end of the file.
inline constexpr std::size_t kStartOffset = 8;
static_assert(offsetof(SvpAicoreRecord, start_ns) == kStartOffset &&
              offsetof(AicpuRecord, start_ns) == kStartOffset &&
              offsetof(AclApiRecord, start_ns) == kStartOffset);

constexpr uint16_t record_bytes(RecordKind kind) {
  return kind == RecordKind::kAicore ? sizeof(SvpAicoreRecord) : sizeof(AicpuRecord);
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

// One raw data file. A record is stored in mapped memory or, if the file cannot be mapped, written
// with one write(), so that an application that dies loses at most the record being written. The
// file is complete only if its `.done` exists; without it, zeros after the last record are unused
// space.

// Counts failures of all files of a JOB; only the first is printed.
class WriteHealth {
 public:
  void lost(uint64_t records, const std::string& path, const std::string& what);
  uint64_t lost_records() const { return lost_.load(); }

 private:
  std::atomic<uint64_t> lost_{0};
  std::atomic<bool> has_reported_{false};
};

class RecordFile {
 public:
  RecordFile(std::string path, RecordKind kind, WriteHealth& health);
  ~RecordFile() { unmap(); }
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  // Appends a record of the file's kind. Times are nanoseconds and extend the time range in
  // `.done`. Thread-safe.
  void append(const void* record, uint64_t start_ns, uint64_t end_ns);

  // Closes the file and writes `.done` with `more_lines`; later records are counted as lost. A file
  // that lost records or had write errors gets no `.done`, which marks it as partial. With
  // `at_exit`, does not wait for a lock held by another thread: a missing `.done` is better than an
  // exit that hangs.
  void finish(std::string_view more_lines, bool at_exit = false);
  // Closes and removes the file; call instead of finish().
  void discard(bool at_exit = false);

 private:
  void fail();
  int descriptor();
  bool store(const void* record);
  bool map_more();
  void unmap();
  void write_from_now_on();
  bool write(const void* record);
  void count(uint64_t start_ns, uint64_t end_ns);

  const std::string path_;
  const std::size_t record_bytes_;
  const uint64_t limit_bytes_;
  WriteHealth& health_;
  std::mutex mutex_;
  HeldDescriptor file_;
  bool is_open_ = false;        // false if records can no longer be written
  std::byte* space_ = nullptr;  // of map_space(); null: none
  std::byte* next_ = nullptr;   // where the next record is stored
  std::byte* space_end_ = nullptr;
  bool is_mapped_ = false;  // false: records are written with write()
  bool is_finished_ = false;
  uint64_t size_bytes_ = 0;
  uint64_t start_ns_ = UINT64_MAX;
  uint64_t end_ns_ = 0;
};

// Locks the mutex. With `at_exit`, waits only a moment: check owns_lock().
std::unique_lock<std::mutex> lock_for(std::mutex& mutex, bool at_exit);

}  // namespace msprof::runtime
