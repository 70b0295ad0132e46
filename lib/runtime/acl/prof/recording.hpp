// One PROF folder that is being written: created by aclprofStart or a configuration, complete when
// finish() returns. Source: cann_host.md 1.1, 1.2, 1.7 (folder, slices, info files); cann_device.md
// 2.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/acl/prof/host_usage.hpp"

namespace msprof::acl {

// Bits of aclprofCreateConfig's dataTypeConfig that the writer supports. Values: acl_prof.h.
namespace prof_bits {
inline constexpr std::uint64_t kAclApi = 0x1;
inline constexpr std::uint64_t kTaskTime = 0x2;
inline constexpr std::uint64_t kAicoreMetrics = 0x4;
inline constexpr std::uint64_t kAicpu = 0x8;
inline constexpr std::uint64_t kL2Cache = 0x10;
inline constexpr std::uint64_t kHcclTrace = 0x20;
inline constexpr std::uint64_t kTrainingTrace = 0x40;
inline constexpr std::uint64_t kMsprofTx = 0x80;
inline constexpr std::uint64_t kRuntimeApi = 0x100;
inline constexpr std::uint64_t kGeApiL0 = 0x200;
inline constexpr std::uint64_t kTaskTimeL0 = 0x800;
inline constexpr std::uint64_t kTaskMemory = 0x1000;
inline constexpr std::uint64_t kTaskTimeL2 = 0x2000;
inline constexpr std::uint64_t kOpAttr = 0x4000;
inline constexpr std::uint64_t kTaskTimeL3 = 0x8000;
inline constexpr std::uint64_t kGeApiL1 = 0x0100'0000;
inline constexpr std::uint64_t kAnyTaskTime = kTaskTimeL0 | kTaskTime | kTaskTimeL2 | kTaskTimeL3;
// Bits that add shapes and model calls.
inline constexpr std::uint64_t kTaskDetails = kTaskTime | kTaskTimeL2 | kTaskTimeL3;
}  // namespace prof_bits

// What to record: bits of aclprofCreateConfig's dataTypeConfig, including implied ones.
struct RecordingOptions {
  std::string output;                  // parent of the PROF folder; created if it does not exist
  std::vector<std::uint16_t> devices;  // empty: host only
  bool devices_on_use = false;         // create a device's folder with its first record
  std::uint64_t bits = 0;
  std::uint32_t metrics = 0xFF;           // aclprofAicoreMetrics; 0xFF: no metrics
  int chip = 5;                           // platform_version of info.json: 5, 4 or 1
  std::uint64_t storage_limit_bytes = 0;  // limit of the folder; 0: unlimited
  HostUsageOptions host_usage;
  std::vector<std::pair<std::string, std::string>> parameters;  // further keys of sample.json
};

// Files of records; recording.cpp defines the name, record size and class of each. `task_turns`
// contains the task_track records that readers use to count wraparounds; they are kept when others
// are removed. `vector_counters` contains counters of vector cores if the chip has a separate file
// for them, else they are in `counters`.
enum class HostFile : std::uint8_t {
  api_event,
  task_track,
  task_turns,
  node_basic_info,
  node_attr_info,
  memcpy_info,
  tensor_info,
  fusion_op_info,
  graph_id_map,
  task_memory_info,
  msproftx,
  kCount
};
enum class DeviceFile : std::uint8_t {
  task_log,
  counters,
  vector_counters,
  ts_track,
  aicpu,
  l2_cache,
  kCount
};
// Host and device; each counts the wraparounds of task ids separately.
enum class RecordSide : std::uint8_t { host, device };

class Recording {
 public:
  // Creates the folder and its info files. Null with a message in `why` on error.
  static std::shared_ptr<Recording> start(const RecordingOptions& options, std::string& why);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  const std::string& folder() const;
  const RecordingOptions& options() const;
  bool has_device(std::uint16_t device) const;
  // Start time, on the clock of the records.
  std::uint64_t begin_ns() const;

  // Appends one record of the file's record size. Thread-safe and lock-free. A record is counted as
  // lost if there is no space. Fills in the low bits of a device record's number. Bytes after
  // `used_bytes` are written as zeros and not read; 0: all bytes are used.
  void append(HostFile file, const void* record, std::size_t used_bytes = 0);
  void append(std::uint16_t device, DeviceFile file, const void* record);

  // Returns the hash of a text and adds it to hash_dic.
  std::uint64_t intern(std::string_view text);
  // The same with a hash computed by text_hash().
  void intern(std::uint64_t hash, std::string_view text);
  // Adds the name of a type of a level to type_info_dic, which initially contains all types that
  // the runtime uses.
  void name_type(std::uint16_t level, std::uint32_t type, std::string_view name);

  // Counter of the recorded wraparounds of a stream's task ids; the caller increments it. Null if
  // the device is not recorded.
  std::atomic<std::uint32_t>* turns(std::uint16_t device, std::uint16_t stream, RecordSide side);

  // Completes every file: final size, `.done`, and end_info with the counts of lost and removed
  // records, which are also printed on stderr. At exit it does not wait. Does nothing in a forked
  // child.
  void finish(bool at_exit = false);
  // Records lost because there was no space.
  std::uint64_t lost() const;
  // Records removed at the storage limit to make room for newer ones.
  std::uint64_t removed() const;

 private:
  struct Files;
  explicit Recording(std::unique_ptr<Files> files);
  static std::shared_ptr<Recording> make(const RecordingOptions& options, std::string& why);
  std::unique_ptr<Files> files_;
};

// The active recordings, for the recorder. Any number of threads may read them; remove() returns
// when no thread is reading the recording any more.
class ActiveRecordings {
 public:
  using List = std::vector<std::shared_ptr<Recording>>;

  static ActiveRecordings& instance();
  void add(std::shared_ptr<Recording> recording);
  // At exit, waits only a moment for reading threads; the memory they use is then never freed.
  void remove(const std::shared_ptr<Recording>& recording, bool at_exit = false);
  // For a forked child, which records nothing until it starts its own recordings.
  void forget_all();

  // Union of the bits of all recordings; 0 if nothing is recorded. One load.
  std::uint64_t bits() const { return bits_.load(std::memory_order_relaxed); }
  // Calls use(recording) for each. Costs two atomic operations on a counter shared by few threads.
  template <typename Use>
  void for_each(Use&& use) {
    std::atomic<std::uint32_t>& readers = stripes_[stripe_of_thread()].readers;
    readers.fetch_add(1, std::memory_order_seq_cst);
    if (const List* const list = list_.load(std::memory_order_seq_cst)) {
      for (const auto& recording : *list) use(*recording);
    }
    readers.fetch_sub(1, std::memory_order_release);
  }

  // Number of forks that led to this process. Objects created at a lower number belong to a parent.
  static std::uint32_t generation() { return generation_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kStripes = 64;
  struct alignas(64) Stripe {
    std::atomic<std::uint32_t> readers{0};
  };
  static std::size_t stripe_of_thread();
  void replace(const List* list, bool at_exit);

  static std::atomic<std::uint32_t> generation_;
  std::atomic<const List*> list_{nullptr};
  std::atomic<std::uint64_t> bits_{0};
  std::array<Stripe, kStripes> stripes_;
  std::mutex mutex_;  // guards add() and remove()
};

}  // namespace msprof::acl
