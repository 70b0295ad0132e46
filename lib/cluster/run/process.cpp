#include "cluster/run/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"

namespace msprof::cluster {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookInterval{5};
constexpr std::size_t kMaxToolOutput = 64 << 20;
constexpr int kNoProgram = 127;  // the exit code that shells use

// Runs between fork and exec: must not allocate memory.
[[noreturn]] void become(char* const* arguments, int stdout_fd, int stderr_fd, const char* folder,
                         pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kNoProgram);
  for (const int number : {SIGPIPE, SIGXFSZ}) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(stdout_fd, STDOUT_FILENO);
  ::dup2(stderr_fd, STDERR_FILENO);
  if (*folder == '\0' || ::chdir(folder) == 0) ::execvp(arguments[0], arguments);
  const char* const why = std::strerror(errno);  // safe: this process has only one thread
  for (const char* text :
       {static_cast<const char*>(arguments[0]), " cannot be started: ", why, "\n"}) {
    [[maybe_unused]] const ssize_t count = ::write(STDERR_FILENO, text, std::strlen(text));
  }
  ::_exit(kNoProgram);
}

// Returns an unnamed file. Unlike a pipe, it never fills up and blocks the child.
FileDescriptor scratch_file() {
  const char* folder = std::getenv("TMPDIR");
  FileDescriptor fd(::open(folder != nullptr && *folder == '/' ? folder : "/tmp",
                           O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!fd) {
    std::string name = "/tmp/msprof-XXXXXX";
    fd.reset(::mkostemp(name.data(), O_CLOEXEC));
    if (fd) ::unlink(name.c_str());
  }
  if (!fd)
    throw Error(Exit::cannot_write,
                fmt::format("cannot create a temporary file: {}", errno_text(errno)));
  return fd;
}

std::string read_output(const FileDescriptor& fd) {
  std::string text;
  const off_t size = ::lseek(fd.get(), 0, SEEK_END);
  if (size <= 0) return text;
  text.resize(std::min(static_cast<std::size_t>(size), kMaxToolOutput));
  const ssize_t count = ::pread(fd.get(), text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

}  // namespace

std::string ProgramResult::text() const {
  if (signal != 0) return fmt::format("killed by signal {} ({})", signal, ::strsignal(signal));
  return fmt::format("exit code {}", exit_code);
}

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, int stdout_fd, int stderr_fd,
                           const std::filesystem::path& folder) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments)
    pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) become(pointers.data(), stdout_fd, stderr_fd, folder.c_str(), parent);
  if (pid_ < 0) {
    throw Error(Exit::cannot_write, fmt::format("cannot start a process for {}: {}",
                                                arguments.front(), errno_text(errno)));
  }
  ::setpgid(pid_, pid_);
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  signal(SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept : pid_(other.pid_) {
  other.pid_ = -1;
}

std::optional<ProgramResult> ChildProcess::poll() {
  if (pid_ < 0) return ProgramResult{};
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
  pid_ = -1;
  ProgramResult result;
  if (ended < 0) return result;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

void ChildProcess::signal(int number) const {
  if (pid_ > 0 && ::kill(-pid_, number) != 0) ::kill(pid_, number);
}

void end_children(std::vector<ChildProcess>& children, std::chrono::milliseconds patience) {
  for (const ChildProcess& child : children) child.signal(SIGTERM);
  const auto limit = Clock::now() + patience;
  while (!children.empty() && Clock::now() < limit) {
    std::vector<ChildProcess> left;
    for (ChildProcess& child : children) {
      if (!child.poll()) left.push_back(std::move(child));
    }
    children.swap(left);
    if (!children.empty()) std::this_thread::sleep_for(kLookInterval);
  }
  children.clear();
}

std::string ToolAnswer::reason() const {
  std::string text = printable(trim(err));
  return text.empty() ? end.text() : text;
}

ToolAnswer run_tool(const std::vector<std::string>& arguments, std::chrono::seconds limit,
                    bool in_farewell) {
  const FileDescriptor out = scratch_file();
  const FileDescriptor err = scratch_file();
  ChildProcess child(arguments, out.get(), err.get());
  const auto end = Clock::now() + limit;
  ToolAnswer answer;
  for (;;) {
    if (const auto result = child.poll()) {
      answer.end = *result;
      break;
    }
    if (!in_farewell) interrupt::check();
    if (Clock::now() > end) {
      answer.end.signal = SIGKILL;
      answer.err = fmt::format("{} did not answer for {} s", arguments.front(), limit.count());
      return answer;
    }
    std::this_thread::sleep_for(kLookInterval);
  }
  answer.out = read_output(out);
  answer.err = read_output(err);
  return answer;
}

std::string last_line(const std::filesystem::path& log) {
  constexpr off_t kTail = 4 << 10;
  const FileDescriptor fd(::open(log.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return "";
  const off_t size = ::lseek(fd.get(), 0, SEEK_END);
  std::string text(static_cast<std::size_t>(kTail), '\0');
  const ssize_t count =
      ::pread(fd.get(), text.data(), text.size(), size > kTail ? size - kTail : 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  const std::string_view lines = trim(text);
  const auto at = lines.rfind('\n');
  return printable(trim(at == std::string_view::npos ? lines : lines.substr(at + 1)));
}

}  // namespace msprof::cluster
