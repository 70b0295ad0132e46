// Logs in to a board on the loopback and runs commands there, in this process. For tests of
// lib/ssh.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ssh/ssh_connection.hpp"
#include "support/board_server.hpp"
#include "support/lines.hpp"
#include "support/temp_folder.hpp"
#include "support/variable.hpp"

namespace msprof::test {

inline constexpr BoardKind kBothServers[] = {BoardKind::openssh, BoardKind::dropbear};
inline constexpr std::uint64_t kAll = ~0ULL;  // reads a file to its end

// Stream sink that discards its input.
inline void ignore(std::string_view) {}

// Login for the account of `board` with known_hosts and password, without keys or agent.
SshLogin login_to(const BoardServer& board);
// The same through a proxy on `port`; the host key is not checked.
SshLogin login_through(const BoardServer& board, std::uint16_t port);

// Returns the text of the Error that `action` throws; fails the test if it does not throw or has
// another code.
std::string thrown_message(Exit code, const std::function<void()>& action);
std::string lost_by(const std::function<void()>& action);  // for ConnectionLost
std::string login_refusal(const SshLogin& login);          // for open()

struct Ran {
  std::string out;
  std::string err;
  CommandEnd end;
};

// Runs `command` with `input` to completion; throws after kHangLimit.
Ran run(SshConnection& connection, const std::string& command, std::string_view input = {});

// Waits until a command ends; throws after kHangLimit.
CommandEnd wait_for_end(SshCommand& command);

// Restarts the board with sshd options that override the fixture's.
void reconfigure(BoardServer& board, const std::string& sshd_options);

// Runs a program of this machine, requires success, and returns its stdout.
std::string tool(const std::string& shell_command);

// Returns bytes with a long period, so that a lost or doubled block is detected.
std::string pattern(std::size_t size);

// Runs a separate ssh-agent with a socket in a temporary folder; sets SSH_AUTH_SOCK for its
// lifetime.
class Agent {
 public:
  Agent();
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  void add(const std::filesystem::path& key) const;

 private:
  TempFolder folder_;
  pid_t pid_ = 0;
  std::optional<Variable> variable_;
};

}  // namespace msprof::test
