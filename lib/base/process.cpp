#include "base/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookInterval{5};
constexpr std::size_t kMaxToolOutput = 64 << 20;
constexpr int kNoProgram = 127;  // the exit code that shells use

[[noreturn]] void throw_no_resource(const char* what) {
  throw Error(Exit::cannot_write, fmt::format("{}: {}", what, errno_text(errno)));
}

FileDescriptor above_standard(FileDescriptor fd) {
  if (fd.get() > STDERR_FILENO) return fd;
  FileDescriptor moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!moved) throw_no_resource("cannot create a pipe");
  return moved;
}

// Runs between fork and exec: must not allocate memory.
int execute(char* const* arguments, const char* folder) {
  for (const int number : {SIGPIPE, SIGXFSZ}) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (*folder == '\0' || ::chdir(folder) == 0) ::execvp(arguments[0], arguments);
  const char* const why = std::strerror(errno);  // safe: this process has only one thread
  for (const char* text :
       {static_cast<const char*>(arguments[0]), " cannot be started: ", why, "\n"}) {
    [[maybe_unused]] const ssize_t count = ::write(STDERR_FILENO, text, std::strlen(text));
  }
  return kNoProgram;
}

}  // namespace

FileDescriptor output_file() {
  FileDescriptor fd(::memfd_create("msprof-output", MFD_CLOEXEC));
  if (!fd) throw_no_resource("cannot create a memory file");
  return fd;
}

std::size_t output_bytes(const FileDescriptor& file) {
  struct stat status = {};
  return ::fstat(file.get(), &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

std::string read_output(const FileDescriptor& file, std::size_t max_bytes) {
  std::string text(std::min(output_bytes(file), max_bytes), '\0');
  const ssize_t count = ::pread(file.get(), text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

Pipe make_pipe() {
  int fds[2] = {-1, -1};
  if (::pipe2(fds, O_CLOEXEC) != 0) throw_no_resource("cannot create a pipe");
  FileDescriptor read_end(fds[0]);
  FileDescriptor write_end(fds[1]);
  return {above_standard(std::move(read_end)), above_standard(std::move(write_end))};
}

std::vector<char*> exec_pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::string ProcessEnd::text() const {
  if (signal != 0) return fmt::format("killed by signal {} ({})", signal, ::strsignal(signal));
  return fmt::format("exit code {}", exit_code);
}

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, int out_fd, int err_fd,
                           const std::filesystem::path& folder)
    : ChildProcess([pointers = exec_pointers(arguments),
                    &folder] { return execute(pointers.data(), folder.c_str()); },
                   out_fd, err_fd) {}

ChildProcess::ChildProcess(const std::function<int()>& work, int out_fd, int err_fd) {
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw_no_resource("cannot start a process");
  if (pid_ > 0) {
    ::setpgid(pid_, pid_);
    return;
  }
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kNoProgram);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  if (nothing > STDERR_FILENO) ::close(nothing);
  ::dup2(out_fd, STDOUT_FILENO);
  ::dup2(err_fd, STDERR_FILENO);
  const auto work_only = [&work]() noexcept { return work(); };
  ::_exit(work_only());
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  signal(SIGKILL);
  wait();
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept : pid_(other.pid_) {
  other.pid_ = -1;
}

void ChildProcess::stop(std::chrono::milliseconds patience) const {
  signal(SIGTERM);
  for (const auto last = Clock::now() + patience; !has_ended() && Clock::now() < last;)
    std::this_thread::sleep_for(kLookInterval);
}

bool ChildProcess::has_ended() const {
  siginfo_t info = {};
  return pid_ > 0 &&
         ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid_;
}

std::optional<ProcessEnd> ChildProcess::poll() {
  return reap(WNOHANG);
}

ProcessEnd ChildProcess::wait() {
  std::optional<ProcessEnd> end;
  while (!end) end = reap(0);
  return *end;
}

std::optional<ProcessEnd> ChildProcess::reap(int options) {
  ProcessEnd end;
  if (pid_ < 0) return end;
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, options);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
  pid_ = -1;
  if (ended > 0 && WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  if (ended > 0 && WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  return end;
}

void ChildProcess::signal(int number) const {
  if (pid_ > 0 && ::kill(-pid_, number) != 0) ::kill(pid_, number);
}

std::string ToolAnswer::reason() const {
  std::string text = printable(trim(err));
  return text.empty() ? end.text() : text;
}

ToolAnswer run_tool(const std::vector<std::string>& arguments, std::chrono::milliseconds limit,
                    bool in_farewell) {
  const FileDescriptor out = output_file();
  const FileDescriptor err = output_file();
  ChildProcess child(arguments, out.get(), err.get());
  const auto give_up = Clock::now() + limit;
  ToolAnswer answer;
  for (;;) {
    if (child.has_ended()) {
      child.signal(SIGKILL);
      answer.end = child.wait();
      break;
    }
    if (!in_farewell) interrupt::check();
    const bool is_late = Clock::now() > give_up;
    if (is_late || output_bytes(out) > kMaxToolOutput || output_bytes(err) > kMaxToolOutput) {
      answer.end.signal = SIGKILL;
      answer.err = is_late ? fmt::format("{} did not answer for {:g} s", arguments.front(),
                                         std::chrono::duration<double>(limit).count())
                           : fmt::format("{} prints too much", arguments.front());
      return answer;
    }
    std::this_thread::sleep_for(kLookInterval);
  }
  answer.out = read_output(out, kMaxToolOutput);
  answer.err = read_output(err, kMaxToolOutput);
  return answer;
}

}  // namespace msprof
