#include "collect/run_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "base/error.hpp"
#include "base/folder_listing.hpp"
#include "base/log.hpp"
#include "base/owner_lock.hpp"
#include "base/random_name.hpp"
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
      fmt::format("cannot prepare the run in {}: {} (set XDG_CACHE_HOME to use another folder)",
                  path.string(), errno_text(error_number)));
}

struct RunLockFile {
  FileDescriptor fd;  // empty: the lock file does not exist
  OwnerLock lock = OwnerLock::unknown;
};

// Opens and locks `path`. Retries if another process removed the file between open and lock: only a
// lock on the file that has this name is valid.
RunLockFile take_lock(const fs::path& path, int flags) {
  for (;;) {
    RunLockFile file;
    file.fd.reset(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600));
    if (!file.fd) {
      if (errno == ENOENT && (flags & O_CREAT) == 0) return {};
      fail_to_prepare(path, errno);
    }
    file.lock = take_owner_lock(file.fd.get());
    if (is_same_file(file.fd.get(), path)) return file;
    if ((flags & O_EXCL) != 0) return {};
  }
}

bool is_lock_name(std::string_view name) {
  return name.starts_with(kRunPrefix) && name.ends_with(kLockSuffix);
}

// Returns "run_<random>_<machine>" with only letters, digits and underscores: the manual allows no
// other characters in the output path.
std::string fresh_name() {
  return fmt::format("{}{}_{}", kRunPrefix, random_name(), machine_tag());
}

}  // namespace

fs::path user_cache_folder() {
  // XDG base directory specification: a relative XDG_CACHE_HOME counts as unset.
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && fs::path(cache).is_absolute()) return cache;
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return fs::path(home) / ".cache";
  const passwd* user = ::getpwuid(::geteuid());
  if (user == nullptr) {
    throw Error(Exit::cannot_write, "the home folder is unknown; set XDG_CACHE_HOME");
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
  // remove_stale_runs() of another process may briefly hold the lock, and remove the file: then
  // tries another name.
  for (RunLockFile own; !lock_;) {
    path_ = runs / fresh_name();
    lock_path_ = path_.string() + std::string(kLockSuffix);
    own = take_lock(lock_path_, O_CREAT | O_EXCL);
    if (own.lock != OwnerLock::held) lock_ = std::move(own.fd);
  }
  const std::string& name = project_.native();
  const bool named = ::write(lock_.get(), name.data(), name.size()) == ssize_t(name.size());
  if (!named || ::mkdir(path_.c_str(), S_IRWXU) != 0) {
    const int error_number = errno;
    ::unlink(lock_path_.c_str());
    fail_to_prepare(path_, error_number);
  }
}

std::size_t RunFolder::others() const {
  std::size_t count = 0;
  const fs::path runs = path_.parent_path();
  for (const FolderEntry& entry : list_folder(runs).entries) {
    const fs::path path = runs / entry.name;
    if (!is_lock_name(entry.name) || path == lock_path_) continue;
    try {
      if (read_text_file(path, kMaxPathBytes) != project_.native()) continue;
      if (take_lock(path, 0).lock == OwnerLock::held) ++count;
    } catch (const Error& gone) {
      log::verbose("{}", gone.what());
    }
  }
  return count;
}

RunFolder::~RunFolder() {
  if (is_kept_) return;
  if (!remove_tree(path_)) {
    log::warn("could not remove {}; the next run tries again", path_.string());
    return;
  }
  ::unlink(lock_path_.c_str());
}

int remove_stale_runs(const fs::path& runs) {
  int removed = 0;
  for (const auto& [name, type] : list_folder(runs).entries) {
    if (!name.starts_with(kRunPrefix)) continue;
    const fs::path path = runs / name;
    const bool is_lock = name.ends_with(kLockSuffix);
    const std::string run = is_lock ? name.substr(0, name.size() - kLockSuffix.size()) : name;
    const fs::path folder = runs / run;
    const fs::path lock_path = folder.string() + std::string(kLockSuffix);
    try {
      // The lock is created before its folder, because a folder without a lock is stale.
      std::error_code ignored;
      const bool orphan = !is_lock && !fs::exists(lock_path, ignored);
      const RunLockFile lock = take_lock(lock_path, 0);
      const bool is_old =
          is_abandoned(lock_path) && (!fs::exists(folder, ignored) || is_abandoned(folder));
      const bool is_ours = is_this_machine(run.substr(run.rfind('_') + 1));
      if (!orphan && (!lock.fd || !is_ownerless(lock.lock, is_ours, is_old))) continue;
      const bool existed = fs::exists(folder, ignored);
      if (!remove_tree(folder)) continue;
      if (existed) ++removed;
      if (lock.fd) ::unlink(lock_path.c_str());
    } catch (const Error& cannot_lock) {
      log::verbose("{}", cannot_lock.what());
    }
  }
  return removed;
}

}  // namespace msprof
