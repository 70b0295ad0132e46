// One PROF folder while it is written: made by aclprofStart (or by a configuration), complete when finish() returns.
// Source: cann_host.md 1.1, 1.2, 1.7 (folder, slices, info files); cann_device.md 2.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msprof::acl {

// What is recorded: bits of aclprofCreateConfig's dataTypeConfig, those that others imply included.
struct RecordingOptions {
  std::string output;                  // folder in which the PROF folder is made; is made itself where it is missing
  std::vector<std::uint16_t> devices;  // none: the host alone
  std::uint64_t bits = 0;
  std::uint32_t metrics = 0xFF;  // aclprofAicoreMetrics; 0xFF: none
  int chip = 5;                  // platform_version of info.json: 5, 4 or 1
  std::uint64_t storage_limit_bytes = 0;                        // of the folder; 0: none
  std::vector<std::pair<std::string, std::string>> parameters;  // further keys of sample.json
};

// Files of records; the name, size of a record and class of each are in recording.cpp.
enum class HostFile : std::uint8_t {
  api_event, task_track, node_basic_info, node_attr_info, memcpy_info, tensor_info, fusion_op_info, graph_id_map,
  task_memory_info, msproftx, kCount
};
enum class DeviceFile : std::uint8_t { task_log, counters, ts_track, kCount };

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

  // Appends one record of the file's size, by any thread at once, without a lock between them. A record that finds no
  // space is counted.
  void append(HostFile file, const void* record);
  void append(std::uint16_t device, DeviceFile file, const void* record);

  // Hash of a text, which hash_dic has from then on.
  std::uint64_t intern(std::string_view text);
  // Name of a type of a level, which type_info_dic has from then on.
  void name_type(std::uint16_t level, std::uint32_t type, std::string_view name);

  // Completes every file: true size, `.done`, end_info with the count of what was lost. At exit nothing is waited for.
  void finish(bool at_exit = false);
  // Records that found no space.
  std::uint64_t lost() const;

 private:
  explicit Recording(RecordingOptions options);
  struct Files;
  std::unique_ptr<Files> files_;
};

// The recordings under way, for the recorder. Each may be read by any number of threads; remove() returns when no
// thread reads it any more.
class ActiveRecordings {
 public:
  static ActiveRecordings& instance();
  void add(std::shared_ptr<Recording> recording);
  void remove(const std::shared_ptr<Recording>& recording);
  // A child made by fork records nothing.
  void forget_all();
};

}  // namespace msprof::acl
