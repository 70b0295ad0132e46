#include "support/small_disk.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <string>

#include "support/require.hpp"
#include "support/run_program.hpp"

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

// Enters a user namespace with the same user and group, and the right to mount until the next
// exec(). Fails if the process has threads.
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

SmallDisk::SmallDisk(std::uint64_t bytes, Kind kind)
    : path_(folder_.path()), kind_(kind), mounted_(mount(bytes)) {}

bool SmallDisk::mount(std::uint64_t bytes) {
  if (kind_ == Kind::btrfs) return mount_btrfs(bytes);
  if (!mount_tmpfs(folder_.path(), bytes)) return false;
  mounts_.push_back(folder_.path());
  if (kind_ == Kind::tmpfs) return true;
  path_ = folder_ / "merged";
  std::string options;
  for (const std::string part : {"lowerdir", "upperdir", "workdir"}) {
    std::filesystem::create_directory(folder_ / part);
    options += (options.empty() ? "" : ",") + part + "=" + (folder_ / part).string();
  }
  std::filesystem::create_directory(path_);
  if (::mount("overlay", path_.c_str(), "overlay", 0, options.c_str()) != 0) return false;
  mounts_.push_back(path_);
  return true;
}

bool SmallDisk::mount_btrfs(std::uint64_t bytes) {
  const std::string image = folder_ / "image";
  path_ = folder_ / "disk";
  std::filesystem::create_directory(path_);
  std::ofstream(image) << "";
  std::filesystem::resize_file(image, bytes);
  try {
    if (run_program("/sbin/mkfs.btrfs", {"-q", "--mixed", image}).exit_code != 0) return false;
    if (run_program("/bin/mount", {"-o", "loop", image, path_.string()}).exit_code != 0)
      return false;
  } catch (const std::runtime_error&) {
    return false;
  }
  mounts_.push_back(path_);
  return true;
}

SmallDisk::~SmallDisk() {
  for (; !mounts_.empty(); mounts_.pop_back()) ::umount2(mounts_.back().c_str(), MNT_DETACH);
}

bool SmallDisk::is_mounted_or_skip() const {
  return kind_ == Kind::btrfs
             ? require_or_skip("btrfs", mounted_,
                               "no btrfs can be mounted here: it needs root, a loop device and "
                               "btrfs-progs")
             : require_or_skip("overlay", mounted_, "no overlay can be mounted here");
}

}  // namespace msprof::test
