// LoopDisk: a real file system in a file, for tests of power cuts: unsynced data is only in the
// memory of the kernel, so a copy of the file equals the disk after a power cut.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "support/temp_folder.hpp"

namespace msprof::test {

class LoopDisk {
 public:
  // Empty; `kind` is "ext4" or "xfs". Throws where it cannot be made.
  explicit LoopDisk(const std::string& kind);
  // The disk as a power cut left it: `image` is a copy of image().
  LoopDisk(const std::string& kind, const std::filesystem::path& image);
  ~LoopDisk();
  LoopDisk(const LoopDisk&) = delete;
  LoopDisk& operator=(const LoopDisk&) = delete;

  std::filesystem::path path() const { return folder_ / "disk"; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path() / name; }

  // The file of the disk. A copy of it that keeps the holes is a power cut.
  std::filesystem::path image() const { return folder_ / "image"; }
  // Brings everything to the disk.
  void sync() const;
  // The disk as it is after a power cut at this moment.
  std::unique_ptr<LoopDisk> cut() const;

  // Whether such disks can be mounted here. Where not, the test is skipped and returns
  // (support/require.hpp).
  static bool is_available_or_skip(const std::string& kind);

 private:
  void mount(const std::string& options);
  TempFolder folder_;
  std::string kind_;
  bool mounted_ = false;
};

}  // namespace msprof::test
