// PlainUser: drops root's rights, so that file modes take effect. For tests of unreadable files.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <stdexcept>

namespace msprof::test {

// If the process runs as root, all its threads run as another user during the lifetime of this
// object, and that user owns `folder` and its contents. No effect otherwise.
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
