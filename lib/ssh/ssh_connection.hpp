// SshConnection: one login on a host, and the commands that run over it. For the board rooms; this
// folder alone includes libssh. Not thread safe: one connection belongs to one thread.
//
// Time: nothing here waits without a limit. A connection that is gone, a machine that is silent for
// kSilenceSeconds, or an SSH server that gives no sign of life for kStuckSeconds throws
// ConnectionLost from whatever was under way; after that the object is good for nothing but
// destruction.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "ssh/ssh_login.hpp"

namespace msprof {

// Exit::board_unreachable; the sentence says what was lost and why.
class ConnectionLost : public Error {
 public:
  explicit ConnectionLost(const std::string& message) : Error(Exit::board_unreachable, message) {}
};

inline constexpr int kSilenceSeconds = 20;
inline constexpr int kStuckSeconds = 30;

// How a command ended: by a code or by a signal ("SEGV"); neither when the host did not say.
struct CommandEnd {
  std::optional<int> exit_code;
  std::string signal;
};

// Gets what a stream of a command brings, in its order, from within wait(). It may throw; the
// exception leaves through the wait() that was under way.
using StreamSink = std::function<void(std::string_view bytes)>;

// A terminal of the host that a command gets.
struct SshTerminal {
  std::string type = "dumb";  // for TERM
  int columns = 80;
  int rows = 24;
};

// A command on the host, its stdout and stderr apart; on a terminal both are stdout, and a line
// ends with "\r\n". Destroying it closes the channel; it does not end the process.
class SshCommand {
 public:
  virtual ~SshCommand() = default;
  // False also where one was asked for and the host gives none.
  virtual bool has_terminal() const = 0;
  // Of the terminal, when the user's has changed.
  virtual void resize(const SshTerminal& terminal) = 0;
  // Takes as much as the host is ready to take now, without waiting; returns how many bytes. After
  // 0, call wait().
  virtual std::size_t write(std::string_view bytes) = 0;
  // No more input: the command reads an end of file.
  virtual void close_input() = 0;
  // Handles what arrives, for this and for every other command of the connection, until this one
  // has ended and its streams are drained, something was handled that makes another look at
  // write() worthwhile, or the limit is over. Empty while it runs.
  virtual std::optional<CommandEnd> wait(std::chrono::milliseconds limit) = 0;
  // What the host has said so far about the end of the process itself, which comes before the end
  // of its streams where something that it started still holds them. Empty while it runs.
  virtual std::optional<CommandEnd> reported_end() const = 0;
};

class SftpFiles;

class SshConnection {
 public:
  // Connects, checks the host key and logs in: none, agent, the given key, default keys,
  // keyboard-interactive, password. Throws Error(board_unreachable) with a sentence that says what
  // to do, Error(usage) for a given key that cannot be used, Error(interrupted) on Ctrl-C.
  static std::unique_ptr<SshConnection> open(const SshLogin& login);
  virtual ~SshConnection() = default;

  // How it logged in, for messages: "no password", "agent", "key /x/y", "password" …
  virtual std::string login_method() const = 0;

  // Starts `command`, which the account's login shell reads, on a terminal if one is given. Throws
  // Error(board_unreachable) when the host refuses.
  virtual std::unique_ptr<SshCommand> start(
      const std::string& command, StreamSink on_stdout, StreamSink on_stderr,
      const std::optional<SshTerminal>& terminal = std::nullopt) = 0;

  // The file service of the host; null where it has none. Lives no longer than the connection.
  virtual std::unique_ptr<SftpFiles> sftp() = 0;
};

}  // namespace msprof
