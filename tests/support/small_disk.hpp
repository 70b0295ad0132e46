// SmallDisk: a file system of a few megabytes, for tests of full disks. Made before anything else
// in its test: where root's rights come from a user namespace, only what is started later sees it.
#pragma once

#include <cstdint>
#include <filesystem>

#include "support/temp_folder.hpp"

namespace msprof::test {

class SmallDisk {
 public:
  // Empty; `bytes` are for everything on it. Where none can be mounted it is a plain folder.
  explicit SmallDisk(std::uint64_t bytes);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  const std::filesystem::path& path() const { return folder_.path(); }
  std::filesystem::path operator/(const std::filesystem::path& name) const {
    return folder_ / name;
  }

  // Whether this process may mount: as root, or in a user namespace of its own, which it enters
  // here. Where it may not, the test is skipped and returns (support/require.hpp).
  static bool is_available_or_skip();

 private:
  TempFolder folder_;
  bool mounted_ = false;
};

}  // namespace msprof::test
