#include "board/password_prompt.hpp"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "base/file_reader.hpp"
#include "base/interrupt.hpp"
#include "base/progress.hpp"

namespace msprof {

namespace {

// What a terminal gives for a line at most.
constexpr std::size_t kMostAnswerBytes = 4096;

// The terminal that the user types at, also where stdin is a file for the application.
class Terminal {
 public:
  Terminal() {
    if (::isatty(STDERR_FILENO) == 0) return;
    opened_.reset(::open("/dev/tty", O_RDWR | O_CLOEXEC));
    if (opened_) {
      in_ = out_ = opened_.get();
    } else if (::isatty(STDIN_FILENO) != 0) {
      in_ = STDIN_FILENO;
      out_ = STDERR_FILENO;
    }
  }
  bool is_there() const { return in_ >= 0; }
  int in() const { return in_; }
  void say(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t count = ::write(out_, text.data(), text.size());
      if (count < 0 && errno != EINTR) return;
      if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
    }
  }

 private:
  FileDescriptor opened_;
  int in_ = -1;
  int out_ = -1;
};

// Holds the ending signals back: one that came between two looks at the flag, or two at once, could
// end the program with the terminal still silent.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t held;
    sigemptyset(&held);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction action = {};
      ::sigaction(number, nullptr, &action);
      if (action.sa_handler != SIG_IGN) sigaddset(&held, number);
    }
    ::pthread_sigmask(SIG_BLOCK, &held, &before_);
    pending_.reset(::signalfd(-1, &held, SFD_CLOEXEC));
  }
  // They are delivered now.
  ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  // Waits until `fd` can be read; false when one of the signals came first.
  bool wait_readable(int fd) const {
    struct pollfd wanted[] = {{fd, POLLIN, 0}, {pending_.get(), POLLIN, 0}};
    while (::poll(wanted, 2, -1) < 0 && errno == EINTR) {
    }
    return wanted[1].revents == 0;
  }

 private:
  sigset_t before_ = {};
  FileDescriptor pending_;
};

class SilentTerminal {
 public:
  explicit SilentTerminal(int fd) : fd_(fd) {
    if (::tcgetattr(fd_, &before_) != 0) return;
    struct termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHONL);
    // Ctrl-Z and Ctrl-\ would leave a silent terminal to the shell.
    silent.c_cc[VSUSP] = _POSIX_VDISABLE;
    silent.c_cc[VQUIT] = _POSIX_VDISABLE;
    is_silent_ = ::tcsetattr(fd_, TCSAFLUSH, &silent) == 0;
  }
  ~SilentTerminal() {
    if (is_silent_) ::tcsetattr(fd_, TCSANOW, &before_);
  }
  SilentTerminal(const SilentTerminal&) = delete;
  SilentTerminal& operator=(const SilentTerminal&) = delete;
  bool is_silent() const { return is_silent_; }

 private:
  int fd_;
  bool is_silent_ = false;
  struct termios before_ = {};
};

// A line without its end; empty at the end of the input or when a signal came.
std::optional<Secret> read_line(int fd, const HeldSignals& signals) {
  std::array<char, kMostAnswerBytes> buffer;
  std::size_t size = 0;
  std::optional<Secret> answer;
  while (size < buffer.size() && signals.wait_readable(fd)) {
    const ssize_t count = ::read(fd, buffer.data() + size, buffer.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    size += static_cast<std::size_t>(count);
    const std::string_view line(buffer.data(), size);
    const auto end = line.find('\n');
    if (end == std::string_view::npos) continue;
    answer = Secret(std::string(line.substr(0, end)));
    break;
  }
  ::explicit_bzero(buffer.data(), buffer.size());
  return answer;
}

}  // namespace

std::optional<Secret> ask_password(const std::string& question) {
  const Terminal terminal;
  if (!terminal.is_there()) return std::nullopt;
  Progress::clear_line();
  std::optional<Secret> answer;
  {
    const HeldSignals signals;
    const SilentTerminal silent(terminal.in());
    if (!silent.is_silent()) return std::nullopt;
    terminal.say(question);
    answer = read_line(terminal.in(), signals);
    terminal.say("\n");
  }
  interrupt::check();
  return answer;
}

}  // namespace msprof
