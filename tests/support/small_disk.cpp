#include "support/small_disk.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "support/require.hpp"

namespace msprof::test {

namespace {

bool mount_tmpfs(const std::filesystem::path& folder, std::uint64_t bytes) {
  const std::string options = "mode=0700,size=" + std::to_string(bytes);
  return ::mount("tmpfs", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) == 0;
}

bool write_text(const char* path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

// The same user and group as outside, with the right to mount until the next exec(). Impossible
// once there are threads.
bool enter_namespace() {
  const std::string user = std::to_string(::getuid());
  const std::string group = std::to_string(::getgid());
  return ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
         write_text("/proc/self/setgroups", "deny") &&
         write_text("/proc/self/uid_map", user + " " + user + " 1") &&
         write_text("/proc/self/gid_map", group + " " + group + " 1");
}

bool may_mount() {
  const TempFolder folder;
  if (!mount_tmpfs(folder.path(), 1 << 20)) return false;
  ::umount2(folder.path().c_str(), MNT_DETACH);
  return true;
}

}  // namespace

bool SmallDisk::is_available_or_skip() {
  return require_or_skip("disk", may_mount() || (enter_namespace() && may_mount()),
                         "no small disk can be mounted here; run it as root");
}

SmallDisk::SmallDisk(std::uint64_t bytes) : mounted_(mount_tmpfs(folder_.path(), bytes)) {}

SmallDisk::~SmallDisk() {
  if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
}

}  // namespace msprof::test
