// BoardServer: a board on the loopback, for the tests of everything over SSH. Runs a real sshd or
// dropbear on its own port, with the account `board` (the caller's user id, root or not), a home
// folder, a host key, and only the tools that the test selects.
//
//   BoardServer board({.kind = BoardKind::dropbear, .without = {"tar"}});
//   run_msprof({"collect", "--config", ini, ...}, {.variables = board.client_variables()});
//   CHECK(board.processes().empty());
//
// Throws with the name of a program that the machine does not have (sshd, dropbear, busybox,
// nss_wrapper), so that the test fails. The server ends with the thread that started it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/board_processes.hpp"
#include "support/loopback.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

enum class BoardKind { openssh, openssh_without_sftp, dropbear };  // dropbear has no SFTP either

enum class Userland { busybox, gnu };

struct BoardOptions {
  BoardKind kind = BoardKind::openssh;
  Userland userland = Userland::busybox;
  std::vector<std::string> without{};    // tools missing from its PATH: {"tar", "stat", "setsid"}
  std::string password = "blue;kite#7";  // empty: log in without a password
  bool password_login = true;
  bool key_login = true;         // accepts client_key()
  std::string greeting{};        // printed by the login shell before every command
  std::string banner{};          // shown by the server before the login
  std::filesystem::path home{};  // the account's home; empty: a folder of the fixture
  std::string login_shell{};     // "/bin/tcsh"; empty: the sh of its tools
};

class BoardServer {
 public:
  explicit BoardServer(const BoardOptions& options = {});
  // Kills the server, its processes and those of the account; removes the files.
  ~BoardServer();
  BoardServer(const BoardServer&) = delete;
  BoardServer& operator=(const BoardServer&) = delete;

  static std::string host() { return "127.0.0.1"; }
  static std::string user() { return "board"; }
  // Does not change with stop() and start(); refuses connections while stopped.
  std::uint16_t port() const { return port_.number(); }
  const std::string& password() const { return options_.password; }
  // "board@127.0.0.1:PORT"
  std::string address() const;
  // The text of a board.ini with ip, username, port and pwd; `more` is appended.
  std::string ini(std::string_view more = "") const;

  // The account's home folder. With dropbear it has a folder `.ssh` from the start.
  const std::filesystem::path& home() const { return home_; }
  std::filesystem::path tools() const { return folder_ / "tools"; }
  // Replaces a tool with a shell script, or adds one.
  void replace_tool(const std::string& name, const std::string& script);

  // The user's files: a HOME without a private key, whose .ssh/known_hosts has the board's key; and
  // a private key for `key =` or --key.
  std::filesystem::path client_home() const { return folder_ / "client"; }
  std::filesystem::path known_hosts() const { return client_home() / ".ssh" / "known_hosts"; }
  std::filesystem::path client_key() const { return client_home() / "board_key"; }
  // Variables for RunOptions: HOME is client_home(), and there is no ssh agent.
  std::vector<std::pair<std::string, std::string>> client_variables() const;

  // "SHA256:…" of the board's current key.
  std::string host_key_fingerprint() const;
  // Removes known_hosts, as if the user had never connected to the board.
  void forget_host_key() const;
  // Gives the board another key; known_hosts is unchanged.
  void change_host_key();

  // Like pulling the plug: immediately kills the server, its connections and the account's
  // processes.
  void stop();
  void start();
  // Closes the server's side of all connections immediately; the server and the account's processes
  // continue.
  void drop_connections() const;

  // Returns all current processes of the account, however started and even if orphaned; without the
  // server's own processes and zombies.
  std::vector<BoardProcess> processes() const;
  // Number of the server's current connections, logged in or not.
  std::size_t connections() const { return established_connections(port()); }
  // The server's output since its first start.
  std::string log() const;

 private:
  void make_client() const;
  void remember_host_key() const;
  void wait_until_it_listens();
  std::vector<BoardProcess> all_processes() const;
  BoardOptions options_;
  TempFolder folder_;
  std::filesystem::path home_;
  ReservedPort port_;
  pid_t server_ = 0;  // 0: stopped
};

// One line per process, for a message.
std::string describe(const std::vector<BoardProcess>& processes);

}  // namespace msprof::test
