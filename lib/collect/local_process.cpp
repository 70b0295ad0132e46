#include "collect/local_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/error.hpp"
#include "collect/supervisor.hpp"

namespace msprof {

namespace {

[[noreturn]] void fail(std::string_view what) {
  throw Error(Exit::internal_error, fmt::format("{}: {}", what, errno_text(errno)));
}

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

// Ends at or below 2 would take the place of a closed stdin, stdout or stderr of the application.
FileDescriptor above_standard(int fd) {
  FileDescriptor given(fd);
  if (fd > STDERR_FILENO) return given;
  FileDescriptor moved(::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!moved) fail("cannot make a pipe");
  return moved;
}

Pipe make_pipe() {
  int fds[2] = {-1, -1};
  if (::pipe2(fds, O_CLOEXEC) != 0) fail("cannot make a pipe");
  Pipe result;
  result.write_end.reset(fds[1]);
  result.read_end = above_standard(fds[0]);
  result.write_end = above_standard(result.write_end.release());
  return result;
}

std::string start_error_text(int error_number) {
  if (error_number == ENOEXEC) return "it is not a program for this machine";
  if (error_number == ENOENT) return "the interpreter or loader that it asks for is not here";
  return errno_text(error_number);
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

LocalProcess::LocalProcess(const LocalProgram& program) {
  std::vector<std::string> arguments = {program.path.string()};
  arguments.insert(arguments.end(), program.arguments.begin(), program.arguments.end());
  std::vector<std::string> environment = program.environment;
  const std::vector<char*> argument_pointers = pointers(arguments);
  const std::vector<char*> environment_pointers = pointers(environment);

  Pipe control = make_pipe();
  Pipe reports = make_pipe();
  SupervisedProgram supervised;
  supervised.path = program.path.c_str();
  supervised.arguments = argument_pointers.data();
  supervised.environment = environment_pointers.data();
  supervised.working_folder = program.working_folder.c_str();
  supervised.stdout_to_stderr = program.stdout_to_stderr;

  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &supervised.signal_mask);
  supervisor_ = ::fork();
  if (supervisor_ == 0) {
    // Its own copy of the write end would hide the end of msprof.
    ::close(control.write_end.get());
    ::close(reports.read_end.get());
    supervise(supervised, control.read_end.get(), reports.write_end.get());
  }
  const int error = errno;
  ::sigprocmask(SIG_SETMASK, &supervised.signal_mask, nullptr);
  errno = error;
  if (supervisor_ < 0) fail("cannot start a process");
  control_ = std::move(control.write_end);
  reports_ = std::move(reports.read_end);
}

LocalProcess::~LocalProcess() {
  if (finished_) return;
  signal(SIGKILL);
  while (read_report()) {
  }
  finish();
}

void LocalProcess::signal(int number) {
  const auto byte = static_cast<unsigned char>(number);
  // A supervisor that is gone has nothing left to signal; SIGPIPE is ignored or that is news.
  struct sigaction ignore = {};
  struct sigaction before = {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before);
  while (::write(control_.get(), &byte, 1) < 0 && errno == EINTR) {
  }
  ::sigaction(SIGPIPE, &before, nullptr);
}

std::optional<ProgramEnd> LocalProcess::wait(std::chrono::milliseconds limit) {
  if (finished_) return end_;
  struct pollfd fd = {reports_.get(), POLLIN, 0};
  if (::poll(&fd, 1, static_cast<int>(limit.count())) <= 0) return std::nullopt;
  if (read_report()) return std::nullopt;
  finish();
  return end_;
}

// False when there is nothing more to come.
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
  finished_ = true;
  control_.reset();
  while (::waitpid(supervisor_, nullptr, 0) < 0 && errno == EINTR) {
  }
  // A supervisor that was killed takes the application with it and reports nothing.
  if (!end_.exit_code && end_.signal == 0 && end_.start_error.empty()) end_.signal = SIGKILL;
}

}  // namespace msprof
