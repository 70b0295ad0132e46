// BoardShell: runs constant scripts on a board, over one SSH connection that can be re-established
// after a loss. Used by the board host, its cache and its transfers.
//
// Data is never interpolated into shell code: scripts are constants and receive data as positional
// parameters. The account may have any login shell (sh, csh, fish): it gets a single command
// without line breaks, which starts sh. Output before the script's own first line, such as a
// greeting of the login shell, is dropped.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "ssh/ssh_connection.hpp"

namespace msprof {

// POSIX shell code for dash, bash and busybox ash; parameters are "$1", "$2", …
struct BoardScript {
  std::string_view name;  // for messages: "looking at the board"
  std::string text;
};

// Maximum size of an answer that is not a listing (kMaxListingBytes).
inline constexpr std::size_t kMaxAnswer = 1 << 20;

struct BoardAnswer {
  std::string out;
  std::string err;  // the last 4 KB
  CommandEnd end;
  bool has_succeeded() const { return end.exit_code == 0; }
  // Returns the board's stderr, made printable, or how the command ended.
  std::string reason() const;
};

// One of several scripts that are run together.
struct BoardStep {
  BoardScript script;
  std::vector<std::string> arguments;
  std::string lines{};                  // its stdin; no secrets: short input is part of the command
                                        // line
  bool may_fail = false;                // the following steps run even if it fails
  bool takes_input = false;             // its stdin is the source that is passed for all steps; at
                                        // most one step may set this
  std::size_t most_bytes = kMaxAnswer;  // limit for its answer
};

// Returns a random word for marking ends in a stream; it does not occur in data: "@0123…@".
std::string random_end_word();

// Returns a command line for the user that copies a folder of the host to the current one: "scp -P
// 2222 -r root@192.168.1.10:/x ."
std::string copy_command(const SshLogin& login, const std::string& folder, bool has_sftp);

// Returns the command that is sent for a script; throws Error(usage) if it exceeds dropbear's limit
// (9,000 bytes).
std::string command_line(const BoardScript& script, const std::vector<std::string>& arguments);
// Returns true if the command is within the limit of command_line().
bool fits_into_command(const BoardScript& script, const std::vector<std::string>& arguments);

class BoardShell {
 public:
  // Fills `buffer` and returns the number of bytes; 0 at the end of the data.
  using Source = std::function<std::size_t(char* buffer, std::size_t size)>;

  // All connections share one SshLogin::run_hosts.
  explicit BoardShell(SshLogin login);

  // Throws like SshConnection::open().
  void connect();
  // Retries for `seconds`, after ConnectionLost. Returns false if the board stayed unreachable.
  // Throws ConnectFailure if another attempt would be refused, or would reach a machine with
  // another host key.
  bool reconnect(double seconds);
  // Closes the connection at once, without a message to the board.
  void disconnect();
  bool is_connected() const { return connection_ != nullptr; }
  SshConnection& connection() const;
  const SshLogin& login() const { return login_; }

  // Runs a script to its end. Throws ConnectionLost, Error(board_unreachable) if nothing was
  // transferred for the silence limit, or TooMuchSent if the script prints more than `most_bytes`.
  // Ctrl-C does not abort it: some scripts clean up the board.
  BoardAnswer ask(const BoardScript& script, const std::vector<std::string>& arguments,
                  std::string_view input = {}, std::size_t most_bytes = kMaxAnswer);
  // Runs scripts in order, up to the first that fails, like ask() for each, but in as few commands
  // as possible: usually one, which is one round trip. The answers of scripts that did not run are
  // empty, without has_succeeded().
  std::vector<BoardAnswer> ask_each(const std::vector<BoardStep>& steps, const Source& source = {});
  // Throws Error(cannot_write) with the board's reason unless the answer has_succeeded().
  void require_ok(const BoardScript& script, const BoardAnswer& answer) const;
  // Runs a script that changes files on the board; also throws Error(cannot_write) with its reason.
  void change(const BoardScript& script, const std::vector<std::string>& arguments,
              std::string_view input = {});
  // Like ask(), with streams: `source` (may be empty) provides its stdin, `sink` (may be empty)
  // receives its stdout.
  BoardAnswer stream(const BoardScript& script, const std::vector<std::string>& arguments,
                     const Source& source, const StreamSink& sink);
  // Starts a script, on a terminal if one is given. Does not wait for the board to accept it,
  // except on a terminal: wait() throws a refusal. `greeting` receives output of the login shell
  // before the script starts, and is then cleared.
  std::unique_ptr<SshCommand> start(
      const BoardScript& script, const std::vector<std::string>& arguments, StreamSink on_stdout,
      const StreamSink& on_stderr, const std::optional<SshTerminal>& terminal = std::nullopt,
      std::shared_ptr<std::string> greeting = std::make_shared<std::string>());

 private:
  SshLogin login_;
  std::unique_ptr<SshConnection> connection_;
};

}  // namespace msprof
