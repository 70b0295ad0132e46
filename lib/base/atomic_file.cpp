#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>

#include "base/error.hpp"
#include "base/host_name.hpp"
#include "base/text.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSuffix = ".msprof-tmp";

// A file of another machine that nothing was written to for so long has lost its program.
constexpr std::chrono::hours kAbandoned{24};

// This machine among those that share a folder: a process number says nothing on another one.
const std::string& machine() {
  static const std::string tag = [] {
    std::uint32_t hash = 0x811c9dc5;  // FNV-1a
    for (const char c : own_host_name()) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
    return fmt::format("{:08x}", hash);
  }();
  return tag;
}

struct Owner {
  pid_t pid = 0;  // 0: the name is not one of ours
  bool is_here = true;
};

// The program in ".<name>.<pid>.<n>-<machine>.msprof-tmp"; without a machine it is of this one.
Owner owner_of(std::string_view name) {
  if (!name.starts_with('.') || !name.ends_with(kSuffix)) return {};
  name.remove_suffix(kSuffix.size());
  const auto parts = split(name, '.');
  std::uint64_t pid = 0;
  if (parts.size() < 4 || !parse_u64(parts[parts.size() - 2], pid) || pid > 0x7fffffff) return {};
  const std::size_t dash = parts.back().find('-');
  const bool is_here = dash == std::string_view::npos || parts.back().substr(dash + 1) == machine();
  return {static_cast<pid_t>(pid), is_here};
}

bool is_abandoned(const fs::directory_entry& entry) {
  std::error_code ignored;
  const auto written = entry.last_write_time(ignored);
  return !ignored && fs::file_time_type::clock::now() - written > kAbandoned;
}

}  // namespace

void throw_cannot_write(const fs::path& path, int error_number, std::string_view hint) {
  throw Error(Exit::cannot_write,
              fmt::format("cannot write {}: {}{}", path.string(), errno_text(error_number), hint));
}

fs::path temporary_beside(const fs::path& target) {
  static std::atomic<unsigned> counter{0};
  const std::string tail = fmt::format(".{}.{}-{}{}", ::getpid(), counter++, machine(), kSuffix);
  // The temporary name must fit where the final one just fits.
  const std::string name = target.filename().string();
  return target.parent_path() / ("." + name.substr(0, 254 - tail.size()) + tail);
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  fs::remove(path_, ignored);
}

bool is_stale_temporary(std::string_view name) {
  const Owner owner = owner_of(name);
  return owner.pid > 0 && owner.is_here && ::kill(owner.pid, 0) != 0 && errno == ESRCH;
}

void remove_stale_temporaries(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const Owner owner = owner_of(name);
    const bool is_lost = owner.pid > 0 && !owner.is_here && is_abandoned(entry);
    if (is_lost || is_stale_temporary(name)) fs::remove(entry.path(), ignored);
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

AtomicFile::AtomicFile(const fs::path& target, std::string_view hint)
    : TextOutput(kBufferBytes), target_(target), hint_(hint), temporary_(temporary_beside(target)) {
  fd_.reset(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!fd_) throw_cannot_write(target_, errno, hint_);
  buffer_.reserve(kBufferBytes + (64 << 10));
}

AtomicFile::~AtomicFile() {
  if (!committed_ && fd_) ::unlink(temporary_.c_str());
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
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t count = ::write(fd_.get(), rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_cannot_write(target_, errno, hint_);
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
}

const fs::path& AtomicFile::finish() {
  flush();
  return temporary_;
}

void AtomicFile::commit() {
  flush();
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) throw_cannot_write(target_, errno, hint_);
  committed_ = true;
}

void write_text_file(const fs::path& target, std::string_view text) {
  AtomicFile file(target);
  file.write(text);
  file.commit();
}

}  // namespace msprof
