#include "cluster/run/run_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/host_name.hpp"
#include "base/log.hpp"
#include "base/owner_lock.hpp"
#include "base/text.hpp"
#include "base/words.hpp"

namespace msprof::cluster {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::size_t kMaxLockBytes = 1 << 20;

std::optional<LockHolder> read_holder(int fd) {
  std::string text(kMaxLockBytes, '\0');
  const ssize_t count = ::pread(fd, text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  try {
    const json document = json::parse(text);
    return LockHolder{document.at("host").get<std::string>(), document.value("machine", ""),
                      document.at("pid").get<long>(),
                      document.at("jobs").get<std::vector<std::string>>()};
  } catch (const json::exception&) {
    return std::nullopt;  // empty or truncated by a full disk: not held
  }
}

// Returns true if another program may use the folder although the lock looks free. An empty file
// has no holder: its creator will write it, or the disk was full.
bool may_be_held(OwnerLock lock, const std::optional<LockHolder>& holder, const fs::path& path) {
  if (holder && holder->pid == 0) return false;
  const bool is_seen =
      !holder || holder->host == valid_utf8(own_host_name()) || is_this_machine(holder->machine);
  return !is_ownerless(lock, is_seen, is_abandoned(path));
}

}  // namespace

RunLock::RunLock(const fs::path& output, const JobsAlive& jobs_alive, bool take_jobs)
    : path_(output / "run.lock") {
  take(jobs_alive, take_jobs, true);
}

RunLock::RunLock(const fs::path& file) : path_(file) {
  take({}, false, false);
}

void RunLock::take(const JobsAlive& jobs_alive, bool take_jobs, bool is_output) {
  const std::string folder = path_.parent_path().string();
  own_.host = valid_utf8(own_host_name());
  own_.machine = machine_tag();
  own_.pid = ::getpid();
  for (;;) {
    constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
    fd_.reset(::open(path_.c_str(), kFlags | O_CREAT | O_EXCL, 0666));
    const bool is_new = static_cast<bool>(fd_);
    if (!is_new && errno == EEXIST) fd_.reset(::open(path_.c_str(), kFlags));
    if (!fd_ && errno == ENOENT) continue;  // released meanwhile
    if (!fd_) throw_cannot_write(path_, errno, is_output ? kOtherOutput : std::string_view());
    const OwnerLock lock = take_owner_lock(fd_.get());
    if (!is_same_file(fd_.get(), path_)) continue;
    const auto holder = read_holder(fd_.get());
    if (lock == OwnerLock::held || (!is_new && may_be_held(lock, holder, path_))) {
      const LockHolder other = holder.value_or(LockHolder());
      throw Error(
          Exit::cannot_write,
          fmt::format("{} is in use by {}. Wait for it{}{}", folder,
                      other.pid == 0
                          ? "another msprof"
                          : fmt::format("process {} on {}", other.pid, printable(other.host)),
                      is_output ? ", or use another --output" : "",
                      lock == OwnerLock::held
                          ? ""
                          : fmt::format("; if it has certainly ended, remove {}", path_.string())));
    }
    if (holder && !holder->jobs.empty() && !take_jobs && jobs_alive && jobs_alive(holder->jobs)) {
      throw Error(Exit::cannot_write,
                  fmt::format("{} is in use: its jobs {} have not ended. `msprof cluster --attach "
                              "--output {}` waits for them; scancel cancels them",
                              folder, listed(holder->jobs), shell_word(folder)));
    }
    if (holder && take_jobs) own_.jobs = holder->jobs;
    write(own_);
    return;
  }
}

RunLock::~RunLock() {
  if (!is_left_) {
    if (is_same_file(fd_.get(), path_)) ::unlink(path_.c_str());
    return;
  }
  try {
    own_.pid = 0;
    write(own_);
  } catch (const Error& error) {
    log::warn("{}", error.what());
  }
}

bool RunLock::is_held() const {
  return is_same_file(fd_.get(), path_);
}

void RunLock::set_jobs(const std::vector<std::string>& jobs) {
  own_.jobs = jobs;
  write(own_);
}

void RunLock::write(const LockHolder& holder) {
  const json document = {{"host", holder.host},
                         {"machine", holder.machine},
                         {"pid", holder.pid},
                         {"jobs", holder.jobs}};
  const std::string text = document.dump(1) + "\n";
  if (::ftruncate(fd_.get(), 0) != 0 ||
      ::pwrite(fd_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    throw_cannot_write(path_, errno);
}

}  // namespace msprof::cluster
