// One PROF folder while it is written: made by aclprofStart (or by a configuration), complete when
// finish() returns. Source: cann_host.md 1.1, 1.2, 1.7 (folder, slices, info files);
// cann_device.md 2.
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

// Bits of aclprofCreateConfig's dataTypeConfig that the writer knows. Values: acl_prof.h.
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
// Beyond level 0: shapes, and the calls of models.
inline constexpr std::uint64_t kTaskDetails = kTaskTime | kTaskTimeL2 | kTaskTimeL3;
}  // namespace prof_bits

// What is recorded: bits of aclprofCreateConfig's dataTypeConfig, those that others imply included.
struct RecordingOptions {
  std::string
      output;  // folder in which the PROF folder is made; is made itself where it is missing
  std::vector<std::uint16_t> devices;  // none: the host alone
  bool devices_on_use = false;         // the folder of a device is made with its first record
  std::uint64_t bits = 0;
  std::uint32_t metrics = 0xFF;           // aclprofAicoreMetrics; 0xFF: none
  int chip = 5;                           // platform_version of info.json: 5, 4 or 1
  std::uint64_t storage_limit_bytes = 0;  // of the folder; 0: none
  HostUsageOptions host_usage;
  std::vector<std::pair<std::string, std::string>> parameters;  // further keys of sample.json
};

// Files of records; the name, size of a record and class of each are in recording.cpp. `task_turns`
// are the records of task_track by which readers count turns: they stay when the rest is removed.
// `vector_counters` are those of vector cores where a chip has a file for them, else `counters`.
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
// The two sides of a task: each numbers the turns of task ids by itself.
enum class Side : std::uint8_t { host, device };

class Recording {
 public:
  // Makes the folder and its info files. Null with a sentence in `why` where that fails.
  static std::shared_ptr<Recording> start(const RecordingOptions& options, std::string& why);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  const std::string& folder() const;
  const RecordingOptions& options() const;
  bool has_device(std::uint16_t device) const;
  // When it began, on the clock of the records.
  std::uint64_t begin_ns() const;

  // Appends one record of the file's size, by any thread at once, without a lock between them. A
  // record that finds no space is counted. The low bits of a device record's number are filled in.
  // Behind `used_bytes` a record is zeros, and not read; 0: all bytes are used.
  void append(HostFile file, const void* record, std::size_t used_bytes = 0);
  void append(std::uint16_t device, DeviceFile file, const void* record);

  // Hash of a text, which hash_dic has from then on.
  std::uint64_t intern(std::string_view text);
  // The same with a hash made before, by text_hash().
  void intern(std::uint64_t hash, std::string_view text);
  // Name of a type of a level, which type_info_dic has from then on. It begins with all that the
  // runtime itself uses.
  void name_type(std::uint16_t level, std::uint32_t type, std::string_view name);

  // Turns of the task ids of a stream that were recorded; the caller raises it. Null for a device
  // that is not recorded.
  std::atomic<std::uint32_t>* turns(std::uint16_t device, std::uint16_t stream, Side side);

  // Completes every file: true size, `.done`, end_info with the counts of what was lost and
  // removed, which are said on stderr. At exit nothing is waited for. Nothing happens in a child
  // made by fork.
  void finish(bool at_exit = false);
  // Records that found no space.
  std::uint64_t lost() const;
  // Records that made room for newer ones at the storage limit.
  std::uint64_t removed() const;

 private:
  struct Files;
  explicit Recording(std::unique_ptr<Files> files);
  static std::shared_ptr<Recording> make(const RecordingOptions& options, std::string& why);
  std::unique_ptr<Files> files_;
};

// The recordings under way, for the recorder. Each may be read by any number of threads; remove()
// returns when no thread reads it any more.
class ActiveRecordings {
 public:
  using List = std::vector<std::shared_ptr<Recording>>;

  static ActiveRecordings& instance();
  void add(std::shared_ptr<Recording> recording);
  // At exit a thread that reads is waited for a moment only; what it reads is then never freed.
  void remove(const std::shared_ptr<Recording>& recording, bool at_exit = false);
  // A child made by fork records nothing; recordings that it starts are its own.
  void forget_all();

  // The bits of all together; 0 where nothing is recorded. One load.
  std::uint64_t bits() const { return bits_.load(std::memory_order_relaxed); }
  // Calls use(recording) for each. Two atomic operations on a counter that few threads share.
  template <typename Use>
  void for_each(Use&& use) {
    std::atomic<std::uint32_t>& readers = stripes_[stripe_of_thread()].readers;
    readers.fetch_add(1, std::memory_order_seq_cst);
    if (const List* const list = list_.load(std::memory_order_seq_cst)) {
      for (const auto& recording : *list) use(*recording);
    }
    readers.fetch_sub(1, std::memory_order_release);
  }

  // Counts the forks above this process: what was made before the last one is the parent's.
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
  std::mutex mutex_;  // of add() and remove()
};

}  // namespace msprof::acl
