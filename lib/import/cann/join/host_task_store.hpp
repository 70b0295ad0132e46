// HostTaskStore: the host tasks of a run, put in while the host is read and taken out a stream and
// batch at a time while a device is read. Only what is open is in memory; the rest is in an unnamed
// temporary file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <tuple>
#include <vector>

#include "base/file_reader.hpp"
#include "import/cann/join/host_task.hpp"

namespace msprof {

class HostTaskStore {
 public:
  // The temporary file is made in `folder`, without a name, once it is needed; throws
  // Error(cannot_write).
  explicit HostTaskStore(std::filesystem::path folder);

  void add(const HostTask& task);
  // The tasks of a (device, stream, batch) by launch count; they are forgotten here.
  std::vector<HostTask> take(std::uint16_t device, std::uint16_t stream, std::uint16_t batch);
  // How many tasks of `device` were never taken: launched, never seen on the device.
  std::uint64_t remaining(std::uint16_t device) const;

 private:
  static constexpr std::size_t kBlockTasks = 64;
  struct Segment {
    std::vector<HostTask> open;         // not yet written
    std::vector<std::uint64_t> blocks;  // offsets in the file, kBlockTasks tasks each
  };
  using Key = std::tuple<std::uint16_t, std::uint16_t, std::uint16_t>;
  void spill(Segment& segment);

  std::filesystem::path folder_;
  FileDescriptor file_;
  std::uint64_t file_bytes_ = 0;
  std::map<Key, Segment> segments_;
};

}  // namespace msprof
