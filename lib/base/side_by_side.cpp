#include "base/side_by_side.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <thread>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/foreign_error.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/read_write.hpp"

namespace msprof {

namespace {

constexpr int kSideLookMs = 50;  // poll interval for signals and exits
constexpr std::chrono::milliseconds kSlotInterval{50};

int run_to_exit_code(const SideWork& work, std::string& result) {
  try {
    return work(result);
  } catch (const std::exception& exception) {
    const Error error = to_error(exception);
    log::failure(error);
    return static_cast<int>(error.code());
  }
}

// One child process and its output. A result ends with a marker byte, so that a truncated one is
// detected.
class SideChild {
 public:
  SideChild(std::size_t number, const SideWork& work,
            const std::vector<std::unique_ptr<SideChild>>& others,
            const std::function<void(std::size_t, SideStream, std::string_view)>& on_line)
      : out_([this, &on_line](std::string_view line) { on_line(number_, SideStream::out, line); }),
        err_([this, &on_line](std::string_view line) { on_line(number_, SideStream::err, line); }),
        number_(number) {
    Pipe out = make_pipe();
    Pipe err = make_pipe();
    Pipe result = make_pipe();
    std::fflush(stdout);
    std::fflush(stderr);
    const auto run = [&] {
      // Closes the siblings' pipes: if kept open here, a sibling would not notice that its reader
      // is gone.
      for (const auto& other : others) other->close_pipes();
      for (Pipe* pipe : {&out, &err}) *pipe = {};
      result.read_end.reset();
      return run_child(work, result.write_end.get());
    };
    child_.emplace(run, out.write_end.get(), err.write_end.get());
    fds_ = {std::move(out.read_end), std::move(err.read_end), std::move(result.read_end)};
    for (const FileDescriptor& fd : fds_) ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
  }

  void add_fds(std::vector<pollfd>& wanted) const {
    for (const FileDescriptor& fd : fds_) {
      if (fd) wanted.push_back({fd.get(), POLLIN, 0});
    }
  }
  // Returns true once the child has exited and all its output was delivered.
  bool advance() {
    // A child that prints continuously must not starve the others.
    drain_all(4);
    if (!reap()) return false;
    // 32 reads exceed the capacity of a pipe: this empties the pipes of a child that has exited.
    drain_all(32);
    out_.finish();
    err_.finish();
    end_.is_whole = !end_.result.empty() && end_.result.back() == kResultEnd;
    if (end_.is_whole) end_.result.pop_back();
    return true;
  }
  void signal(int number) const { child_->signal(number); }
  SideEnd take_end() { return std::move(end_); }
  std::size_t number() const { return number_; }

 private:
  static constexpr char kResultEnd = '\n';

  static int run_child(const SideWork& work, int result_fd) {
    { const interrupt::DeferSecondSignal over; }  // destructor ends the inherited deferral
    ::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    std::string text;
    const int code = run_to_exit_code(work, text);
    std::fflush(stdout);
    std::fflush(stderr);
    text += kResultEnd;
    write_all(result_fd, text);
    return code;
  }

  void close_pipes() {
    for (FileDescriptor& fd : fds_) fd.reset();
  }

  bool reap() {
    // Only process exit closes the result pipe; once closed, a wait is short.
    const auto end = fds_[2] ? child_->poll() : std::optional(child_->wait());
    if (!end) return false;
    static_cast<ProcessEnd&>(end_) = *end;
    return true;
  }

  void drain_all(int reads) {
    for (std::size_t stream = 0; stream < fds_.size(); ++stream) drain(stream, reads);
  }

  void drain(std::size_t stream, int reads) {
    std::array<char, 64 << 10> buffer;
    for (; reads > 0 && fds_[stream]; --reads) {
      const ssize_t count = ::read(fds_[stream].get(), buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return;
      if (count <= 0) {
        fds_[stream].reset();
        return;
      }
      const std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
      if (stream == 0) out_.add(bytes);
      if (stream == 1) err_.add(bytes);
      if (stream == 2 && end_.result.size() + bytes.size() <= kMaxSideResult) end_.result += bytes;
    }
  }

  std::optional<ChildProcess> child_;
  std::array<FileDescriptor, 3> fds_;
  LineSplitter out_;
  LineSplitter err_;
  std::size_t number_;
  SideEnd end_;
};

}  // namespace

void LineSplitter::add(std::string_view bytes) {
  for (const char c : bytes) {
    // "\r\n" is one line end.
    if (is_after_return_ && c != '\n') end_line();
    is_after_return_ = c == '\r';
    if (c == '\n') {
      end_line();
    } else if (c != '\r') {
      line_ += c;
      if (line_.size() == kMaxBytes) end_line();
    }
  }
}

void LineSplitter::finish() {
  if (is_after_return_ || !line_.empty()) end_line();
  is_after_return_ = false;
}

void LineSplitter::end_line() {
  sink_(line_);
  line_.clear();
}

std::vector<SideEnd> run_side_by_side(
    const std::vector<SideWork>& works,
    const std::function<void(std::size_t, SideStream, std::string_view)>& on_line,
    const std::function<void(std::size_t, const SideEnd&)>& on_end) {
  std::vector<SideEnd> ends(works.size());
  std::vector<std::unique_ptr<SideChild>> children;
  const interrupt::DeferSecondSignal deferred;
  int handed_on = 0;
  std::exception_ptr failure;
  for (std::size_t i = 0; i < works.size() && !failure; ++i) {
    try {
      children.push_back(std::make_unique<SideChild>(i, works[i], children, on_line));
    } catch (const Error&) {
      failure = std::current_exception();
      for (const auto& child : children) child->signal(SIGTERM);
    }
  }
  while (!children.empty()) {
    std::vector<pollfd> wanted;
    for (const auto& child : children) child->add_fds(wanted);
    ::poll(wanted.data(), wanted.size(), kSideLookMs);
    for (; handed_on < interrupt::count(); ++handed_on) {
      for (const auto& child : children) child->signal(interrupt::received());
    }
    for (auto& child : children) {
      if (!child->advance()) continue;
      SideEnd& end = ends[child->number()];
      end = child->take_end();
      if (on_end) on_end(child->number(), end);
      child.reset();
    }
    std::erase(children, nullptr);
  }
  if (failure) std::rethrow_exception(failure);
  return ends;
}

ProcessSlots::ProcessSlots(std::size_t count)
    : fd_(::memfd_create("msprof-slots", MFD_CLOEXEC)), count_(count) {
  if (fd_ < 0)
    throw Error(Exit::cannot_write,
                fmt::format("cannot create a memory file: {}", errno_text(errno)));
}

ProcessSlots::~ProcessSlots() {
  ::close(fd_);
}

// Record locks belong to a process and are released with it; fork(2) does not inherit them.
ProcessSlots::Slot ProcessSlots::take() const {
  for (;;) {
    for (std::size_t place = 0; place < count_; ++place) {
      struct flock lock = {};
      lock.l_type = F_WRLCK;
      lock.l_whence = SEEK_SET;
      lock.l_start = static_cast<off_t>(place);
      lock.l_len = 1;
      if (::fcntl(fd_, F_SETLK, &lock) == 0) return {fd_, static_cast<long>(place)};
    }
    interrupt::check();
    std::this_thread::sleep_for(kSlotInterval);
  }
}

ProcessSlots::Slot::~Slot() {
  if (place_ < 0) return;
  struct flock lock = {};
  lock.l_type = F_UNLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = place_;
  lock.l_len = 1;
  ::fcntl(fd_, F_SETLK, &lock);
}

}  // namespace msprof
