// SmallDisk: a file system of a few megabytes, for tests of full disks. Must be created first in a
// test: if the right to mount comes from a user namespace, only processes started later see the
// disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "support/temp_folder.hpp"

namespace msprof::test {

class SmallDisk {
 public:
  // overlay (on a tmpfs) and btrfs (in a file, needs root) have less space for files than they are
  // given.
  enum class Kind : std::uint8_t { tmpfs, overlay, btrfs };

  // An empty disk of `bytes`, including metadata. A plain folder if none can be mounted.
  explicit SmallDisk(std::uint64_t bytes, Kind kind = Kind::tmpfs);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

  // Returns true if this process may mount: as root, or in a new user namespace, which it then
  // enters. Otherwise the test is skipped (support/require.hpp).
  static bool is_available_or_skip();
  // For disks other than tmpfs; call it after construction.
  bool is_mounted_or_skip() const;

 private:
  bool mount(std::uint64_t bytes);
  bool mount_btrfs(std::uint64_t bytes);
  TempFolder folder_;
  std::filesystem::path path_;
  std::vector<std::filesystem::path> mounts_;  // in order of mounting
  const Kind kind_;
  const bool mounted_;
};

}  // namespace msprof::test
