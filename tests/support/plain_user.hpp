// PlainUser: takes root's rights away, so that the modes of files count. For tests of what cannot
// be read.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <stdexcept>

namespace msprof::test {

// Root is another user while one lives, who owns `folder` and what is in it; anybody else stays who
// they are. Of all threads of this process.
class PlainUser {
 public:
  explicit PlainUser(const std::filesystem::path& folder) {
    if (::geteuid() != 0) return;
    give(folder);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      give(entry.path());
    if (::seteuid(kUser) != 0) throw std::runtime_error("seteuid failed");
    is_other_ = true;
  }
  ~PlainUser() {
    if (is_other_ && ::seteuid(0) != 0) std::terminate();
  }
  PlainUser(const PlainUser&) = delete;
  PlainUser& operator=(const PlainUser&) = delete;

 private:
  static constexpr uid_t kUser = 65534;  // nobody

  static void give(const std::filesystem::path& path) {
    if (::lchown(path.c_str(), kUser, static_cast<gid_t>(-1)) != 0)
      throw std::runtime_error("lchown failed");
  }

  bool is_other_ = false;
};

}  // namespace msprof::test
