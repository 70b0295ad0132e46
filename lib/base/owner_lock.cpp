#include "base/owner_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/host_name.hpp"
#include "base/text.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::hours kAbandoned{24};

// The byte before SQLite's lock bytes, as the file can be a database.
constexpr off_t kOwnerByte = (off_t{1} << 30) - 1;

OwnerLock lock(int fd, int command, short type) {
  struct flock owner = {};
  owner.l_type = type;
  owner.l_whence = SEEK_SET;
  owner.l_start = kOwnerByte;
  owner.l_len = 1;
  for (;;) {
    if (::fcntl(fd, command, &owner) == 0) return OwnerLock::taken;
    if (errno == EAGAIN || errno == EACCES) return OwnerLock::held;
    if (errno != EINTR) return OwnerLock::unknown;
  }
}

std::string hash_of(std::string_view text) {
  return fmt::format("{:08x}", static_cast<std::uint32_t>(fnv1a(text)));
}

std::string machine_life() {
  try {
    return read_text_file("/proc/sys/kernel/random/boot_id", 4096);
  } catch (const Error&) {
    return own_host_name();
  }
}

}  // namespace

const std::string& machine_tag() {
  static const std::string tag = hash_of(own_host_name()) + hash_of(machine_life());
  return tag;
}

bool is_this_machine(std::string_view tag) {
  const std::string_view own = machine_tag();
  const std::size_t half = own.size() / 2;
  return tag.size() == own.size() &&
         (tag.substr(0, half) == own.substr(0, half) || tag.substr(half) == own.substr(half));
}

OwnerLock take_owner_lock(int fd) {
  return lock(fd, F_OFD_SETLK, F_WRLCK);
}

OwnerLock await_owner_lock(int fd) {
  return lock(fd, F_OFD_SETLKW, F_WRLCK);
}

OwnerLock look_for_owner(int fd) {
  return lock(fd, F_OFD_SETLK, F_RDLCK);
}

bool is_same_file(int fd, const fs::path& path) {
  struct stat open = {};
  struct stat named = {};
  return ::fstat(fd, &open) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

bool is_ownerless(OwnerLock lock, bool is_of_this_machine, bool is_old) {
  return (lock == OwnerLock::taken && is_of_this_machine) || (lock != OwnerLock::held && is_old);
}

bool is_abandoned(const fs::path& path) {
  const auto limit = fs::file_time_type::clock::now() - kAbandoned;
  std::error_code error;
  auto written = fs::last_write_time(path, error);
  if (error || written > limit) return false;
  if (!fs::is_directory(fs::symlink_status(path, error))) return !error;
  fs::recursive_directory_iterator entry(path, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry->is_symlink(error)) continue;
    written = std::max(written, entry->last_write_time(error));
    if (error || written > limit) return false;
  }
  return !error;
}

}  // namespace msprof
