#include "collect/program_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/file_reader.hpp"

namespace msprof {

namespace {

constexpr std::size_t kMaxOutputBytes = 64 << 10;

using Clock = std::chrono::steady_clock;

std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
  std::vector<std::string> all(variables);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('=') + 1);
    const bool is_set = std::any_of(variables.begin(), variables.end(),
                                    [&](const auto& one) { return one.starts_with(name); });
    if (!is_set) all.push_back(text);
  }
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Starts the program in a separate process group, so that its children can be killed, too; returns
// 0 if it cannot be run.
pid_t spawn(const std::filesystem::path& program, std::vector<std::string> arguments,
            std::vector<std::string> environment, int out) {
  arguments.insert(arguments.begin(), program.string());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, &attributes,
                                  pointers_to(arguments).data(), pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error == 0 ? pid : 0;
}

// Returns all output, or nullopt on timeout.
std::optional<std::string> read_until(int fd, Clock::time_point end) {
  std::string text;
  std::array<char, 4096> part;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return std::nullopt;
    pollfd ready = {fd, POLLIN, 0};
    const int count = ::poll(&ready, 1, static_cast<int>(left.count()));
    if (count < 0 && errno != EINTR) return std::nullopt;
    if (count <= 0) continue;
    const ssize_t got = ::read(fd, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(part.data(),
                std::min(static_cast<std::size_t>(got), kMaxOutputBytes - text.size()));
  }
}

}  // namespace

std::optional<std::string> program_output(const std::filesystem::path& program,
                                          const std::vector<std::string>& arguments,
                                          const std::vector<std::string>& variables,
                                          std::chrono::milliseconds limit) {
  int ends[2] = {};
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const FileDescriptor in(ends[0]);
  FileDescriptor out(ends[1]);
  const pid_t pid = spawn(program, arguments, environment_with(variables), out.get());
  if (pid == 0) return std::nullopt;
  out.reset();
  auto text = read_until(in.get(), Clock::now() + limit);
  // Also kills a program that closed its stdout and continues.
  ::kill(-pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return text;
}

}  // namespace msprof
