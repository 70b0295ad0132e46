#include "support/ssh_commands.hpp"

#include <fcntl.h>
#include <libssh/libssh.h>
#include <libssh/server.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <list>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "support/loopback.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kBlock = 32768;
// Polling interval for the end of a process, which poll() does not report.
constexpr int kLookMilliseconds = 10;

struct FreeMessage {
  void operator()(ssh_message message) const { ssh_message_free(message); }
};
struct FreeChannel {
  void operator()(ssh_channel channel) const { ssh_channel_free(channel); }
};
using Message = std::unique_ptr<ssh_message_struct, FreeMessage>;
using Channel = std::unique_ptr<ssh_channel_struct, FreeChannel>;

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Pipe make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  return {Descriptor(fds[0]), Descriptor(fds[1])};
}

Descriptor unblocked(Descriptor end) {
  ::fcntl(end.get(), F_SETFL, O_NONBLOCK);
  return end;
}

pid_t spawn(const std::string& command, const fs::path& home, const Pipe (&pipes)[3]) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, home.c_str());
  posix_spawn_file_actions_adddup2(&actions, pipes[0].read.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipes[1].write.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipes[2].write.get(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  std::string words[] = {"/bin/sh", "-c", command};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  std::string variables[] = {"HOME=" + home.string(), "PATH=/usr/bin:/bin:/usr/sbin:/sbin"};
  char* environment[] = {variables[0].data(), variables[1].data(), nullptr};
  pid_t pid = 0;
  const int code = ::posix_spawn(&pid, "/bin/sh", &actions, &attributes, arguments, environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) throw std::system_error(code, std::generic_category(), "/bin/sh");
  return pid;
}

// A process whose streams are connected to a channel.
class Command {
 public:
  Command(ssh_channel channel, const std::string& command, const fs::path& home)
      : channel_(channel) {
    Pipe pipes[3] = {make_pipe(), make_pipe(), make_pipe()};
    pid_ = spawn(command, home, pipes);
    input_.fd = unblocked(std::move(pipes[0].write));
    output_.fd = unblocked(std::move(pipes[1].read));
    errors_.fd = unblocked(std::move(pipes[2].read));
    errors_.is_stderr = 1;
  }

  ~Command() {
    if (pid_ == 0) return;
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  void add_to(std::vector<pollfd>& fds) const {
    if (!input_.waiting.empty()) fds.push_back({input_.fd.get(), POLLOUT, 0});
    for (const Stream* stream : {&output_, &errors_}) {
      if (stream->waiting.empty()) fds.push_back({stream->fd.get(), POLLIN, 0});
    }
  }

  // Moves the available data; returns false at the end, or if the client has closed the channel.
  bool move() {
    if (ssh_channel_is_closed(channel_) != 0) return false;
    take_input();
    give(output_);
    give(errors_);
    return !is_over(output_) || !is_over(errors_) || !tell_end();
  }

 private:
  struct Stream {
    Descriptor fd{};
    std::string waiting{};
    int is_stderr = 0;
  };

  static bool is_over(const Stream& stream) {
    return stream.fd.get() < 0 && stream.waiting.empty();
  }

  void take_input() {
    if (input_.fd.get() < 0) return;
    std::array<char, kBlock> block;
    if (input_.waiting.empty()) {
      const int count = ssh_channel_read_nonblocking(channel_, block.data(), kBlock, 0);
      if (count > 0) input_.waiting.assign(block.data(), static_cast<std::size_t>(count));
    }
    const ssize_t written = ::write(input_.fd.get(), input_.waiting.data(), input_.waiting.size());
    if (written > 0) input_.waiting.erase(0, static_cast<std::size_t>(written));
    const bool broken = written < 0 && errno != EAGAIN;
    const bool ended = input_.waiting.empty() && ssh_channel_is_eof(channel_) != 0;
    if (broken || ended) input_.fd = Descriptor();
  }

  void give(Stream& stream) {
    std::array<char, kBlock> block;
    if (stream.waiting.empty() && stream.fd.get() >= 0) {
      const ssize_t count = ::read(stream.fd.get(), block.data(), kBlock);
      if (count > 0) stream.waiting.assign(block.data(), static_cast<std::size_t>(count));
      if (count == 0) stream.fd = Descriptor();
    }
    if (stream.waiting.empty() || ssh_channel_window_size(channel_) == 0) return;
    const auto write = stream.is_stderr != 0 ? ssh_channel_write_stderr : ssh_channel_write;
    const int count =
        write(channel_, stream.waiting.data(), static_cast<std::uint32_t>(stream.waiting.size()));
    if (count > 0) stream.waiting.erase(0, static_cast<std::size_t>(count));
  }

  bool tell_end() {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
    pid_ = 0;
    ssh_channel_request_send_exit_status(
        channel_, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    ssh_channel_send_eof(channel_);
    ssh_channel_close(channel_);
    return true;
  }

  ssh_channel channel_;
  pid_t pid_ = 0;
  Stream input_;
  Stream output_;
  Stream errors_;
};

class Client {
 public:
  Client(ssh_session session, fs::path home) : session_(session), home_(std::move(home)) {}

  void serve() {
    ssh_set_blocking(session_, 0);
    while (ssh_is_connected(session_) != 0) {
      wait();
      while (const Message message{ssh_message_get(session_)}) handle(message.get());
      commands_.remove_if([](Command& command) { return !command.move(); });
    }
  }

 private:
  void wait() const {
    const bool has_more = (ssh_get_status(session_) & SSH_WRITE_PENDING) != 0;
    std::vector<pollfd> fds = {
        {ssh_get_fd(session_), static_cast<short>(has_more ? POLLIN | POLLOUT : POLLIN), 0}};
    for (const Command& command : commands_) command.add_to(fds);
    ::poll(fds.data(), fds.size(), kLookMilliseconds);
  }

  void handle(ssh_message message) {
    const int type = ssh_message_type(message);
    const int subtype = ssh_message_subtype(message);
    if (type == SSH_REQUEST_CHANNEL_OPEN && subtype == SSH_CHANNEL_SESSION) {
      channels_.emplace_back(ssh_message_channel_request_open_reply_accept(message));
    } else if (type == SSH_REQUEST_CHANNEL && subtype == SSH_CHANNEL_REQUEST_EXEC) {
      ssh_message_channel_request_reply_success(message);
      commands_.emplace_back(ssh_message_channel_request_channel(message),
                             ssh_message_channel_request_command(message), home_);
    } else {
      ssh_message_reply_default(message);
    }
  }

  ssh_session session_;
  const fs::path home_;
  std::list<Channel> channels_;
  std::list<Command> commands_;
};

}  // namespace

void serve_commands(ssh_session_struct* session, const fs::path& home) {
  // Writing to an ended command must not kill the test.
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  Client(session, home).serve();
}

}  // namespace msprof::test
