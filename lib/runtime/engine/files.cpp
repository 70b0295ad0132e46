#include "runtime/engine/files.hpp"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace msprof::runtime {

int open_above_stdio(const std::string& path, int flags) {
  constexpr mode_t kFileMode = 0640;
  const int fd = open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, kFileMode);
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  close(fd);
  errno = error;
  return higher;
}

uint64_t size_limit() {
  rlimit limit = {};
  const bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? limit.rlim_cur : UINT64_MAX;
}

bool may_be_mapped(const std::string& path) {
  constexpr std::uint32_t kXfs = 0x58465342;  // missing in some versions of linux/magic.h
  struct statfs system = {};
  if (statfs(path.c_str(), &system) != 0) return false;
  switch (static_cast<std::uint32_t>(system.f_type)) {
    case EXT4_SUPER_MAGIC:  // also ext2 and ext3
    case TMPFS_MAGIC:
    case kXfs:
      return true;
    default:
      return false;
  }
}

ssize_t write_retrying(int fd, const void* bytes, std::size_t size) {
  ssize_t written = 0;
  do {
    written = write(fd, bytes, size);
  } while (written < 0 && errno == EINTR);
  return written;
}

bool write_whole_file(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".tmp";
  if (text.size() > size_limit()) {
    errno = EFBIG;
    return false;
  }
  const int fd = open_above_stdio(temporary, O_WRONLY | O_CREAT | O_TRUNC);
  if (fd < 0) return false;
  const ssize_t written = write_retrying(fd, text.data(), text.size());
  int error = written < 0 ? errno : ENOSPC;
  bool good = written == static_cast<ssize_t>(text.size());
  if (close(fd) != 0 && good) {
    good = false;
    error = errno;
  }
  if (good && rename(temporary.c_str(), path.c_str()) == 0) return true;
  if (good) error = errno;
  unlink(temporary.c_str());
  errno = error;
  return false;
}

std::optional<std::string> read_whole_file(const std::string& path, std::size_t limit_bytes) {
  // Without O_NONBLOCK, open() would wait on a pipe that has no writer.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  struct stat state = {};
  int error = fstat(fd, &state) == 0 ? 0 : errno;
  if (error == 0 && !S_ISREG(state.st_mode)) error = S_ISDIR(state.st_mode) ? EISDIR : EINVAL;
  std::string text;
  std::array<char, 4096> part;
  for (ssize_t got = 1; error == 0 && got != 0;) {
    got = read(fd, part.data(), part.size());
    if (got < 0 && errno != EINTR) error = errno;
    if (got > 0) text.append(part.data(), static_cast<std::size_t>(got));
    if (text.size() > limit_bytes) error = EFBIG;
  }
  close(fd);
  errno = error;
  return error == 0 ? std::optional(std::move(text)) : std::nullopt;
}

std::string executable_folder() {
  std::array<char, PATH_MAX> path;
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) return ".";
  const std::string text(path.data(), static_cast<std::size_t>(length));
  const std::size_t slash = text.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : text.substr(0, slash);
}

}  // namespace msprof::runtime
