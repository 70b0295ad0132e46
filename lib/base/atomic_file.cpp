#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "base/error.hpp"
#include "base/text.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSuffix = ".msprof-tmp";

// Returns the process number in ".<name>.<pid>.<n>.msprof-tmp", 0 when the name is not one of ours.
pid_t owner_of(std::string_view name) {
  if (!name.starts_with('.') || !name.ends_with(kSuffix)) return 0;
  name.remove_suffix(kSuffix.size());
  const auto parts = split(name, '.');
  std::uint64_t pid = 0;
  if (parts.size() < 4 || !parse_u64(parts[parts.size() - 2], pid) || pid > 0x7fffffff) return 0;
  return static_cast<pid_t>(pid);
}

}  // namespace

void throw_cannot_write(const fs::path& path, int error_number) {
  throw Error(Exit::cannot_write,
              fmt::format("cannot write {}: {} (another folder can be given with --output)",
                          path.string(), errno_text(error_number)));
}

fs::path temporary_beside(const fs::path& target) {
  static std::atomic<unsigned> counter{0};
  const std::string tail = fmt::format(".{}.{}{}", ::getpid(), counter++, kSuffix);
  // The temporary name must fit where the final one just fits.
  const std::string name = target.filename().string();
  return target.parent_path() / ("." + name.substr(0, 254 - tail.size()) + tail);
}

bool is_stale_temporary(std::string_view name) {
  const pid_t owner = owner_of(name);
  return owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH;
}

void remove_stale_temporaries(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (is_stale_temporary(entry.path().filename().string())) fs::remove(entry.path(), ignored);
  }
}

void create_output_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw_cannot_write(folder, error.value());
  if (!fs::is_directory(folder)) throw_cannot_write(folder, ENOTDIR);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) throw_cannot_write(folder, errno);
}

void flush_to_disk(const fs::path& temporary, const fs::path& target) {
  const FileDescriptor fd(::open(temporary.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || ::fdatasync(fd.get()) != 0) throw_cannot_write(target, errno);
}

void move_into_place(const fs::path& temporary, const fs::path& target) {
  if (::rename(temporary.c_str(), target.c_str()) != 0) throw_cannot_write(target, errno);
}

AtomicFile::AtomicFile(const fs::path& target)
    : TextOutput(kBufferBytes), target_(target), temporary_(temporary_beside(target)) {
  fd_.reset(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!fd_) throw_cannot_write(target_, errno);
  buffer_.reserve(kBufferBytes + (64 << 10));
}

AtomicFile::~AtomicFile() {
  if (!committed_ && fd_) ::unlink(temporary_.c_str());
}

void AtomicFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t count = ::write(fd_.get(), rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_cannot_write(target_, errno);
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  flushed_bytes_ += buffer_.size();
  buffer_.clear();
}

const fs::path& AtomicFile::finish() {
  flush();
  return temporary_;
}

void AtomicFile::commit() {
  flush();
  move_into_place(temporary_, target_);
  committed_ = true;
}

}  // namespace msprof
