// SshConnection: one login on a host, the commands that run over it and the files that it gives.
// For the board and doctor; this folder alone includes libssh. Not thread safe: one connection
// belongs to one thread.
//
// Time: nothing here waits without a limit (SshPatience). A connection that is gone, a silent
// machine or a stuck SSH server throws ConnectionLost from whatever was under way; after that the
// object is good for nothing but destruction.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "ssh/secret.hpp"

namespace msprof {

class RunHosts;

// Policy for an unknown host key. One that differs from the known one ends the connection under
// every policy but `off`, one that changes within a run under every policy.
enum class HostKeyPolicy {
  known_only,  // refused, also on a terminal
  strict,      // asked on a terminal, refused without one
  accept_new,  // taken and remembered
  off,         // the first key of a run is not checked, and none is remembered
};

// Steps that a login has passed, in this order.
enum class LoginStep { connected, agreed, host_key_taken, logged_in };

// Time after which a silent host counts as lost. Only tests change these.
struct SshPatience {
  // For the machine's TCP, and for each answer that a request to the server has.
  double silence_seconds = 20;
  // For the SSH server, while its TCP answers. It is asked for a sign of life before; later than
  // TCP finds a dead machine, because sending restarts TCP's own timer.
  double ask_seconds = 21;
  double stuck_seconds = 30;
};

// Host, account, and how far its key is trusted.
struct SshLogin {
  std::string host;  // name or address, IPv6 without brackets
  std::uint16_t port = 22;
  std::string user;
  std::filesystem::path key;  // a private key; empty: none given
  // More keys to try, as ssh's configuration names them; those that are absent are passed over.
  std::vector<std::filesystem::path> more_keys;
  // Certificates of these keys; one beside a key, KEY-cert.pub, is found without.
  std::vector<std::filesystem::path> certificates;
  bool default_keys = true;  // try the usual ones of `ssh_folder`, too
  bool agent = true;         // try the keys of ssh-agent
  HostKeyPolicy host_key = HostKeyPolicy::strict;
  double connect_timeout_seconds = 10;  // for connecting and for every answer of the login
  SshPatience patience;                 // once the login is done
  SecretSource password;                // when nothing else has logged in
  // Of a key that has one, where the host takes the key; may be empty.
  std::function<SecretSource(const std::filesystem::path& key)> passphrase;
  // Called after each step, if set; reports how far a login came.
  std::function<void(LoginStep)> on_step;
  // Folder of known_hosts and the default keys; empty: .ssh in the user's home folder.
  std::filesystem::path ssh_folder;
  // Files of known host keys; the first is added to. Empty: the usual ones.
  std::vector<std::filesystem::path> known_hosts;
  std::string host_key_alias;  // the name there; empty: host and port
  // SSH servers on the way, the first is reached from here and the last reaches `host`; each with a
  // login of its own.
  std::vector<SshLogin> jumps;
  std::string role = "board";  // what messages call it: "jump host"
  // Ways to log in, for the message that none was open.
  std::string own_ways =
      "a key that the board knows (key in the ini, an agent), or a password (--password-stdin, "
      "MSPROF_SSH_PASSWORD, pwd in the ini)";
  // Name of the host in ssh's configuration, for messages; empty: `host` is what the user gave.
  std::string alias;
  // Options with which ssh and scp find the same way, for commands that users copy: "-J a,b ".
  std::string ssh_options;
  // What the run knows of its hosts; copies of the login share it. Null: each open() is a run.
  std::shared_ptr<RunHosts> run_hosts;

  // The host as the user knows it.
  const std::string& shown_host() const { return alias.empty() ? host : alias; }
  // "root@192.168.1.10", with ":2222" where the port is not 22.
  std::string name() const;
  // "jump@10.0.0.1, jump@10.0.0.2"; empty: the host is reached from here.
  std::string way() const;
};

// No connection was made; Exit::board_unreachable.
class ConnectFailure : public Error {
 public:
  enum class Why {
    unreachable,  // nothing answered, or it went away: trying again may help
    unanswered,   // it went away when it had a password, or had refused a key: perhaps refused
    refused,      // the login, or what it needs
    host_key,     // unknown, changed or revoked; nothing was sent
  };
  ConnectFailure(Why why, const std::string& message)
      : Error(Exit::board_unreachable, message), why_(why) {}
  Why why() const { return why_; }
  // True where trying again neither counts as a failed login nor sends anything to a stranger.
  bool may_be_repeated() const { return why_ == Why::unreachable || why_ == Why::unanswered; }

 private:
  Why why_;
};

// Exit::board_unreachable; the sentence names what was lost and why.
class ConnectionLost : public Error {
 public:
  explicit ConnectionLost(const std::string& message) : Error(Exit::board_unreachable, message) {}
};

// The host does not start a command; Exit::board_unreachable, with its reason.
class CommandRefused : public Error {
 public:
  explicit CommandRefused(const std::string& message) : Error(Exit::board_unreachable, message) {}
};

// A host sends more than it listed before, or was asked for, and than can have grown meanwhile;
// Exit::partial_data.
class TooMuchSent : public Error {
 public:
  explicit TooMuchSent(const std::string& message) : Error(Exit::partial_data, message) {}
};

// Of one listing of a host: entries, and bytes of their names and what describes them. A host that
// never ends its listing must not fill this machine.
inline constexpr std::size_t kMaxListedEntries = 250'000;
inline constexpr std::size_t kMaxListingBytes = 32 << 20;

// End of a command: a code or a signal ("SEGV"); neither when the host did not report it.
struct CommandEnd {
  std::optional<int> exit_code;
  std::string signal;
};

// Receives what a stream of a command brings, in its order, from within wait(). It may throw; the
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
  // Sets the size of the terminal, when the user's has changed.
  virtual void resize(const SshTerminal& terminal) = 0;
  // Takes as much as the host is ready to take now, without waiting; returns the number of bytes.
  // After 0, call wait().
  virtual std::size_t write(std::string_view bytes) = 0;
  // Ends the input: the command reads an end of file.
  virtual void close_input() = 0;
  // Handles what arrives, for this and for every other command of the connection, until this one
  // has ended and its streams are drained, something was handled that makes another call of
  // write() worthwhile, or the limit is over. Empty while it runs.
  virtual std::optional<CommandEnd> wait(std::chrono::milliseconds limit) = 0;
  // Host's report so far of the end of the process itself, which comes before the end
  // of its streams where something that it started still holds them. Empty while it runs.
  virtual std::optional<CommandEnd> reported_end() const = 0;
};

enum class RemoteKind { file, folder, link, other };

struct RemoteEntry {
  std::string name;  // as the host gives it, not checked; never "." or ".."
  RemoteKind kind = RemoteKind::other;
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_seconds = 0;
  std::uint32_t mode = 0;  // permission bits
};

// Number of requests in flight, and length of each. OpenSSH answers a read above 261,120 bytes
// short without a word, and some small servers answer few at a time.
struct SftpWindow {
  int requests = 16;
  std::uint32_t bytes = 32 << 10;
};

// Reading, writing and listing files of a host over SFTP. Names come from the host as they are:
// whoever makes local paths of them checks them first.
//
// Every function throws Error(partial_data) naming the file and the host's reason, TooMuchSent
// where a folder has more than kMaxListedEntries, ConnectionLost when the connection is gone.
class SftpFiles {
 public:
  virtual ~SftpFiles() = default;
  // Waits for the host's answer that it has the service; false where it has none, and then nothing
  // else may be called.
  virtual bool agree() = 0;
  // Sends what the host takes by now of what it is to be asked, for an agree() that comes later.
  virtual void send_waiting() = 0;
  virtual std::vector<RemoteEntry> list(const std::string& folder) = 0;
  // Reads a regular file from front to end, as long as it gives bytes (it may grow meanwhile), at
  // most `most_bytes`. Returns how many came.
  std::uint64_t read(const std::string& path, std::uint64_t most_bytes,
                     const std::function<void(std::string_view)>& sink) {
    return read_from(path, 0, most_bytes, sink);
  }
  // Likewise from the byte `from` on, up to the byte `most_bytes`. Returns where it ended.
  virtual std::uint64_t read_from(const std::string& path, std::uint64_t from,
                                  std::uint64_t most_bytes,
                                  const std::function<void(std::string_view)>& sink) = 0;
  // Makes or replaces a file; `source` fills its buffer and returns 0 at the end.
  virtual void write(const std::string& path, std::uint32_t mode,
                     const std::function<std::size_t(char* buffer, std::size_t size)>& source) = 0;
  virtual void set_times(const std::string& path, std::int64_t mtime_seconds) = 0;
  // Creates a folder; no error when it is there.
  virtual void make_folder(const std::string& path, std::uint32_t mode) = 0;
  virtual void make_link(const std::string& path, const std::string& target) = 0;
  virtual void set_window(SftpWindow window) = 0;
};

class SshConnection {
 public:
  // Connects, over the jump hosts one by one, checks the host key and logs in: none, agent, the
  // given keys, default keys, keyboard-interactive, password. Throws ConnectFailure with a sentence
  // on what to do, Error(usage) for a given key that cannot be used, Error(interrupted)
  // on Ctrl-C.
  static std::unique_ptr<SshConnection> open(const SshLogin& login);
  virtual ~SshConnection() = default;

  // Way of the login, for messages: "no password", "agent", "key /x/y", "password" …
  virtual std::string login_method() const = 0;

  // Starts `command`, which the account's login shell reads, on a terminal if one is given. Throws
  // CommandRefused.
  virtual std::unique_ptr<SshCommand> start(
      const std::string& command, StreamSink on_stdout, StreamSink on_stderr,
      const std::optional<SshTerminal>& terminal = std::nullopt) = 0;

  // Likewise without waiting for the host, so that several may be asked for in one round trip:
  // wait() throws CommandRefused. Input may follow at once.
  virtual std::unique_ptr<SshCommand> begin(const std::string& command, StreamSink on_stdout,
                                            StreamSink on_stderr) = 0;
  // False where each command that runs beside another needs a login of its own.
  virtual bool runs_side_by_side() const = 0;

  // Opens the file service of the host; null if it has none. Lives no longer than the connection.
  std::unique_ptr<SftpFiles> sftp();
  // Likewise without waiting for the host; its agree() says whether there is one.
  virtual std::unique_ptr<SftpFiles> begin_sftp() = 0;
};

}  // namespace msprof
