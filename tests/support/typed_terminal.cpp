#include "support/typed_terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "support/eventually.hpp"

namespace msprof::test {

namespace {

[[noreturn]] void fail_terminal(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment(const TerminalOptions& options) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    result.emplace_back(static_cast<const char*>(*entry));
  }
  for (const auto& [name, value] : options.variables) {
    const std::string prefix = name + "=";
    std::erase_if(result, [&](const auto& entry) { return entry.starts_with(prefix); });
    result.push_back(prefix + value);
  }
  return result;
}

void become(const TerminalOptions& options, const char* terminal, int out_fd) {
  ::setsid();
  // The first terminal opened by a session leader becomes its controlling terminal.
  const int fd = ::open(terminal, O_RDWR | (options.controlling ? 0 : O_NOCTTY));
  const int in = options.stdin_is_it ? fd : ::open("/dev/null", O_RDONLY);
  ::dup2(in, STDIN_FILENO);
  ::dup2(options.stdout_is_file ? out_fd : fd, STDOUT_FILENO);
  ::dup2(fd, STDERR_FILENO);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP}) ::signal(number, SIG_DFL);
}

}  // namespace

TypedTerminal::TypedTerminal(const std::string& program, const std::vector<std::string>& arguments,
                             const TerminalOptions& options) {
  std::string file = (std::filesystem::temp_directory_path() / "msprof-test-tty-XXXXXX").string();
  out_fd_ = ::mkostemp(file.data(), O_CLOEXEC);
  if (out_fd_ < 0) fail_terminal("file");
  ::unlink(file.c_str());
  ours_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (ours_ < 0 || ::grantpt(ours_) != 0 || ::unlockpt(ours_) != 0) fail_terminal("terminal");
  const std::string name = ::ptsname(ours_);
  // Kept open, so that its settings can be examined after the program's end.
  theirs_ = ::open(name.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (theirs_ < 0) fail_terminal("terminal");
  if (options.rows > 0) resize(options.columns, options.rows);

  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  auto variables = environment(options);
  const auto word_pointers = pointers_to(words);
  const auto variable_pointers = pointers_to(variables);
  pid_ = ::fork();
  if (pid_ < 0) fail_terminal("fork");
  if (pid_ == 0) {
    become(options, name.c_str(), out_fd_);
    ::execve(program.c_str(), word_pointers.data(), variable_pointers.data());
    ::_exit(125);
  }
}

TypedTerminal::~TypedTerminal() {
  if (!ended_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (const int fd : {ours_, theirs_, out_fd_}) {
    if (fd >= 0) ::close(fd);
  }
}

bool TypedTerminal::look() {
  // Check for the end first, so that output written before the end is still read.
  if (!ended_ && ::waitpid(pid_, &status_, WNOHANG) == pid_) ended_ = true;
  constexpr int kWaitMs = 20;  // the kernel delivers output with a short delay
  struct pollfd shown = {ours_, POLLIN, 0};
  while (::poll(&shown, 1, kWaitMs) > 0 && (shown.revents & POLLIN) != 0) {
    char buffer[4096];
    const ssize_t count = ::read(ours_, buffer, sizeof buffer);
    if (count <= 0) break;
    screen_.append(buffer, static_cast<std::size_t>(count));
    if (!ended_) break;
  }
  return !ended_;
}

bool TypedTerminal::wait_for(std::string_view text, int times) {
  const auto has_it = [&] {
    std::size_t at = 0;
    for (int i = 0; i < times; ++i, at += text.size()) {
      at = screen_.find(text, at);
      if (at == std::string::npos) return false;
    }
    return true;
  };
  const HangDeadline deadline;
  while (!has_it()) {
    if (!look() || deadline.is_over()) break;
  }
  return has_it();
}

void TypedTerminal::type(std::string_view keys) {
  while (!keys.empty()) {
    const ssize_t count = ::write(ours_, keys.data(), keys.size());
    if (count < 0 && errno != EINTR) fail_terminal("typing");
    if (count > 0) keys.remove_prefix(static_cast<std::size_t>(count));
  }
}

void TypedTerminal::send(int signal) const {
  if (!ended_) ::kill(pid_, signal);
}

RunResult TypedTerminal::hang_up() {
  for (int* fd : {&theirs_, &ours_}) {
    ::close(*fd);
    *fd = -1;
  }
  while (!ended_) ended_ = ::waitpid(pid_, &status_, 0) == pid_;
  return wait();
}

termios TypedTerminal::settings() const {
  termios settings = {};
  if (::tcgetattr(theirs_, &settings) != 0) fail_terminal("settings of the terminal");
  return settings;
}

bool TypedTerminal::echoes() const {
  return (settings().c_lflag & ECHO) != 0;
}

bool TypedTerminal::is_as_usual() const {
  const termios now = settings();
  constexpr tcflag_t kUsual = ICANON | ECHO | ISIG | IEXTEN;
  return (now.c_lflag & kUsual) == kUsual && (now.c_iflag & ICRNL) != 0 && now.c_cc[VSUSP] != 0;
}

void TypedTerminal::resize(int columns, int rows) const {
  winsize size = {};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = static_cast<unsigned short>(rows);
  if (::ioctl(theirs_, TIOCSWINSZ, &size) != 0) fail_terminal("size of the terminal");
}

RunResult TypedTerminal::wait() {
  while (look()) {
  }
  RunResult result;
  result.err = screen_;
  if (WIFEXITED(status_)) result.exit_code = WEXITSTATUS(status_);
  if (WIFSIGNALED(status_)) result.signal = WTERMSIG(status_);
  char buffer[4096];
  off_t at = 0;
  for (ssize_t count = 0; (count = ::pread(out_fd_, buffer, sizeof buffer, at)) > 0; at += count) {
    result.out.append(buffer, static_cast<std::size_t>(count));
  }
  return result;
}

}  // namespace msprof::test
