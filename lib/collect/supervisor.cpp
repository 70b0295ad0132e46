#include "collect/supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <initializer_list>

namespace msprof {

namespace {

// How long what msprof left behind has to end after SIGTERM.
constexpr std::int64_t kFarewellMs = 1000;
constexpr std::int64_t kKillAgainMs = 50;

std::int64_t now_ms() {
  struct timespec time = {};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1000 + time.tv_nsec / 1'000'000;
}

// Digits only; -1 for any other name. strtol may look at the locale.
pid_t number_of(const char* text) {
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

// "1234 (name) S 1 …": the name may hold anything, so what counts begins after the last ')'.
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
  result.parent = number_of(parent);
  return result;
}

struct DirectoryEntry {  // linux_dirent64
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[1];
};

// Sends `signal_number` (0: none) to every living child of this process but `except`; returns how
// many there are. Our children's numbers stay theirs until we wait for them: none is mistaken.
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
      const pid_t pid = number_of(name);
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

// What msprof handles is the default again; what its own parent ignored (nohup) stays ignored.
// msprof ignores SIGPIPE for itself only.
void restore_signals(const sigset_t& mask) {
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction current = {};
    ::sigaction(number, nullptr, &current);
    if (current.sa_handler != SIG_IGN) ::sigaction(number, &standard, nullptr);
  }
  ::sigaction(SIGPIPE, &standard, nullptr);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
}

[[noreturn]] void become_application(const SupervisedProgram& program, pid_t supervisor,
                                     int report_fd) {
  ::setpgid(0, 0);
  // If the supervisor itself is killed, the application goes with it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  int error = 0;
  if (::getppid() != supervisor) _exit(127);
  if (program.stdout_to_stderr && ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) error = errno;
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
    // Ignored by whoever started msprof, it would hide how the application ended.
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
    while (!all_gone()) step();
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
      asked_to_end_ = true;
      signal_all(number);
      if (number == SIGKILL) kill_at_ms_ = now_ms() + kKillAgainMs;
      return;
    }
    control_fd_ = -1;  // msprof is gone
    if (!asked_to_end_) signal_all(SIGTERM);
    end_within(asked_to_end_ ? 0 : kFarewellMs);
  }

  void end_within(std::int64_t limit_ms) {
    const std::int64_t at = now_ms() + limit_ms;
    if (kill_at_ms_ < 0 || at < kill_at_ms_) kill_at_ms_ = at;
  }

  // The group while its leader is not yet waited for, then whatever has become our child.
  void signal_all(int number) {
    if (application_ > 0) ::kill(-application_, number);
    signal_children(number, application_);
  }

  bool all_gone() {
    if (application_ > 0) {
      siginfo_t info = {};
      const auto id = static_cast<id_t>(application_);
      if (::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
        application_ended();
      }
    }
    for (;;) {
      int status = 0;
      // While the application runs, only the orphans that came to us; it is waited for above.
      const pid_t pid = ::waitpid(-1, &status, WNOHANG);
      if (pid < 0 && errno == ECHILD) return true;
      if (pid <= 0) return false;
      if (pid == application_) {  // it ended since we looked
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
    // Nobody reads any more when msprof is gone.
    [[maybe_unused]] const ssize_t ignored = ::write(report_fd_, &message, sizeof(message));
  }

  int control_fd_;
  int report_fd_;
  int signal_fd_ = -1;
  pid_t application_ = 0;
  std::int64_t kill_at_ms_ = -1;
  bool asked_to_end_ = false;
};

}  // namespace

void supervise(const SupervisedProgram& program, int control_fd, int report_fd) {
  Supervisor(control_fd, report_fd).run(program);
}

}  // namespace msprof
