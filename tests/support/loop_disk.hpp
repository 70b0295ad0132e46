// LoopDisk: a real file system in a file, for tests of power cuts: unsynced data exists only in
// kernel memory, so a copy of the file equals the disk after a power cut.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "support/temp_folder.hpp"

namespace msprof::test {

class LoopDisk {
 public:
  // An empty disk; `kind` is "ext4" or "xfs". Throws if it cannot be created.
  explicit LoopDisk(const std::string& kind);
  // The disk left by a power cut: `image` is a copy of image().
  LoopDisk(const std::string& kind, const std::filesystem::path& image);
  ~LoopDisk();
  LoopDisk(const LoopDisk&) = delete;
  LoopDisk& operator=(const LoopDisk&) = delete;

  std::filesystem::path path() const { return folder_ / "disk"; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path() / name; }

  // The file of the disk. A copy of it that keeps the holes simulates a power cut.
  std::filesystem::path image() const { return folder_ / "image"; }
  // Writes all data to the disk.
  void sync() const;
  // Returns the disk that a power cut at this moment would leave.
  std::unique_ptr<LoopDisk> cut() const;

  // Returns true if such disks can be mounted here; otherwise the test is skipped and must return
  // (support/require.hpp).
  static bool is_available_or_skip(const std::string& kind);

 private:
  void mount(const std::string& options);
  TempFolder folder_;
  std::string kind_;
  bool mounted_ = false;
};

}  // namespace msprof::test
