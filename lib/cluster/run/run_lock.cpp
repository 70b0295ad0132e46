#include "cluster/run/run_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/host_name.hpp"
#include "base/text.hpp"
#include "base/words.hpp"

namespace msprof::cluster {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::size_t kMaxLockBytes = 1 << 20;

// Field 22 of /proc/PID/stat; empty where there is no such process.
std::string start_of(long pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text, '\0');
  const auto name_end = text.rfind(") ");
  if (name_end == std::string::npos) return "";
  const auto fields = split(std::string_view(text).substr(name_end + 2), ' ');
  return fields.size() > 19 ? std::string(fields[19]) : "";
}

// While one lives, no other process decides about the file. Where the file system has no such locks
// the decision is a race of moments only.
class Decision {
 public:
  explicit Decision(int fd) : fd_(fd) {
    struct flock whole = {};
    whole.l_type = F_WRLCK;
    while (::fcntl(fd_, F_OFD_SETLKW, &whole) != 0 && errno == EINTR) {
    }
  }
  ~Decision() {
    struct flock whole = {};
    whole.l_type = F_UNLCK;
    ::fcntl(fd_, F_OFD_SETLK, &whole);
  }
  Decision(const Decision&) = delete;
  Decision& operator=(const Decision&) = delete;

 private:
  int fd_;
};

std::optional<LockHolder> read_holder(int fd) {
  std::string text(kMaxLockBytes, '\0');
  const ssize_t count = ::pread(fd, text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  try {
    const json document = json::parse(text);
    return LockHolder{document.at("host").get<std::string>(), document.at("pid").get<long>(),
                      document.at("start").get<std::string>(),
                      document.at("jobs").get<std::vector<std::string>>()};
  } catch (const json::exception&) {
    return std::nullopt;  // empty, or cut by a full disk: nobody's
  }
}

bool is_same_file(int fd, const fs::path& path) {
  struct stat open = {};
  struct stat named = {};
  return ::fstat(fd, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

}  // namespace

RunLock::RunLock(const fs::path& output, const JobsAlive& jobs_alive, bool take_jobs)
    : path_(output / "run.lock") {
  own_.host = valid_utf8(own_host_name());
  own_.pid = ::getpid();
  own_.start = start_of(own_.pid);
  for (;;) {
    fd_.reset(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!fd_) throw_cannot_write(path_, errno);
    const Decision decision(fd_.get());
    if (!is_same_file(fd_.get(), path_)) continue;  // given back meanwhile
    const auto holder = read_holder(fd_.get());
    if (holder) {
      const bool is_here = holder->host == own_.host;
      const std::string start = is_here ? start_of(holder->pid) : "";
      const bool is_gone = is_here && (start.empty() || start != holder->start);
      const bool has_jobs = !holder->jobs.empty() && !take_jobs && jobs_alive(holder->jobs);
      if (is_gone && has_jobs) {
        throw Error(
            Exit::cannot_write,
            fmt::format("{} is in use: its jobs {} are still there. `msprof cluster --attach "
                        "--output {}` waits for them; scancel ends them",
                        output.string(), listed(holder->jobs), shell_word(output.string())));
      }
      if (!is_gone) {
        throw Error(
            Exit::cannot_write,
            fmt::format("{} is in use: process {} on {} works in it. Wait for it, or use another "
                        "--output{}",
                        output.string(), holder->pid, printable(holder->host),
                        is_here ? ""
                                : fmt::format("; if it is certain that it is gone, remove {}",
                                              path_.string())));
      }
      own_.jobs = take_jobs ? holder->jobs : std::vector<std::string>{};
    }
    write(own_);
    return;
  }
}

RunLock::~RunLock() {
  if (is_left_ || !fd_) return;
  const Decision decision(fd_.get());
  const auto holder = read_holder(fd_.get());
  const bool is_own = holder && holder->pid == own_.pid && holder->host == own_.host;
  if (is_own && is_same_file(fd_.get(), path_)) ::unlink(path_.c_str());
}

void RunLock::set_jobs(const std::vector<std::string>& jobs) {
  const Decision decision(fd_.get());
  own_.jobs = jobs;
  write(own_);
}

void RunLock::write(const LockHolder& holder) {
  const json document = {
      {"host", holder.host}, {"pid", holder.pid}, {"start", holder.start}, {"jobs", holder.jobs}};
  const std::string text = document.dump(1) + "\n";
  if (::ftruncate(fd_.get(), 0) != 0 ||
      ::pwrite(fd_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    throw_cannot_write(path_, errno);
}

}  // namespace msprof::cluster
