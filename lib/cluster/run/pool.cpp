#include "cluster/run/pool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <deque>
#include <thread>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace msprof::cluster {

namespace {

constexpr std::chrono::milliseconds kPoolInterval{5};
constexpr std::chrono::seconds kLineInterval{10};
constexpr std::chrono::milliseconds kTerminalInterval{500};

// Sends SIGTERM to `children`; after `patience`, kills those still running.
void end_children(std::vector<ChildProcess>& children, std::chrono::milliseconds patience) {
  for (const ChildProcess& child : children) child.signal(SIGTERM);
  const auto limit = std::chrono::steady_clock::now() + patience;
  while (!children.empty() && std::chrono::steady_clock::now() < limit) {
    std::vector<ChildProcess> left;
    for (ChildProcess& child : children) {
      if (!child.poll()) left.push_back(std::move(child));
    }
    children.swap(left);
    if (!children.empty()) std::this_thread::sleep_for(kPoolInterval);
  }
  children.clear();
}

class Pool {
 public:
  Pool(const std::vector<PoolTask>& tasks, const PoolOptions& options,
       const std::function<bool(std::size_t, const PoolEnd&)>& on_end)
      : tasks_(tasks),
        options_(options),
        on_end_(on_end),
        tries_(tasks.size(), 0),
        progress_(options.label, tasks.size()) {
    for (std::size_t task = 0; task < tasks.size(); ++task) waiting_.push_back(task);
  }

  void run() {
    const std::size_t jobs = std::max<std::size_t>(1, options_.jobs);
    while (!waiting_.empty() || !children_.empty()) {
      if (interrupt::received() != 0) {
        end_children(children_, options_.patience);
        interrupt::check();
      }
      while (!waiting_.empty() && children_.size() < jobs) start_next();
      collect_ended();
      progress_.update(done_, failed_);
      if (!children_.empty()) std::this_thread::sleep_for(kPoolInterval);
    }
  }

 private:
  void start_next() {
    const std::size_t task = waiting_.front();
    waiting_.pop_front();
    const auto& log = tasks_[task].log;
    const int how = tries_[task] == 0 ? O_TRUNC : O_APPEND;
    const FileDescriptor fd(::open(log.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666));
    if (!fd) throw_cannot_write(log, errno);
    ++tries_[task];
    children_.emplace_back(tasks_[task].arguments, fd.get(), fd.get());
    running_.push_back(task);
  }

  void collect_ended() {
    std::vector<ChildProcess> children;
    std::vector<std::size_t> running;
    for (std::size_t i = 0; i < children_.size(); ++i) {
      const auto result = children_[i].poll();
      if (!result) {
        children.push_back(std::move(children_[i]));
        running.push_back(running_[i]);
      } else if (result->signal != 0 && tries_[running_[i]] <= options_.retries) {
        waiting_.push_back(running_[i]);
      } else {
        ++done_;
        if (!on_end_(running_[i], {*result, tries_[running_[i]]})) ++failed_;
      }
    }
    children_.swap(children);
    running_.swap(running);
  }

  const std::vector<PoolTask>& tasks_;
  const PoolOptions& options_;
  const std::function<bool(std::size_t, const PoolEnd&)>& on_end_;
  std::vector<int> tries_;
  std::deque<std::size_t> waiting_;
  std::vector<ChildProcess> children_;
  std::vector<std::size_t> running_;  // index of the task of each child
  std::size_t done_ = 0;
  std::size_t failed_ = 0;
  CountedProgress progress_;
};

}  // namespace

void run_pool(const std::vector<PoolTask>& tasks, const PoolOptions& options,
              const std::function<bool(std::size_t, const PoolEnd&)>& on_end) {
  Pool(tasks, options, on_end).run();
}

std::string last_line(const std::filesystem::path& log) {
  constexpr off_t kTail = 4 << 10;
  const FileDescriptor fd(::open(log.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return "";
  const off_t size = ::lseek(fd.get(), 0, SEEK_END);
  std::string text(static_cast<std::size_t>(kTail), '\0');
  const ssize_t count =
      ::pread(fd.get(), text.data(), text.size(), size > kTail ? size - kTail : 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  const std::string_view lines = trim(text);
  const auto at = lines.rfind('\n');
  return printable(trim(at == std::string_view::npos ? lines : lines.substr(at + 1)));
}

CountedProgress::CountedProgress(std::string label, std::size_t total)
    : label_(std::move(label)),
      total_(total),
      is_terminal_(::isatty(STDERR_FILENO) == 1 && log::level() != log::Level::quiet) {}

CountedProgress::~CountedProgress() {
  if (has_line_) Progress::clear_line();
}

void CountedProgress::update(std::size_t done, std::size_t failed) {
  const auto now = Clock::now();
  if (is_terminal_ ? now - shown_ < kTerminalInterval : now - shown_ < kLineInterval) return;
  shown_ = now;
  const std::string line = text(label_, done, total_, failed,
                                std::chrono::duration_cast<std::chrono::seconds>(now - begin_));
  if (is_terminal_) {
    Progress::show_line(line);
    has_line_ = true;
  } else {
    log::info("{}", line);
  }
}

std::string CountedProgress::text(const std::string& label, std::size_t done, std::size_t total,
                                  std::size_t failed, std::chrono::seconds elapsed) {
  std::string line = fmt::format("{}: {} of {}", label, done, total);
  if (failed > 0) line += fmt::format(", {} failed", failed);
  if (done > 0 && done < total) {
    const double left = static_cast<double>(elapsed.count()) * static_cast<double>(total - done) /
                        static_cast<double>(done);
    line += left < 100 ? fmt::format(", about {:.0f} s left", left)
                       : fmt::format(", about {:.0f} min left", left / 60);
  }
  return line;
}

}  // namespace msprof::cluster
