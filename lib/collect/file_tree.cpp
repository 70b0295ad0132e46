#include "collect/file_tree.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "base/durable.hpp"
#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/folder_listing.hpp"
#include "base/read_write.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

struct timespec from_ns(std::int64_t ns) {
  struct timespec time = {};
  time.tv_sec = static_cast<time_t>(ns / kNsPerSecond);
  time.tv_nsec = static_cast<long>(ns % kNsPerSecond);
  if (time.tv_nsec < 0) {
    time.tv_nsec += kNsPerSecond;
    --time.tv_sec;
  }
  return time;
}

void walk_folder(const fs::path& root, const fs::path& relative, const TreeVisitor& visit,
                 const TreeFailure& unreadable) {
  const FolderListing listing = list_folder(root / relative);
  if (listing.error_number != 0) unreadable(relative, listing.error_number);
  for (const auto& [name, type] : listing.entries) {
    const fs::path path = relative / name;
    struct stat status = {};
    if (::lstat((root / path).c_str(), &status) != 0) {
      if (errno != ENOENT) unreadable(path, errno);
      continue;
    }
    if (visit(path, status) && S_ISDIR(status.st_mode)) walk_folder(root, path, visit, unreadable);
  }
}

int copy_by_reading(int from, int to) {
  std::vector<char> buffer(1 << 20);
  for (;;) {
    const ssize_t count = ::read(from, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) return 0;
    const int error = write_all(to, {buffer.data(), static_cast<std::size_t>(count)});
    if (error != 0) return error;
  }
}

int copy_bytes(int from, int to) {
  if (::ioctl(to, FICLONE, from) == 0) return 0;
  constexpr std::size_t kChunkBytes = 64 << 20;
  bool started = false;
  for (;;) {
    const ssize_t count = ::copy_file_range(from, nullptr, to, nullptr, kChunkBytes, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count > 0) {
      started = true;
      continue;
    }
    // Some file systems (proc, overlays) report a size of 0; only reading shows the real size.
    if (count == 0 && started) return 0;
    return copy_by_reading(from, to);
  }
}

void copy_tree(const fs::path& source, const fs::path& target) {
  const auto fail = [&](const fs::path& path, int error_number) {
    throw Error(Exit::cannot_write, fmt::format("cannot copy {} to {}: {}",
                                                (path.empty() ? source : source / path).string(),
                                                target.string(), errno_text(error_number)));
  };
  struct stat top = {};
  if (::lstat(source.c_str(), &top) != 0) fail("", errno);
  if (S_ISREG(top.st_mode)) {
    const int error = copy_file_whole(source, target, top.st_mode, mtime_ns(top));
    if (error != 0) fail("", error);
    return;
  }
  if (::mkdir(target.c_str(), (top.st_mode & 0777) | S_IRWXU) != 0) fail("", errno);
  const auto copy_one = [&](const fs::path& path, const struct stat& status) {
    int error = 0;
    if (S_ISDIR(status.st_mode)) {
      if (::mkdir((target / path).c_str(), (status.st_mode & 0777) | S_IRWXU) != 0) error = errno;
    } else if (S_ISREG(status.st_mode)) {
      error = copy_file_whole(source / path, target / path, status.st_mode, mtime_ns(status));
    }
    if (error != 0) fail(path, error);
    return true;
  };
  walk_tree(source, copy_one, fail);
}

}  // namespace

std::int64_t mtime_ns(const struct stat& status) {
  return static_cast<std::int64_t>(status.st_mtim.tv_sec) * kNsPerSecond + status.st_mtim.tv_nsec;
}

void set_mtime(const fs::path& path, std::int64_t mtime_ns) {
  const struct timespec times[2] = {from_ns(mtime_ns), from_ns(mtime_ns)};
  ::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW);
}

void walk_tree(const fs::path& root, const TreeVisitor& visit, const TreeFailure& unreadable) {
  walk_folder(root, "", visit, unreadable);
}

int copy_file_whole(const fs::path& source, const fs::path& target, mode_t mode,
                    std::int64_t mtime_ns) {
  // O_NONBLOCK: prevents a hang if the file was replaced by a pipe after it was examined.
  const FileDescriptor from(::open(source.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!from) return errno;
  struct stat status = {};
  if (::fstat(from.get(), &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EINVAL;
  const FileDescriptor to(
      ::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!to) return errno;
  int error = copy_bytes(from.get(), to.get());
  if (error == 0 && ::fchmod(to.get(), mode & 0777) != 0) error = errno;
  const struct timespec times[2] = {from_ns(mtime_ns), from_ns(mtime_ns)};
  if (error == 0 && ::futimens(to.get(), times) != 0) error = errno;
  if (error != 0) ::unlink(target.c_str());
  return error;
}

void move_tree(const fs::path& source, const fs::path& target) {
  if (::rename(source.c_str(), target.c_str()) == 0) return;
  if (errno != EXDEV) {
    throw Error(Exit::cannot_write, fmt::format("cannot move {} to {}: {}", source.string(),
                                                target.string(), errno_text(errno)));
  }
  // Under another name first, so that `target` is never a partial copy.
  const fs::path partial = target.string() + ".partial";
  copy_tree(source, partial);
  sync_tree(partial);  // the source is removed next
  if (::rename(partial.c_str(), target.c_str()) != 0) {
    throw Error(Exit::cannot_write, fmt::format("cannot move {} to {}: {}", source.string(),
                                                target.string(), errno_text(errno)));
  }
}

bool remove_tree(const fs::path& root) {
  std::error_code error;
  fs::remove_all(root, error);
  if (error) {
    // A run may leave folders without permissions.
    ::chmod(root.c_str(), S_IRWXU);
    const auto open_up = [&](const fs::path& path, const struct stat& status) {
      if (S_ISDIR(status.st_mode)) ::chmod((root / path).c_str(), S_IRWXU);
      return true;
    };
    walk_tree(root, open_up, [](const fs::path&, int) {});
    fs::remove_all(root, error);
  }
  return !error;
}

}  // namespace msprof
