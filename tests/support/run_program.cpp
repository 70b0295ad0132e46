#include "support/run_program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>

extern char** environ;

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

int unlinked_file() {
  std::string pattern = (fs::temp_directory_path() / "msprof-test-out-XXXXXX").string();
  const int fd = ::mkostemp(pattern.data(), O_CLOEXEC);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), pattern);
  ::unlink(pattern.c_str());
  return fd;
}

std::string read_output(int fd) {
  std::string text;
  char buffer[65536];
  off_t at = 0;
  for (ssize_t count = 0; (count = ::pread(fd, buffer, sizeof buffer, at)) > 0; at += count) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  return text;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The test program's environment without variables that change the output, plus
// `options.variables`.
std::vector<std::string> environment(const RunOptions& options) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    const bool is_ours = std::any_of(options.variables.begin(), options.variables.end(),
                                     [&](const auto& variable) { return variable.first == name; });
    if (!is_ours && name != "COLUMNS" && name != "NO_COLOR") result.emplace_back(text);
  }
  for (const auto& [name, value] : options.variables) result.push_back(name + "=" + value);
  return result;
}

}  // namespace

RunningProgram::RunningProgram(const std::string& program,
                               const std::vector<std::string>& arguments, const RunOptions& options)
    : out_fd_(unlinked_file()), err_fd_(unlinked_file()) {
  if (options.terminal_columns > 0) open_terminal(options.terminal_columns);
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  auto variables = environment(options);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!options.folder.empty()) {
    posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str());
  }
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out_fd_, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err_fd_, STDERR_FILENO);
  const int code = ::posix_spawn(&pid_, program.c_str(), &actions, nullptr,
                                 pointers_to(words).data(), pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) throw std::system_error(code, std::generic_category(), program);
}

void RunningProgram::open_terminal(int columns) {
  terminal_fd_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  winsize size = {};
  size.ws_row = 24;
  size.ws_col = static_cast<unsigned short>(columns);
  if (terminal_fd_ < 0 || ::grantpt(terminal_fd_) != 0 || ::unlockpt(terminal_fd_) != 0 ||
      ::ioctl(terminal_fd_, TIOCSWINSZ, &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "terminal");
  }
  for (int* fd : {&out_fd_, &err_fd_}) {
    ::close(*fd);
    *fd = ::open(::ptsname(terminal_fd_), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  }
}

RunningProgram::~RunningProgram() {
  if (!ended_) {
    send(SIGKILL);
    wait();
  }
  for (const int fd : {out_fd_, err_fd_, terminal_fd_}) {
    if (fd >= 0) ::close(fd);
  }
}

void RunningProgram::send(int signal) const {
  if (!ended_) ::kill(pid_, signal);
}

bool RunningProgram::has_ended() {
  int status = 0;
  if (!ended_ && ::waitpid(pid_, &status, WNOHANG) == pid_) take_status(status);
  return ended_;
}

// Reads until the last writer has closed the terminal.
void RunningProgram::read_terminal() {
  for (int* fd : {&out_fd_, &err_fd_}) {
    ::close(*fd);
    *fd = -1;
  }
  char buffer[4096];
  for (ssize_t count = 0; (count = ::read(terminal_fd_, buffer, sizeof buffer)) > 0;) {
    result_.out.append(buffer, static_cast<std::size_t>(count));
  }
}

RunResult RunningProgram::wait() {
  if (terminal_fd_ >= 0 && !ended_) read_terminal();
  int status = 0;
  while (!ended_) {
    const pid_t pid = ::waitpid(pid_, &status, 0);
    if (pid == pid_) take_status(status);
    if (pid < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "wait");
  }
  return result_;
}

void RunningProgram::take_status(int status) {
  ended_ = true;
  result_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (terminal_fd_ >= 0) return;
  result_.out = read_output(out_fd_);
  result_.err = read_output(err_fd_);
}

RunResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                      const RunOptions& options) {
  return RunningProgram(program, arguments, options).wait();
}

std::string msprof_path() {
  return MSPROF_BINARY;
}

RunResult run_msprof(const std::vector<std::string>& arguments, const RunOptions& options) {
  return run_program(msprof_path(), arguments, options);
}

}  // namespace msprof::test
