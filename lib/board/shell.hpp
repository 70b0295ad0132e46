// BoardShell: constant scripts on a board, over one SSH connection that can be opened again after
// it was lost. For the board host, its cache and its transfers.
//
// No shell text is made of data: a script is a constant, and what varies reaches it as positional
// parameters. The account's login shell may be any (sh, csh, fish): it reads one command without
// line breaks, which starts sh. It may greet before the script prints; whatever comes before the
// script's own first line is dropped.
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

// POSIX shell, for dash, bash and busybox ash alike; parameters are "$1", "$2", …
struct BoardScript {
  std::string_view name;  // for messages: "looking at the board"
  std::string_view text;
};

// Most bytes of an answer that is no listing (kMaxListingBytes).
inline constexpr std::size_t kMaxAnswer = 1 << 20;

struct BoardAnswer {
  std::string out;
  std::string err;  // at most the last 4 KB
  CommandEnd end;
  bool ok() const { return end.exit_code == 0; }
  // Text of the board on stderr, made printable, or how the command ended.
  std::string reason() const;
};

// A script as one of several that are asked for at once.
struct BoardStep {
  BoardScript script;
  std::vector<std::string> arguments;
  std::string lines{};                  // its stdin; no secrets: short ones travel in the command
  bool may_fail = false;                // the next ones run all the same
  bool takes_input = false;             // its stdin is the source of them all; one step at most
  std::size_t most_bytes = kMaxAnswer;  // of its answer
};

// A line that no data holds, by which ends are found in a stream: "@0123…@".
std::string random_end_word();

// A command line for the user that brings a folder of the host into the current one:
// "scp -P 2222 -r root@192.168.1.10:/x ."
std::string copy_command(const SshLogin& login, const std::string& folder, bool has_sftp);

// Command that is sent for a script; throws Error(usage) where it is longer than dropbear takes
// (9,000 bytes).
std::string command_line(const BoardScript& script, const std::vector<std::string>& arguments);
// True if it is not.
bool fits_into_command(const BoardScript& script, const std::vector<std::string>& arguments);

class BoardShell {
 public:
  // Fills `buffer`, returns 0 at the end of the data.
  using Source = std::function<std::size_t(char* buffer, std::size_t size)>;

  // All its connections are of one run (SshLogin::run_hosts).
  explicit BoardShell(SshLogin login);

  // Throws as SshConnection::open().
  void connect();
  // Tries again, after ConnectionLost, until `seconds` are over. False when the board stayed away.
  // Throws ConnectFailure where another try would be refused, or go to a stranger.
  bool reconnect(double seconds);
  // Closes the connection at once, without a message to the board.
  void disconnect();
  bool is_connected() const { return connection_ != nullptr; }
  SshConnection& connection() const;
  const SshLogin& login() const { return login_; }

  // Runs a script to its end. Ends with ConnectionLost, with Error(board_unreachable) when nothing
  // moved for `silence`, or with TooMuchSent when it prints more than `most_bytes`. Ctrl-C does not
  // end it: what is under way here keeps the board clean.
  BoardAnswer ask(const BoardScript& script, const std::vector<std::string>& arguments,
                  std::string_view input = {}, std::size_t most_bytes = kMaxAnswer);
  // Runs scripts one after the other, up to the first that fails, as if each were asked for with
  // ask(), in as few commands as they fit into: mostly one, which is one round trip. The answers
  // of those that did not run are empty and not ok().
  std::vector<BoardAnswer> ask_each(const std::vector<BoardStep>& steps, const Source& source = {});
  // Throws Error(cannot_write) with the board's reason where the answer to a script is not ok().
  void require_ok(const BoardScript& script, const BoardAnswer& answer) const;
  // Runs a script that changes files on the board; throws Error(cannot_write) with its reason, too.
  void change(const BoardScript& script, const std::vector<std::string>& arguments,
              std::string_view input = {});
  // Runs like ask(), with streams: `source` (may be empty) is its stdin, `sink` (may be empty) its
  // stdout.
  BoardAnswer stream(const BoardScript& script, const std::vector<std::string>& arguments,
                     const Source& source, const StreamSink& sink);
  // Starts a script, on a terminal if one is given, and leaves the waiting to the caller.
  std::unique_ptr<SshCommand> start(const BoardScript& script,
                                    const std::vector<std::string>& arguments, StreamSink on_stdout,
                                    StreamSink on_stderr,
                                    const std::optional<SshTerminal>& terminal = std::nullopt);
  // Likewise without waiting for the board: refusals come from its wait(). `greeting` (may be null)
  // gets what the login shell prints while the script has not begun, and is empty once it has.
  std::unique_ptr<SshCommand> begin(const BoardScript& script,
                                    const std::vector<std::string>& arguments, StreamSink on_stdout,
                                    StreamSink on_stderr,
                                    std::shared_ptr<std::string> greeting = nullptr);

 private:
  StreamSink collector(const BoardScript& script, std::string& out, std::size_t most_bytes) const;

  SshLogin login_;
  std::unique_ptr<SshConnection> connection_;
};

}  // namespace msprof
