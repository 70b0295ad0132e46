#include "collect/local_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "base/error.hpp"
#include "base/process.hpp"

namespace msprof {

namespace {

// The supervisor is a small process between msprof and the application: it starts and watches the
// application, and ends it and all its child processes on request or when msprof is gone. It is a
// fork of msprof that executes no other program, so all its code, up to supervise(), is
// async-signal-safe.
//
// This struct is prepared before the fork; its pointers stay valid in the child.
struct SupervisedProgram {
  const char* path = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const char* working_folder = nullptr;
  int stdout_fd = STDOUT_FILENO;
  bool without_input = false;
  sigset_t signal_mask = {};  // signal mask of the application
};

// Reports of the supervisor; the messages are small enough for atomic pipe writes.
enum class Report : std::int32_t {
  cannot_start,  // value: errno
  left_over,     // value: number of processes still running when the application ended
  ended,         // value: wait status of the application
  finished,      // no process of the application remains
};
struct ReportMessage {
  Report kind;
  std::int32_t value;
};

// How long remaining processes have to end after SIGTERM.
constexpr std::int64_t kFarewellMs = 1000;
constexpr std::int64_t kKillAgainMs = 50;

std::int64_t now_ms() {
  struct timespec time = {};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1000 + time.tv_nsec / 1'000'000;
}

// Parses digits; returns -1 for any other name. Does not use strtol, which may use the locale.
pid_t parse_pid(const char* text) {
  pid_t value = 0;
  if (*text == '\0') return -1;
  for (; *text != '\0'; ++text) {
    if (*text < '0' || *text > '9' || value > 100'000'000) return -1;
    value = value * 10 + (*text - '0');
  }
  return value;
}

struct ProcessState {
  char state = 0;
  pid_t parent = -1;
};

// "1234 (name) S 1 …": the name may contain anything, so parsing starts after the last ')'.
ProcessState read_state(int proc_fd, const char* pid_name) {
  char path[32] = {};
  std::size_t length = 0;
  for (; pid_name[length] != '\0' && length < 16; ++length) path[length] = pid_name[length];
  std::memcpy(path + length, "/stat", 6);
  const int fd = ::openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  char text[512] = {};
  const ssize_t count = ::read(fd, text, sizeof(text) - 1);
  ::close(fd);
  ssize_t at = count - 1;
  while (at >= 0 && text[at] != ')') --at;
  if (at < 0 || at + 4 >= count) return {};
  ProcessState result;
  result.state = text[at + 2];
  char* end = text + at + 4;
  char* const parent = end;
  while (*end >= '0' && *end <= '9') ++end;
  *end = '\0';
  result.parent = parse_pid(parent);
  return result;
}

struct DirectoryEntry {  // linux_dirent64
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[1];
};

// Sends `signal_number` (0: none) to every living child of this process except `except`; returns
// their number. Pids of children are not reused until they are waited for, so no other process can
// be hit.
int signal_children(int signal_number, pid_t except) {
  const int proc_fd = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (proc_fd < 0) return 0;
  const pid_t self = ::getpid();
  int living = 0;
  alignas(8) char buffer[8192];
  for (;;) {
    const long count = ::syscall(SYS_getdents64, proc_fd, buffer, sizeof(buffer));
    if (count <= 0) break;
    for (long at = 0; at < count;) {
      unsigned short length = 0;
      std::memcpy(&length, buffer + at + offsetof(DirectoryEntry, length), sizeof(length));
      const char* name = buffer + at + offsetof(DirectoryEntry, name);
      at += length;
      const pid_t pid = parse_pid(name);
      if (pid <= 0 || pid == except) continue;
      const ProcessState process = read_state(proc_fd, name);
      if (process.parent != self || process.state == 'Z' || process.state == 'X') continue;
      ++living;
      if (signal_number != 0) ::kill(pid, signal_number);
    }
  }
  ::close(proc_fd);
  return living;
}

// Resets the signals that msprof handles. Those that were ignored when msprof started (nohup) stay
// ignored; SIGPIPE and SIGXFSZ, which msprof ignores only for itself, do not.
void restore_signals(const sigset_t& mask) {
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction current = {};
    ::sigaction(number, nullptr, &current);
    if (current.sa_handler != SIG_IGN) ::sigaction(number, &standard, nullptr);
  }
  for (const int number : {SIGPIPE, SIGXFSZ}) ::sigaction(number, &standard, nullptr);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
}

[[noreturn]] void become_application(const SupervisedProgram& program, pid_t supervisor,
                                     int report_fd) {
  ::setpgid(0, 0);
  // If the supervisor is killed, the kernel kills the application.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  int error = 0;
  if (::getppid() != supervisor) _exit(127);
  if (program.stdout_fd != STDOUT_FILENO && ::dup2(program.stdout_fd, STDOUT_FILENO) < 0)
    error = errno;
  if (error == 0 && program.without_input) {
    const int empty = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (empty < 0 || ::dup2(empty, STDIN_FILENO) < 0) error = errno;
    // If stdin was closed, the new descriptor is already 0.
    if (empty == STDIN_FILENO) ::fcntl(empty, F_SETFD, 0);
  }
  if (error == 0 && ::chdir(program.working_folder) != 0) error = errno;
  if (error == 0) {
    restore_signals(program.signal_mask);
    ::execve(program.path, program.arguments, program.environment);
    error = errno;
  }
  const ReportMessage message = {Report::cannot_start, error};
  if (::write(report_fd, &message, sizeof(message)) < 0) _exit(126);
  _exit(127);
}

class Supervisor {
 public:
  Supervisor(int control_fd, int report_fd) : control_fd_(control_fd), report_fd_(report_fd) {}

  [[noreturn]] void run(const SupervisedProgram& program) {
    ::setsid();
    ::prctl(PR_SET_NAME, "msprof-watch");
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    // If inherited as ignored, SIGCHLD would hide how the application ended.
    ::signal(SIGCHLD, SIG_DFL);
    sigset_t child_set;
    sigemptyset(&child_set);
    sigaddset(&child_set, SIGCHLD);
    signal_fd_ = ::signalfd(-1, &child_set, SFD_CLOEXEC | SFD_NONBLOCK);
    const pid_t self = ::getpid();
    application_ = ::fork();
    if (application_ == 0) become_application(program, self, report_fd_);
    if (application_ < 0) {
      report(Report::cannot_start, errno);
      report(Report::finished, 0);
      _exit(1);
    }
    ::setpgid(application_, application_);
    while (!are_all_gone()) step();
    report(Report::finished, 0);
    _exit(0);
  }

 private:
  void step() {
    struct pollfd fds[2] = {{signal_fd_, POLLIN, 0}, {control_fd_, POLLIN, 0}};
    int timeout_ms = -1;
    if (kill_at_ms_ >= 0) {
      const std::int64_t rest = kill_at_ms_ - now_ms();
      timeout_ms = rest > 0 ? static_cast<int>(rest) : 0;
    }
    if (::poll(fds, 2, timeout_ms) < 0 && errno != EINTR) kill_at_ms_ = now_ms();
    if (fds[0].revents != 0) {
      struct signalfd_siginfo ignored;
      while (::read(signal_fd_, &ignored, sizeof(ignored)) > 0) {
      }
    }
    if (fds[1].revents != 0) read_control();
    if (kill_at_ms_ >= 0 && now_ms() >= kill_at_ms_) {
      signal_all(SIGKILL);
      kill_at_ms_ = now_ms() + kKillAgainMs;
    }
  }

  void read_control() {
    unsigned char number = 0;
    const ssize_t count = ::read(control_fd_, &number, 1);
    if (count < 0 && errno == EINTR) return;
    if (count == 1) {
      was_asked_to_end_ = true;
      signal_all(number);
      if (number == SIGKILL) kill_at_ms_ = now_ms() + kKillAgainMs;
      return;
    }
    control_fd_ = -1;  // msprof is gone
    if (!was_asked_to_end_) signal_all(SIGTERM);
    end_within(was_asked_to_end_ ? 0 : kFarewellMs);
  }

  void end_within(std::int64_t limit_ms) {
    const std::int64_t at = now_ms() + limit_ms;
    if (kill_at_ms_ < 0 || at < kill_at_ms_) kill_at_ms_ = at;
  }

  // Signals the process group, as long as its leader has not been waited for, and all processes
  // that have become children of the supervisor.
  void signal_all(int number) {
    if (application_ > 0) ::kill(-application_, number);
    signal_children(number, application_);
  }

  bool are_all_gone() {
    if (application_ > 0) {
      siginfo_t info = {};
      const auto id = static_cast<id_t>(application_);
      if (::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
        application_ended();
      }
    }
    for (;;) {
      int status = 0;
      // While the application runs, reaps only orphans; the application is waited for above.
      const pid_t pid = ::waitpid(-1, &status, WNOHANG);
      if (pid < 0 && errno == ECHILD) return true;
      if (pid <= 0) return false;
      if (pid == application_) {  // the application ended since the check above
        report(Report::ended, status);
        application_ = 0;
        signal_children(SIGTERM, 0);
        end_within(kFarewellMs);
      }
    }
  }

  void application_ended() {
    const int left = signal_children(0, application_);
    if (left > 0) report(Report::left_over, left);
    signal_all(SIGTERM);
    int status = 0;
    ::waitpid(application_, &status, 0);
    report(Report::ended, status);
    application_ = 0;
    end_within(kFarewellMs);
  }

  void report(Report kind, std::int32_t value) const {
    const ReportMessage message = {kind, value};
    // Fails only if msprof is gone.
    [[maybe_unused]] const ssize_t ignored = ::write(report_fd_, &message, sizeof(message));
  }

  int control_fd_;
  int report_fd_;
  int signal_fd_ = -1;
  pid_t application_ = 0;
  std::int64_t kill_at_ms_ = -1;
  bool was_asked_to_end_ = false;
};

// Main function of the supervisor. msprof writes signal numbers as single bytes to `control_fd`;
// its end means that msprof is gone. Reports are written to `report_fd`. Call with all signals
// blocked.
[[noreturn]] void supervise(const SupervisedProgram& program, int control_fd, int report_fd) {
  Supervisor(control_fd, report_fd).run(program);
}

std::string start_error_text(int error_number) {
  if (error_number == ENOEXEC) return "it is not built for this machine";
  if (error_number == ENOENT) return "the interpreter or loader it needs is not on this machine";
  return errno_text(error_number);
}

}  // namespace

LocalProcess::LocalProcess(const LocalProgram& program) {
  std::vector<std::string> arguments = {program.path.string()};
  arguments.insert(arguments.end(), program.arguments.begin(), program.arguments.end());
  const std::vector<char*> argument_pointers = exec_pointers(arguments);
  const std::vector<char*> environment_pointers = exec_pointers(program.environment);

  Pipe control = make_pipe();
  Pipe reports = make_pipe();
  SupervisedProgram supervised;
  supervised.path = program.path.c_str();
  supervised.arguments = argument_pointers.data();
  supervised.environment = environment_pointers.data();
  supervised.working_folder = program.working_folder.c_str();
  const int stdout_fd = program.sends_stdout_to_stderr ? STDERR_FILENO : STDOUT_FILENO;
  Pipe output;
  if (!program.output_changes.is_empty()) output = make_pipe();
  supervised.stdout_fd = output.write_end ? output.write_end.get() : stdout_fd;
  supervised.without_input = program.without_input;

  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &supervised.signal_mask);
  supervisor_ = ::fork();
  if (supervisor_ == 0) {
    // If the supervisor had a copy of the write end, it would not see the end of msprof.
    ::close(control.write_end.get());
    ::close(reports.read_end.get());
    supervise(supervised, control.read_end.get(), reports.write_end.get());
  }
  const int error = errno;
  ::sigprocmask(SIG_SETMASK, &supervised.signal_mask, nullptr);
  if (supervisor_ < 0)
    throw Error(Exit::cannot_write, fmt::format("cannot start a process: {}", errno_text(error)));
  control_ = std::move(control.write_end);
  reports_ = std::move(reports.read_end);
  // Started after the fork, because it is a thread.
  if (output.read_end)
    pump_ = std::make_unique<RewritingPump>(std::move(output.read_end), stdout_fd,
                                            program.output_changes);
}

LocalProcess::~LocalProcess() {
  if (is_finished_) return;
  signal(SIGKILL);
  while (read_report()) {
  }
  finish();
}

void LocalProcess::signal(int number) {
  const auto byte = static_cast<unsigned char>(number);
  // Ignores SIGPIPE: if the supervisor is gone, there is nothing to signal.
  struct sigaction ignore = {};
  struct sigaction before = {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before);
  while (::write(control_.get(), &byte, 1) < 0 && errno == EINTR) {
  }
  ::sigaction(SIGPIPE, &before, nullptr);
}

std::optional<ProgramEnd> LocalProcess::wait(std::chrono::milliseconds limit) {
  if (is_finished_) return end_;
  struct pollfd fd = {reports_.get(), POLLIN, 0};
  if (::poll(&fd, 1, static_cast<int>(limit.count())) <= 0) return std::nullopt;
  if (read_report()) return std::nullopt;
  finish();
  return end_;
}

// Returns false at the end of the reports.
bool LocalProcess::read_report() {
  ReportMessage message = {};
  const ssize_t count = ::read(reports_.get(), &message, sizeof(message));
  if (count < 0 && errno == EINTR) return true;
  if (count != sizeof(message)) return false;
  switch (message.kind) {
    case Report::cannot_start:
      end_.start_error = start_error_text(message.value);
      break;
    case Report::left_over:
      end_.left_over = static_cast<std::uint64_t>(message.value);
      break;
    case Report::ended:
      if (WIFEXITED(message.value)) end_.exit_code = WEXITSTATUS(message.value);
      if (WIFSIGNALED(message.value)) end_.signal = WTERMSIG(message.value);
      break;
    case Report::finished:
      return false;
  }
  return true;
}

void LocalProcess::finish() {
  is_finished_ = true;
  control_.reset();
  pump_.reset();
  while (::waitpid(supervisor_, nullptr, 0) < 0 && errno == EINTR) {
  }
  // If the supervisor is killed, the application is killed with it and nothing is reported.
  if (!end_.exit_code && end_.signal == 0 && end_.start_error.empty()) end_.signal = SIGKILL;
}

}  // namespace msprof
