// Sources of a password: implements the corresponding functions of config.hpp.
#include "board/session/config.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/read_write.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

// Longest line that a terminal returns.
constexpr std::size_t kMaxAnswerBytes = 4096;

// The user's terminal, usually /dev/tty, even if stdin is a file for the application.
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
  void say(std::string_view text) const { write_all(out_, text); }

 private:
  FileDescriptor opened_;
  int in_ = -1;
  int out_ = -1;
};

// Blocks the terminating signals: one that arrives between two checks of the flag, or two at once,
// could end the program with echo still disabled.
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
  // Unblocks the signals, which delivers pending ones.
  ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  // Waits until `fd` is readable; returns false if a signal arrived first.
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
    // Ctrl-Z and Ctrl-\ would return to the shell while echo is disabled.
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

// Reads a line, without its line end; returns nullopt at the end of the input or on a signal.
std::optional<Secret> read_line(int fd, const HeldSignals& signals) {
  const Undumpable guard;
  std::array<char, kMaxAnswerBytes> buffer;
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

// Shows `question` and reads a line without echo. Returns nullopt if there is no user (stderr is
// not a terminal) or at the end of file. Restores the terminal on every return path; Ctrl-C throws
// Error(interrupted).
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

constexpr std::string_view kVariable = "MSPROF_SSH_PASSWORD=";
constexpr std::size_t kMaxPasswordBytes = 64 << 10;

// Reads one byte at a time: input after the line is left for the application. Returns false at the
// end.
bool read_byte(int fd, char& byte) {
  for (;;) {
    const ssize_t count = ::read(fd, &byte, 1);
    if (count >= 0) return count == 1;
    if (errno == EAGAIN) {
      struct pollfd wanted = {fd, POLLIN, 0};
      ::poll(&wanted, 1, -1);
    } else if (errno != EINTR) {
      throw Error(Exit::usage, fmt::format("--password-stdin: cannot read standard input: {}",
                                           errno_text(errno)));
    }
    interrupt::check();
  }
}

// Returns a source that prompts only once: copies of a login, and reconnects, reuse the answer.
SecretSource asked_once(std::optional<Secret> known, const std::string& question,
                        const std::string& complaint) {
  const bool is_typed = !known;
  auto answer = std::make_shared<std::optional<Secret>>(std::move(known));
  SecretSource source;
  source.first = [answer, question] {
    if (!*answer) *answer = ask_password(question);
    return *answer;
  };
  if (!is_typed) return source;
  source.again = [answer, text = complaint + question] {
    auto next = ask_password(text);
    if (next) *answer = next;
    return next;
  };
  return source;
}

}  // namespace

std::optional<Secret> take_password_variable() {
  const Undumpable guard;
  std::optional<Secret> taken;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!text.starts_with(kVariable)) continue;
    const std::string_view value = text.substr(kVariable.size());
    if (!taken && !value.empty()) taken = Secret(std::string(value));
    // Overwrites the bytes: /proc/PID/environ would still show them after unsetenv().
    ::explicit_bzero(*entry + kVariable.size(), value.size());
  }
  ::unsetenv("MSPROF_SSH_PASSWORD");
  return taken;
}

SecretSource password_source(std::optional<Secret> given, const BoardConfig& config) {
  std::optional<Secret> variable = take_password_variable();
  std::optional<Secret> known = given ? std::move(given) : std::move(variable);
  if (!known && !config.password.empty()) known = config.password;
  return asked_once(std::move(known),
                    fmt::format("password for {}: ", printable(config.login.name())),
                    "refused by the board; ");
}

SecretSource typed_password_source(const SshLogin& login) {
  return asked_once(std::nullopt,
                    fmt::format("password for {} {}: ", login.role, printable(login.name())),
                    fmt::format("refused by the {}; ", login.role));
}

SecretSource passphrase_source(const std::filesystem::path& key) {
  return asked_once(std::nullopt,
                    fmt::format("passphrase of the key {}: ", printable(key.string())),
                    "wrong passphrase; ");
}

Secret read_password_line(int fd) {
  if (::isatty(fd) != 0) {
    throw Error(Exit::usage,
                "--password-stdin: standard input is a terminal, which would show the password; "
                "without this option msprof prompts for it");
  }
  const Undumpable guard;
  std::string line;
  line.reserve(kMaxPasswordBytes + 1);  // a growing string would leave copies in freed memory
  char byte = 0;
  while (read_byte(fd, byte) && byte != '\n' && line.size() <= kMaxPasswordBytes) line += byte;
  if (line.ends_with('\r')) line.pop_back();
  const bool has_nul = line.find('\0') != std::string::npos;
  const std::size_t size = line.size();
  Secret password(std::move(line));
  if (size == 0) {
    throw Error(
        Exit::usage,
        "--password-stdin: the first line of standard input is empty; it must be the password");
  }
  if (has_nul || size > kMaxPasswordBytes) {
    throw Error(
        Exit::usage,
        fmt::format("--password-stdin: the first line of standard input is not a password: it {}",
                    has_nul ? "contains NUL bytes" : "is longer than 64 KB"));
  }
  return password;
}

}  // namespace msprof
