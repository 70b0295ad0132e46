// Logging in to a board of the loopback and running commands there, in this process. For the tests
// of lib/ssh.
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
inline constexpr std::uint64_t kAll = ~0ULL;  // bytes of a file: to its end

// A stream sink that drops what it is given.
inline void ignore(std::string_view) {}

// The account of `board`, with its known_hosts and its password; no key, no agent.
SshLogin login_to(const BoardServer& board);
// The same through a proxy on `port`, whose host key is then not looked at.
SshLogin login_through(const BoardServer& board, std::uint16_t port);

// The text of the Error that `action` throws; fails the test when it throws none, or one with
// another code.
std::string error_of(Exit code, const std::function<void()>& action);
std::string lost_by(const std::function<void()>& action);  // ConnectionLost
std::string refusal_of(const SshLogin& login);             // of open()

struct Ran {
  std::string out;
  std::string err;
  CommandEnd end;
};

// Runs `command` with `input` to its end; throws after kHangLimit.
Ran run(SshConnection& connection, const std::string& command, std::string_view input = {});

// Waits for the end of a command; throws after kHangLimit.
CommandEnd end_of(SshCommand& command);

// sshd options that win over the fixture's; the board is started again.
void reconfigure(BoardServer& board, const std::string& sshd_options);

// A program of this machine that must succeed; its stdout.
std::string tool(const std::string& shell_command);

// Bytes that repeat late, so that a lost or doubled block shows.
std::string pattern(std::size_t size);

// An ssh-agent of its own, with a socket in a folder of its own, in SSH_AUTH_SOCK while it lives.
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
