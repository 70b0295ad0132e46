// SshConnection: a login on a host, and access to its commands and files. Used by the board module
// and doctor; only this folder includes libssh. Not thread-safe: use a connection from one thread
// only.
//
// No function waits without a limit (SshPatience). If the connection is lost, the machine is silent
// or its SSH server is stuck, the current call throws ConnectionLost; after that the object can
// only be destroyed.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "ssh/secret.hpp"

namespace msprof {

class RunHosts;

// Policy for an unknown host key. A key that differs from the known one ends the connection under
// every policy except `off`; a key that changes within a run ends it under every policy.
enum class HostKeyPolicy {
  known_only,  // refuse, even on a terminal
  strict,      // ask on a terminal, otherwise refuse
  accept_new,  // accept and remember
  off,         // accept the first key of a run unchecked, and remember none
};

// Completed steps of a login, in this order.
enum class LoginStep { connected, agreed, host_key_taken, logged_in };

// Time after which a silent host counts as lost. Changed only by tests.
struct SshPatience {
  // For TCP, and for each answer of the server to a request.
  double silence_seconds = 20;
  // For the SSH server while TCP still answers. It is probed after `ask_seconds`, which must be
  // longer than silence_seconds: sending restarts TCP's own timer, which detects a dead machine.
  double ask_seconds = 21;
  double stuck_seconds = 30;
};

// Host, account, and trust in its host key.
struct SshLogin {
  std::string host;  // name or address; IPv6 without brackets
  std::uint16_t port = 22;
  std::string user;
  std::filesystem::path key;  // private key file; empty: none given
  // More keys to try, from ssh's configuration; missing files are skipped.
  std::vector<std::filesystem::path> more_keys;
  // Certificates for these keys; KEY-cert.pub next to a key is found automatically.
  std::vector<std::filesystem::path> certificates;
  bool uses_default_keys = true;  // also try the default keys in `ssh_folder`
  bool uses_agent = true;
  HostKeyPolicy host_key = HostKeyPolicy::strict;
  double connect_timeout_seconds = 10;  // for connecting and for every answer during login
  SshPatience patience;                 // after the login
  SecretSource password;                // used if all other methods failed
  // Returns the source of the passphrase for an encrypted key that the host accepts; may be empty.
  std::function<SecretSource(const std::filesystem::path& key)> passphrase;
  // Called after each completed step, if set.
  std::function<void(LoginStep)> on_step;
  // Folder of known_hosts and the default keys; empty: ~/.ssh.
  std::filesystem::path ssh_folder;
  // Files of known host keys; new keys are added to the first. Empty: the default files.
  std::vector<std::filesystem::path> known_hosts;
  std::string host_key_alias;  // name in known_hosts; empty: host and port
  // Jump hosts, each with a separate login; the first is reached from this machine and the last
  // reaches `host`.
  std::vector<SshLogin> jumps;
  std::string role = "board";  // used in messages, e.g. "jump host"
  // Possible login methods, named in the message if none of them was available.
  std::string own_ways =
      "a key that the board accepts (key in the ini, an agent), or a password (--password-stdin, "
      "MSPROF_SSH_PASSWORD, pwd in the ini)";
  // Name of the host in ssh's configuration, for messages; empty: `host` is the name that the user
  // gave.
  std::string alias;
  // Options for ssh and scp to use the same route, for commands that users copy: "-J a,b ".
  std::string ssh_options;
  // What the run knows about its hosts, shared by copies of the login. Null: each open() is a
  // separate run.
  std::shared_ptr<RunHosts> run_hosts;

  // The host name as given by the user.
  const std::string& shown_host() const { return alias.empty() ? host : alias; }
  // Returns "root@192.168.1.10", followed by ":2222" if the port is not 22.
  std::string name() const;
  // Returns "jump@10.0.0.1, jump@10.0.0.2"; empty without jump hosts.
  std::string way() const;
};

// The connection could not be established; Exit::board_unreachable.
class ConnectFailure : public Error {
 public:
  enum class Why {
    unreachable,  // no answer, or the connection was lost: a retry may help
    unanswered,   // lost after a password was sent or a key was refused: it may be a refusal
    refused,      // the login, or something it requires, was refused
    host_key,     // unknown, changed or revoked; nothing was sent
  };
  ConnectFailure(Why why, const std::string& message)
      : Error(Exit::board_unreachable, message), why_(why) {}
  Why why() const { return why_; }
  // Returns true if a retry is allowed: the login was not surely refused, and the host key is not
  // in doubt.
  bool may_be_repeated() const { return why_ == Why::unreachable || why_ == Why::unanswered; }

 private:
  Why why_;
};

// Exit::board_unreachable; the message names what was lost and why.
class ConnectionLost : public Error {
 public:
  explicit ConnectionLost(const std::string& message) : Error(Exit::board_unreachable, message) {}
};

// The host refused to start a command; Exit::board_unreachable, with its reason.
class CommandRefused : public Error {
 public:
  explicit CommandRefused(const std::string& message) : Error(Exit::board_unreachable, message) {}
};

// A host sent more than was listed or requested, plus an allowance for growth; Exit::partial_data.
class TooMuchSent : public Error {
 public:
  explicit TooMuchSent(const std::string& message) : Error(Exit::partial_data, message) {}
};

// Limits for one listing of a host: number of entries, and total size of names and attributes.
// Protects this machine from an endless listing.
inline constexpr std::size_t kMaxListedEntries = 250'000;
inline constexpr std::size_t kMaxListingBytes = 32 << 20;

// Exit code or signal ("SEGV") of a command; neither is set if the host did not report it.
struct CommandEnd {
  std::optional<int> exit_code;
  std::string signal;
};

// Receives the data of a stream of a command, in order, during wait(). An exception that it throws
// is thrown by wait().
using StreamSink = std::function<void(std::string_view bytes)>;

// A terminal on the host for a command.
struct SshTerminal {
  std::string type = "dumb";  // for TERM
  int columns = 80;
  int rows = 24;
};

// A command on the host with separate stdout and stderr; on a terminal all output is on stdout, and
// lines end with "\r\n". The destructor closes the channel but does not end the process.
class SshCommand {
 public:
  virtual ~SshCommand() = default;
  // Also false if the host refused a requested terminal.
  virtual bool has_terminal() const = 0;
  // Resizes the remote terminal after the user's was resized.
  virtual void resize(const SshTerminal& terminal) = 0;
  // Sends as much as the host accepts now, without waiting; returns the number of bytes. After 0,
  // call wait().
  virtual std::size_t write(std::string_view bytes) = 0;
  // Closes the input: the command reads an end of file.
  virtual void close_input() = 0;
  // Handles arriving data, for this and all other commands of the connection, until this command
  // has ended and its streams are drained, or write() can accept more, or the limit is reached.
  // Returns nullopt while the command runs.
  virtual std::optional<CommandEnd> wait(std::chrono::milliseconds limit) = 0;
  // Returns the end of the process itself, if the host reported it; nullopt while it runs. It may
  // precede the end of the streams if a child process still holds them.
  virtual std::optional<CommandEnd> reported_end() const = 0;
};

enum class RemoteKind { file, folder, link, other };

struct RemoteEntry {
  std::string name;  // as sent by the host, unchecked; never "." or ".."
  RemoteKind kind = RemoteKind::other;
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_seconds = 0;
  std::uint32_t mode = 0;  // permission bits
};

// Number of requests in flight, and length of each. OpenSSH silently truncates reads above 261,120
// bytes, and some small servers handle few requests at a time.
struct SftpWindow {
  int requests = 16;
  std::uint32_t bytes = 32 << 10;
};

// Reads, writes and lists files of a host over SFTP. Names from the host are not checked: check
// them before using them as local paths.
//
// Every function throws Error(partial_data) with the file and the host's reason, TooMuchSent if a
// folder has more than kMaxListedEntries, ConnectionLost if the connection is lost.
class SftpFiles {
 public:
  virtual ~SftpFiles() = default;
  // Waits for the host to confirm that it has the service; returns false if not: then call no other
  // function.
  virtual bool agree() = 0;
  // Sends as much of the queued requests as the host accepts now, for a later agree().
  virtual void send_waiting() = 0;
  virtual std::vector<RemoteEntry> list(const std::string& folder) = 0;
  // Reads a regular file (which may grow meanwhile) to its end, at most `most_bytes`. Returns the
  // number of bytes read.
  std::uint64_t read(const std::string& path, std::uint64_t most_bytes,
                     const std::function<void(std::string_view)>& sink) {
    return read_from(path, 0, most_bytes, sink);
  }
  // Reads from offset `from` up to offset `most_bytes`. Returns the offset where it ended.
  virtual std::uint64_t read_from(const std::string& path, std::uint64_t from,
                                  std::uint64_t most_bytes,
                                  const std::function<void(std::string_view)>& sink) = 0;
  // Creates or replaces a file; `source` fills its buffer and returns 0 at the end.
  virtual void write(const std::string& path, std::uint32_t mode,
                     const std::function<std::size_t(char* buffer, std::size_t size)>& source) = 0;
  virtual void set_times(const std::string& path, std::int64_t mtime_seconds) = 0;
  // Creates a folder; an existing one is not an error.
  virtual void make_folder(const std::string& path, std::uint32_t mode) = 0;
  virtual void make_link(const std::string& path, const std::string& target) = 0;
  virtual void set_window(SftpWindow window) = 0;
};

class SshLoop;

class SshConnection {
 public:
  // Connects through the jump hosts, checks the host key and logs in. Methods, in this order: none,
  // agent, the given keys, default keys, keyboard-interactive, password. Throws ConnectFailure with
  // a remedy, Error(usage) if a given key cannot be used, Error(interrupted) on Ctrl-C.
  static std::unique_ptr<SshConnection> open(const SshLogin& login);
  // Ends the connection, also if commands still exist.
  ~SshConnection();
  SshConnection(const SshConnection&) = delete;
  SshConnection& operator=(const SshConnection&) = delete;

  // Login method for messages: "no password", "agent", "key /x/y", "password" …
  const std::string& login_method() const { return method_; }

  // Starts `command` through the account's login shell, on a terminal if one is given. Does not
  // wait for the host, so several commands share one round trip: wait() throws CommandRefused.
  // Input may be sent at once. Waits, and throws the refusal, only for a terminal or if each
  // concurrent command needs a separate login.
  std::unique_ptr<SshCommand> start(const std::string& command, const StreamSink& on_stdout,
                                    const StreamSink& on_stderr,
                                    const std::optional<SshTerminal>& terminal = std::nullopt);
  // Returns false if each concurrent command needs a separate login.
  bool runs_side_by_side() const;

  // Opens the SFTP service of the host; null if it has none. Must not outlive the connection.
  std::unique_ptr<SftpFiles> sftp();
  // Like sftp() without waiting for the host; agree() returns whether there is a service.
  std::unique_ptr<SftpFiles> begin_sftp();

 private:
  SshConnection(std::shared_ptr<SshLoop> loop, std::string method)
      : loop_(std::move(loop)), method_(std::move(method)) {}

  std::shared_ptr<SshLoop> loop_;
  std::string method_;
};

}  // namespace msprof
