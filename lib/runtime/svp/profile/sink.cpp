#include "runtime/svp/profile/sink.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "runtime/engine/clock.hpp"
#include "runtime/engine/files.hpp"
#include "runtime/engine/held_descriptor.hpp"
#include "runtime/engine/message.hpp"

namespace msprof::runtime {

namespace {

constexpr uint64_t kPatienceNs = 2'000'000'000;
constexpr int kSinkPollMilliseconds = 50;
constexpr int kSinkPipeBytes = 1 << 20;

// Writing to a FIFO without a reader raises SIGPIPE, which the application must not receive.
class PipeSignalBlocked {
 public:
  PipeSignalBlocked() {
    sigset_t pending;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~PipeSignalBlocked() {
    const int error = errno;
    const timespec no_wait = {};
    if (is_raised_ && !was_pending_) sigtimedwait(&pipe_, nullptr, &no_wait);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  PipeSignalBlocked(const PipeSignalBlocked&) = delete;
  PipeSignalBlocked& operator=(const PipeSignalBlocked&) = delete;
  void raised() { is_raised_ = true; }

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false, is_raised_ = false;
};

// Opens a FIFO for writing. Returns -1 with errno on error: ENXIO if it has no reader.
int open_fifo(const char* path) {
  const int fd = open_above_stdio(path, O_WRONLY | O_NONBLOCK);
  struct stat state = {};
  if (fd < 0) return -1;
  if (fstat(fd, &state) == 0 && S_ISFIFO(state.st_mode)) {
    // A larger pipe bridges a stalled connection. If the size is not permitted, the pipe keeps its
    // default of 64 KB.
    fcntl(fd, F_SETPIPE_SZ, kSinkPipeBytes);
    return fd;
  }
  close(fd);
  errno = EINVAL;
  return -1;
}

}  // namespace

struct Sink::State {
  HeldDescriptor file;
  std::size_t prefix_bytes = 0;
  std::atomic<bool> is_gone{false};

  bool write_frame(const char* bytes, std::size_t size);
};

Sink::Sink(int fd, std::size_t prefix_bytes) : state_(std::make_unique<State>()) {
  state_->file = HeldDescriptor(fd);
  state_->prefix_bytes = prefix_bytes;
}

Sink::~Sink() = default;

std::shared_ptr<Sink> Sink::open(const std::string& output) {
  const char* const path = secure_getenv("MSPROF_SINK");
  if (path == nullptr || *path == '\0') return nullptr;
  const int fd = open_fifo(path);
  if (fd >= 0) return std::shared_ptr<Sink>(new Sink(fd, output.size() + 1));
  const std::string why = errno == ENXIO    ? "it has no reader"
                          : errno == EINVAL ? "it is not a FIFO"
                                            : strerror(errno);
  say("MSPROF_SINK " + std::string(path) + ": " + why + "; records are written to files");
  return nullptr;
}

bool Sink::State::write_frame(const char* bytes, std::size_t size) {
  const uint64_t limit = monotonic_ns() + kPatienceNs;
  PipeSignalBlocked blocked;
  for (;;) {
    const int fd = file.get();
    if (fd < 0) return false;
    if (write_retrying(fd, bytes, size) == static_cast<ssize_t>(size)) return true;
    if (errno == EPIPE) blocked.raised();
    if (errno != EAGAIN || monotonic_ns() > limit) return false;
    pollfd ready = {fd, POLLOUT, 0};
    poll(&ready, 1, kSinkPollMilliseconds);
  }
}

bool Sink::write(const std::string& path, uint64_t offset, const void* bytes, std::size_t size) {
  if (state_->is_gone.load(std::memory_order_relaxed)) return false;
  const std::size_t name_bytes = path.size() - state_->prefix_bytes;
  std::array<char, PIPE_BUF> whole;
  if (sizeof(SinkFrame) + name_bytes + size > whole.size()) return false;
  SinkFrame frame;
  frame.name_bytes = static_cast<uint16_t>(name_bytes);
  frame.data_bytes = static_cast<uint16_t>(size);
  frame.offset = offset;
  memcpy(whole.data(), &frame, sizeof frame);
  memcpy(whole.data() + sizeof frame, path.data() + state_->prefix_bytes, name_bytes);
  memcpy(whole.data() + sizeof frame + name_bytes, bytes, size);
  if (state_->write_frame(whole.data(), sizeof frame + name_bytes + size)) return true;
  const int error = errno;
  if (!state_->is_gone.exchange(true)) {
    say(std::string("the reader of MSPROF_SINK ") +
        (error == EPIPE   ? "is gone"
         : error == EBADF ? "was closed by the application"
                          : "no longer accepts data") +
        "; records are written to files");
  }
  return false;
}

}  // namespace msprof::runtime
