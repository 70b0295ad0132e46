#include "collect/run_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>

#include "base/error.hpp"
#include "base/folder_listing.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "collect/file_tree.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kLockSuffix = ".lock";
constexpr std::string_view kRunPrefix = "run_";
constexpr std::uint64_t kMaxPathBytes = 4096;

[[noreturn]] void fail_to_prepare(const fs::path& path, int error_number) {
  throw Error(
      Exit::cannot_write,
      fmt::format("cannot prepare the run in {}: {} (set XDG_CACHE_HOME to use another place)",
                  path.string(), errno_text(error_number)));
}

// Opens and locks `path`; an empty descriptor when another process holds it. A cleaner may have
// removed the file between our open and our lock: only a lock on the file of that name counts.
FileDescriptor take_lock(const fs::path& path, int flags) {
  for (;;) {
    FileDescriptor lock(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600));
    if (!lock) {
      if (errno == ENOENT && (flags & O_CREAT) == 0) return {};
      fail_to_prepare(path, errno);
    }
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) fail_to_prepare(path, errno);
      return {};
    }
    struct stat mine = {};
    struct stat named = {};
    if (::fstat(lock.get(), &mine) == 0 && ::stat(path.c_str(), &named) == 0 &&
        mine.st_ino == named.st_ino && mine.st_dev == named.st_dev) {
      return lock;
    }
  }
}

// Process number in the name of a lock; 0 for any other name.
pid_t process_of(std::string_view name) {
  if (!name.starts_with(kRunPrefix) || !name.ends_with(kLockSuffix)) return 0;
  name.remove_prefix(kRunPrefix.size());
  std::uint64_t number = 0;
  const bool parsed = parse_u64(name.substr(0, name.find('_')), number);
  return parsed && number < INT32_MAX ? static_cast<pid_t>(number) : 0;
}

// Letters, digits and underscores only: the manual allows no others in the output path.
std::string fresh_name() {
  static std::atomic<unsigned> counter{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{}{}_{}_{}", kRunPrefix, ::getpid(),
                     std::chrono::duration_cast<std::chrono::microseconds>(now).count(), counter++);
}

}  // namespace

fs::path user_cache_folder() {
  // The base directory rules: a relative XDG_CACHE_HOME counts as unset.
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && fs::path(cache).is_absolute()) return cache;
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return fs::path(home) / ".cache";
  const passwd* user = ::getpwuid(::geteuid());
  if (user == nullptr) {
    throw Error(Exit::cannot_write, "no home folder is known; set XDG_CACHE_HOME");
  }
  return fs::path(user->pw_dir) / ".cache";
}

fs::path runs_folder(const fs::path& cache) {
  return fs::weakly_canonical(cache) / "msprof" / "runs";
}

RunFolder::RunFolder(const fs::path& runs, const fs::path& project) : project_(project) {
  std::error_code error;
  fs::create_directories(runs, error);
  if (error) fail_to_prepare(runs, error.value());
  while (!lock_) {
    path_ = runs / fresh_name();
    lock_path_ = path_.string() + std::string(kLockSuffix);
    lock_ = take_lock(lock_path_, O_CREAT);
  }
  const std::string& name = project_.native();
  const bool named = ::write(lock_.get(), name.data(), name.size()) == ssize_t(name.size());
  if (!named || ::mkdir(path_.c_str(), S_IRWXU) != 0) {
    const int error_number = errno;
    ::unlink(lock_path_.c_str());
    fail_to_prepare(path_, error_number);
  }
}

std::vector<pid_t> RunFolder::others() const {
  std::vector<pid_t> processes;
  std::error_code error;
  const fs::path runs = path_.parent_path();
  for (const FolderEntry& entry : list_folder(runs).entries) {
    const fs::path path = runs / entry.name;
    const pid_t process = process_of(entry.name);
    if (process == 0 || path == lock_path_) continue;
    try {
      if (read_text_file(path, kMaxPathBytes) != project_.native()) continue;
      if (!take_lock(path, 0) && fs::exists(path, error)) {
        processes.push_back(process);
      }
    } catch (const Error& gone) {
      log::verbose("{}", gone.what());
    }
  }
  std::sort(processes.begin(), processes.end());
  return processes;
}

RunFolder::~RunFolder() {
  if (kept_) return;
  if (!remove_tree(path_)) {
    log::warn("{} could not be removed; the next run tries again", path_.string());
    return;
  }
  ::unlink(lock_path_.c_str());
}

int remove_stale_runs(const fs::path& runs) {
  int removed = 0;
  std::error_code error;
  for (const auto& [name, type] : list_folder(runs).entries) {
    if (!name.starts_with(kRunPrefix)) continue;
    const fs::path path = runs / name;
    const bool is_lock = name.ends_with(kLockSuffix);
    const fs::path lock_path = is_lock ? path : fs::path(path.string() + ".lock");
    const fs::path folder =
        is_lock ? runs / name.substr(0, name.size() - kLockSuffix.size()) : path;
    try {
      // A folder has its lock before it exists: one without a lock is a left-over.
      const bool orphan = !is_lock && !fs::exists(lock_path, error);
      const FileDescriptor lock = take_lock(lock_path, 0);
      if (!lock && !orphan) continue;
      const bool existed = fs::exists(folder, error);
      if (!remove_tree(folder)) continue;
      if (existed) ++removed;
      if (lock) ::unlink(lock_path.c_str());
    } catch (const Error& cannot_lock) {
      log::verbose("{}", cannot_lock.what());
    }
  }
  return removed;
}

}  // namespace msprof
