#include "board/source_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "collect/file_tree.hpp"

namespace msprof {

namespace {

using Seconds = std::chrono::seconds;

constexpr std::chrono::nanoseconds kRacy = Seconds(2);

}  // namespace

// O_NONBLOCK: a pipe that took the file's place since it was looked at must not hang the sender.
SourceFile::SourceFile(const std::filesystem::path& path)
    : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {
  if (!fd_ || ::fstat(fd_.get(), &status_) != 0) {
    error_ = errno;
  } else if (!S_ISREG(status_.st_mode)) {
    error_ = EINVAL;
  }
}

std::int64_t SourceFile::copied_mtime_seconds() const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto age = now - std::chrono::nanoseconds(mtime_ns(status_));
  const bool racy = std::chrono::abs(age) <= kRacy;
  return static_cast<std::int64_t>(status_.st_mtim.tv_sec) - (racy ? 1 : 0);
}

std::size_t SourceFile::read(std::span<char> buffer) {
  interrupt::check();
  const std::uint64_t left = size_bytes() - read_bytes_;
  const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), left));
  ssize_t count = 0;
  do {
    count = ::read(fd_.get(), buffer.data(), most);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return 0;
  read_bytes_ += static_cast<std::uint64_t>(count);
  return static_cast<std::size_t>(count);
}

bool SourceFile::has_changed() const {
  struct stat now = {};
  return read_bytes_ != size_bytes() || ::fstat(fd_.get(), &now) != 0 ||
         now.st_size != status_.st_size || mtime_ns(now) != mtime_ns(status_);
}

bool open_for_sending(const SourceFile& file, const ProjectEntry& entry, SendReport& report) {
  if (file.error() == 0) {
    ++report.files;
    return true;
  }
  log::warn("not uploaded: {}: {}", printable(entry.path.string()), errno_text(file.error()));
  report.not_sent.push_back(entry.path);
  return false;
}

bool told_of_change(const SourceFile& file, const ProjectEntry& entry) {
  if (!file.has_changed()) return false;
  log::warn(
      "{} changed while it was sent: its copy on the board may be torn, and is sent again "
      "for the next run",
      entry.path.string());
  return true;
}

}  // namespace msprof
