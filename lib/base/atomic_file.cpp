#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "base/durable.hpp"
#include "base/error.hpp"
#include "base/folder_listing.hpp"
#include "base/owner_lock.hpp"
#include "base/random_name.hpp"
#include "base/read_write.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSuffix = ".msprof-tmp";
constexpr const char* kLockName = "lock";
constexpr std::size_t kRandomBytes = 16;

// Starts writeback every 16 MB, so that the disk works while the next bytes are produced.
constexpr std::uint64_t kStartBytes = 16 << 20;

// Facts encoded in the name of a temporary file or folder.
struct TemporaryName {
  bool has_owner_lock = false;  // false: made by an earlier version, with a process id in the name
  bool is_of_this_machine = false;
};

std::optional<TemporaryName> parse_temporary(std::string_view name) {
  if (!name.starts_with('.') || !name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  const std::size_t dot = name.rfind('.');
  if (dot == 0 || dot == std::string_view::npos) return std::nullopt;
  const std::string_view tail = name.substr(dot + 1);
  if (tail.size() <= kRandomBytes || tail[kRandomBytes] != '-') return TemporaryName();
  return TemporaryName{true, is_this_machine(tail.substr(kRandomBytes + 1))};
}

fs::path temporary_beside(const fs::path& target) {
  const std::string tail = fmt::format(".{}-{}{}", random_name(), machine_tag(), kSuffix);
  // The temporary name must fit in NAME_MAX even if the final name only just fits.
  const std::string name = target.filename().string();
  return target.parent_path() / ("." + name.substr(0, 254 - tail.size()) + tail);
}

fs::path parent_folder(const fs::path& target) {
  return target.has_parent_path() ? target.parent_path() : fs::path(".");
}

void remove_stale_file(const fs::path& path, const TemporaryName& name) {
  struct stat file = {};
  if (::lstat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return;
  const bool is_old = is_abandoned(path);
  FileDescriptor fd;
  OwnerLock lock = OwnerLock::unknown;
  if (name.has_owner_lock) {
    fd.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (fd) lock = look_for_owner(fd.get());
  }
  if (is_ownerless(lock, name.is_of_this_machine, is_old)) ::unlink(path.c_str());
}

void remove_stale_folder(const fs::path& path, const TemporaryName& name,
                         const std::function<bool(const fs::path&)>& rescue) {
  struct stat folder = {};
  if (::lstat(path.c_str(), &folder) != 0 || !S_ISDIR(folder.st_mode) ||
      folder.st_uid != ::geteuid())
    return;
  const bool is_old = is_abandoned(path);
  FileDescriptor fd;
  OwnerLock lock = OwnerLock::unknown;
  if (name.has_owner_lock) {
    // Creates the lock file if the owner has not done so yet; the owner notices this and uses
    // another name.
    fd.reset(::open((path / kLockName).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd) return;
    lock = take_owner_lock(fd.get());
  }
  if (!is_ownerless(lock, name.is_of_this_machine, is_old)) return;
  if (rescue && !rescue(path)) return;
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

// Calls `visit` for each temporary in a folder. A folder that cannot be listed has no temporaries.
template <typename Visit>
void for_each_temporary(const fs::path& folder, const Visit& visit) {
  for (const auto& [name, type] : list_folder(folder).entries) {
    if (const auto temporary = parse_temporary(name)) visit(folder / name, *temporary);
  }
}

// Cleans each folder once per process; temporaries that other programs abandon later are removed by
// the next process.
void clean_once(const fs::path& folder) {
  static std::mutex mutex;
  static std::set<fs::path> known;
  const std::lock_guard lock(mutex);
  std::error_code error;
  if (known.insert(fs::absolute(folder, error).lexically_normal()).second)
    remove_stale_temporaries(folder);
}

}  // namespace

void throw_cannot_write(const fs::path& path, int error_number, std::string_view hint) {
  throw Error(Exit::cannot_write,
              fmt::format("cannot write {}: {}{}", path.string(), errno_text(error_number), hint));
}

void remove_stale_temporaries(const fs::path& folder) {
  for_each_temporary(folder, remove_stale_file);
}

void create_output_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw_cannot_write(folder, error.value());
  if (!fs::is_directory(folder)) throw_cannot_write(folder, ENOTDIR);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) throw_cannot_write(folder, errno);
}

TemporaryFile::TemporaryFile(const fs::path& target, std::string_view hint, Before before)
    : target_(target), hint_(hint), before_(before) {
  clean_once(parent_folder(target));
  for (;;) {
    path_ = temporary_beside(target_);
    fd_.reset(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!fd_ && (errno == EEXIST || errno == EINTR)) continue;
    if (!fd_) throw_cannot_write(target_, errno, hint_);
    await_owner_lock(fd_.get());
    // Another program may have removed the file before it was locked.
    if (is_same_file(fd_.get(), path_)) return;
  }
}

TemporaryFile::~TemporaryFile() {
  if (fd_) ::unlink(path_.c_str());
}

void TemporaryFile::sync() const {
  sync_file(fd_.get(), target_, hint_);
}

void TemporaryFile::rename() {
  if (before_ != nullptr) before_(target_);
  if (::rename(path_.c_str(), target_.c_str()) != 0) throw_cannot_write(target_, errno, hint_);
  fd_.reset();
}

void TemporaryFile::publish() {
  sync();
  rename();
  sync_folder(parent_folder(target_));
}

void publish_together(std::vector<TemporaryFile>& files) {
  std::vector<std::function<void()>> syncs;
  for (const TemporaryFile& file : files) syncs.emplace_back([&file] { file.sync(); });
  sync_together(std::exchange(syncs, {}));
  std::set<fs::path> folders;
  for (TemporaryFile& file : files) {
    file.rename();
    folders.insert(parent_folder(file.target()));
  }
  for (const fs::path& folder : folders) syncs.emplace_back([&folder] { sync_folder(folder); });
  sync_together(syncs);
}

TemporaryFolder::TemporaryFolder(const fs::path& target,
                                 const std::function<bool(const fs::path&)>& rescue,
                                 std::string_view hint) {
  const fs::path stem = "." + target.filename().string() + ".";
  for_each_temporary(parent_folder(target), [&](const fs::path& path, const TemporaryName& name) {
    if (path.filename().native().starts_with(stem.native()))
      remove_stale_folder(path, name, rescue);
  });
  for (;;) {
    path_ = temporary_beside(target);
    if (::mkdir(path_.c_str(), S_IRWXU) != 0) {
      if (errno == EEXIST) continue;
      throw_cannot_write(parent_folder(target), errno, hint);
    }
    const fs::path lock = path_ / kLockName;
    lock_.reset(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock_ && errno == ENOENT) continue;  // removed by another program's cleanup
    if (!lock_) {
      const int error_number = errno;
      ::rmdir(path_.c_str());
      throw_cannot_write(parent_folder(target), error_number, hint);
    }
    await_owner_lock(lock_.get());
    if (is_same_file(lock_.get(), lock)) return;
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

AtomicFile::AtomicFile(const fs::path& target, std::string_view hint)
    : TextOutput(kBufferBytes), file_(target, hint) {
  buffer_.reserve(kBufferBytes + (64 << 10));
}

void AtomicFile::flush() {
  put(buffer_);
  buffer_.clear();
}

void AtomicFile::write_block(std::string_view block) {
  flush();
  put(block);
}

void AtomicFile::put(std::string_view bytes) {
  flushed_bytes_ += bytes.size();
  if (const int error = write_all(file_.fd(), bytes))
    throw_cannot_write(file_.target(), error, file_.hint());
  if (flushed_bytes_ - started_bytes_ < kStartBytes) return;
  start_sync(file_.fd(), started_bytes_);
  started_bytes_ = flushed_bytes_;
}

TemporaryFile AtomicFile::finish() {
  flush();
  start_sync(file_.fd(), started_bytes_);
  return std::move(file_);
}

void AtomicFile::commit() {
  flush();
  file_.publish();
}

void write_text_file(const fs::path& target, std::string_view text) {
  AtomicFile file(target);
  file.write(text);
  file.commit();
}

}  // namespace msprof
