#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "ssh/host_key.hpp"
#include "ssh/run_hosts.hpp"
#include "ssh_fixture.hpp"
#include "support/files.hpp"
#include "support/typed_terminal.hpp"

using namespace msprof;
using namespace msprof::test;

namespace fs = std::filesystem;

namespace {

mode_t file_mode(const fs::path& file) {
  struct stat status = {};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  return status.st_mode & 0777;
}

std::string host_line(const BoardServer& board, const std::string& key_file) {
  return "[127.0.0.1]:" + std::to_string(board.port()) + " " + read_file(key_file);
}

fs::path etc_folder(const BoardServer& board) {
  return board.tools().parent_path() / "etc";
}

std::string new_key(const fs::path& file, const std::string& type) {
  tool("ssh-keygen -q -t " + type + " -N '' -f '" + file.string() + "'");
  return file.string() + ".pub";
}

std::string key_fingerprint(const std::string& public_key) {
  const std::string line = tool("ssh-keygen -lf '" + public_key + "'");
  const auto begin = line.find(' ') + 1;
  return line.substr(begin, line.find(' ', begin) - begin);
}

// Logins of one run; counts requests for the password.
struct RunLogin {
  explicit RunLogin(const BoardServer& board) : login(login_to(board)) {
    login.run_hosts = std::make_shared<RunHosts>();
    login.password.first = [this, source = login.password.first] {
      ++asked;
      return source();
    };
  }
  // Returns the reason why a connection is refused.
  std::string host_key_refusal() const {
    try {
      SshConnection::open(login);
    } catch (const ConnectFailure& failure) {
      CHECK(failure.why() == ConnectFailure::Why::host_key);
      CHECK_FALSE(failure.may_be_repeated());
      return failure.what();
    }
    FAIL("a connection was made");
    return {};
  }
  SshLogin login;
  int asked = 0;
};

struct Question {
  explicit Question(const BoardServer& board, const TerminalOptions& options = {})
      : terminal(OPEN_HELPER,
                 {std::to_string(board.port()), board.known_hosts().parent_path().string(),
                  board.client_key().string()},
                 options) {}
  TypedTerminal terminal;
};

}  // namespace

TEST_CASE("A known host key is accepted silently, and the file is unchanged") {
  const BoardServer board;
  const std::string before = fingerprint(board.client_home());
  CHECK(SshConnection::open(login_to(board)) != nullptr);
  CHECK(fingerprint(board.client_home()) == before);
}

TEST_CASE("An unknown host key is refused without a terminal, and nothing is remembered") {
  const BoardServer board;
  board.forget_host_key();
  SshLogin login = login_to(board);
  bool asked = false;
  login.password.first = [&]() -> std::optional<Secret> {
    asked = true;
    return std::nullopt;
  };
  const std::string text = login_refusal(login);
  INFO(text);
  CHECK(contains(text, "host key"));
  CHECK(contains(text, board.host_key_fingerprint()));
  CHECK(contains(text, "--host-key accept-new"));
  CHECK_FALSE(asked);
  CHECK_FALSE(fs::exists(board.known_hosts()));
}

TEST_CASE("accept-new stores an unknown host key once, readable only by its owner") {
  for (const BoardKind kind : {BoardKind::openssh, BoardKind::dropbear}) {
    const BoardServer board({.kind = kind});
    fs::remove_all(board.known_hosts().parent_path());
    SshLogin login = login_to(board);
    login.host_key = HostKeyPolicy::accept_new;
    CHECK(SshConnection::open(login) != nullptr);
    CHECK(file_mode(board.known_hosts()) == 0600);
    CHECK(file_mode(board.known_hosts().parent_path()) == 0700);
    const std::string text = read_file(board.known_hosts());
    CHECK(text.starts_with("[127.0.0.1]:" + std::to_string(board.port()) + " ssh-ed25519 AAAA"));
    CHECK(std::count(text.begin(), text.end(), '\n') == 1);
    // ssh itself finds the key there.
    CHECK(contains(tool("ssh-keygen -F '[127.0.0.1]:" + std::to_string(board.port()) + "' -f '" +
                        board.known_hosts().string() + "'"),
                   "ssh-ed25519"));
    CHECK(SshConnection::open(login) != nullptr);
    login.host_key = HostKeyPolicy::strict;
    CHECK(SshConnection::open(login) != nullptr);
    CHECK(read_file(board.known_hosts()) == text);
  }
}

TEST_CASE("A line is appended after an unterminated last line") {
  const BoardServer board;
  const std::string other =
      "other.example ssh-ed25519 "
      "AAAAC3NzaC1lZDI1NTE5AAAAIEFjqcZYBKzNkUwxmUjST2s/38FqvganSLS0x2dvocOl";
  write_file(board.known_hosts(), other);
  SshLogin login = login_to(board);
  login.host_key = HostKeyPolicy::accept_new;
  CHECK(SshConnection::open(login) != nullptr);
  CHECK(read_file(board.known_hosts()).starts_with(other + "\n[127.0.0.1]:"));
}

TEST_CASE("Programs that store the same host concurrently add one line") {
  const TempFolder folder;
  const fs::path file = folder / "ssh/known_hosts";
  const HostKey key{"ssh-ed25519",
                    "AAAAC3NzaC1lZDI1NTE5AAAAIEFjqcZYBKzNkUwxmUjST2s/38FqvganSLS0x2dvocOl", ""};
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(::fork());
    if (children.back() == 0) ::_exit(KnownHosts("Board", {file}).remember(key));
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK(read_file(file) == "board " + key.type + " " + key.base64 + "\n");
}

TEST_CASE("A changed host key stops with both fingerprints, file and line, under every policy") {
  for (const HostKeyPolicy policy : {HostKeyPolicy::strict, HostKeyPolicy::accept_new}) {
    BoardServer board;
    const std::string old = board.host_key_fingerprint();
    write_file(board.known_hosts(), "# a comment\n\n" + read_file(board.known_hosts()));
    board.change_host_key();
    const std::string before = read_file(board.known_hosts());
    SshLogin login = login_to(board);
    login.host_key = policy;
    bool asked = false;
    login.password.first = [&]() -> std::optional<Secret> {
      asked = true;
      return std::nullopt;
    };
    const std::string text = login_refusal(login);
    INFO(text);
    CHECK(contains(text, "host key"));
    CHECK(contains(text, "known is " + old));
    CHECK(contains(text, "presented was " + board.host_key_fingerprint()));
    CHECK(old != board.host_key_fingerprint());
    CHECK(contains(text, board.known_hosts().string() + ", line 3"));
    CHECK(contains(text, "ssh-keygen -f '" + board.known_hosts().string() +
                             "' -R '[127.0.0.1]:" + std::to_string(board.port()) + "'"));
    CHECK_FALSE(asked);
    CHECK(read_file(board.known_hosts()) == before);
  }
}

TEST_CASE("The remedy for a changed host key works") {
  BoardServer board;
  board.change_host_key();
  SshLogin login = login_to(board);
  login.host_key = HostKeyPolicy::accept_new;
  const std::string text = login_refusal(login);
  const auto begin = text.find("ssh-keygen");
  tool(text.substr(begin, text.find(", then") - begin) + " 2>&1");
  CHECK(SshConnection::open(login) != nullptr);
}

TEST_CASE("Hashed names in known_hosts are matched, known and changed") {
  BoardServer board;
  tool("ssh-keygen -q -H -f '" + board.known_hosts().string() + "' 2>&1");
  CHECK(read_file(board.known_hosts()).starts_with("|1|"));
  CHECK(SshConnection::open(login_to(board)) != nullptr);
  const std::string old = board.host_key_fingerprint();
  board.change_host_key();
  const std::string text = login_refusal(login_to(board));
  INFO(text);
  CHECK(contains(text, "known is " + old));
  CHECK(contains(text, ", line 1"));
}

TEST_CASE("Patterns, tabs, CRLF and invalid lines in known_hosts are handled") {
  const BoardServer board;
  const std::string key = read_file(etc_folder(board) / "host_key.pub");
  const auto space = key.find(' ');
  const std::string tabbed = key.substr(0, space) + "\t" + key.substr(space + 1, 68) + "\r\n";
  write_file(board.known_hosts(),
             "nonsense\n[127.0.0.*]:* not-a-type AAAA\n|1|x|y ssh-rsa A\n"
             "[127.0.0.*]:" +
                 std::to_string(board.port()) + "\t" + tabbed);
  CHECK(SshConnection::open(login_to(board)) != nullptr);
}

TEST_CASE("Keys of other ports and hosts are ignored") {
  const BoardServer board;
  const std::string key = read_file(etc_folder(board) / "host_key.pub");
  write_file(board.known_hosts(), "127.0.0.1 " + key + "[127.0.0.1]:1 " + key);
  CHECK(contains(login_refusal(login_to(board)), "unknown host key"));
}

TEST_CASE("If the board has several host keys, the known type is requested") {
  BoardServer board;
  const fs::path rsa = etc_folder(board) / "rsa_key";
  const std::string public_key = new_key(rsa, "rsa -b 2048");
  reconfigure(board, "HostKey " + rsa.string());
  write_file(board.known_hosts(), host_line(board, public_key));
  CHECK(SshConnection::open(login_to(board)) != nullptr);
  const fs::path ecdsa = etc_folder(board) / "ecdsa_key";
  write_file(board.known_hosts(), host_line(board, new_key(ecdsa, "ecdsa")));
  reconfigure(board, "HostKey " + ecdsa.string());
  CHECK(SshConnection::open(login_to(board)) != nullptr);
}

TEST_CASE("A host known by another key type counts as changed") {
  const BoardServer board;
  const TempFolder folder;
  const std::string public_key = new_key(folder / "rsa", "rsa -b 2048");
  write_file(board.known_hosts(), host_line(board, public_key));
  SshLogin login = login_to(board);
  login.host_key = HostKeyPolicy::accept_new;
  const std::string text = login_refusal(login);
  INFO(text);
  CHECK(contains(text, key_fingerprint(public_key) + " (ssh-rsa)"));
  CHECK(contains(text, board.host_key_fingerprint() + " (ssh-ed25519)"));
}

TEST_CASE("A revoked host key is refused under every policy except off") {
  const BoardServer board;
  const std::string line = read_file(board.known_hosts());
  write_file(board.known_hosts(),
             line + "@revoked * " + read_file(etc_folder(board) / "host_key.pub"));
  SshLogin login = login_to(board);
  login.host_key = HostKeyPolicy::accept_new;
  const std::string text = login_refusal(login);
  INFO(text);
  CHECK(contains(text, "revoked"));
  CHECK(contains(text, ", line 2"));
}

TEST_CASE("The policy off checks and stores nothing") {
  BoardServer board;
  board.change_host_key();
  SshLogin login = login_to(board);
  login.host_key = HostKeyPolicy::off;
  const std::string before = fingerprint(board.client_home());
  CHECK(SshConnection::open(login) != nullptr);
  board.forget_host_key();
  CHECK(SshConnection::open(login) != nullptr);
  CHECK_FALSE(fs::exists(board.known_hosts()));
}

TEST_CASE("The first accepted key of a run stays valid, whatever the files and the policy") {
  const bool remembers = GENERATE(false, true);
  const HostKeyPolicy policy = GENERATE(HostKeyPolicy::accept_new, HostKeyPolicy::off);
  BoardServer board;
  board.forget_host_key();
  RunLogin run(board);
  run.login.host_key = policy;
  if (!remembers) run.login.known_hosts = {"/dev/null"};
  CHECK(SshConnection::open(run.login) != nullptr);
  CHECK(SshConnection::open(run.login) != nullptr);
  CHECK(run.asked == 2);
  const std::string accepted = board.host_key_fingerprint();
  board.change_host_key();
  // Another process accepts the new key meanwhile.
  write_file(board.known_hosts(), host_line(board, etc_folder(board) / "host_key.pub"));
  const std::string text = run.host_key_refusal();
  INFO(text);
  CHECK(contains(text, "the host key changed during the run"));
  CHECK(contains(text, "accepted was " + accepted));
  CHECK(contains(text, "presented was " + board.host_key_fingerprint()));
  CHECK(run.asked == 2);
  // Another run is not affected.
  CHECK(SshConnection::open(login_to(board)) != nullptr);
}

TEST_CASE("The host key accepted by the run is requested from a board with several keys") {
  BoardServer board;
  board.forget_host_key();
  RunLogin run(board);
  run.login.host_key = HostKeyPolicy::accept_new;
  run.login.known_hosts = {"/dev/null"};
  const fs::path ecdsa = etc_folder(board) / "ecdsa_key";
  new_key(ecdsa, "ecdsa");
  // At first the board has only this key, later also a preferred one.
  const fs::path other = etc_folder(board) / "host_key";
  const std::string config = read_file(etc_folder(board) / "sshd_config");
  std::string alone = config;
  const auto at = alone.find("HostKey");
  REQUIRE(at != std::string::npos);
  alone.replace(at, alone.find('\n', at) - at, "HostKey " + ecdsa.string());
  board.stop();
  write_file(etc_folder(board) / "sshd_config", alone);
  board.start();
  CHECK(SshConnection::open(run.login) != nullptr);
  board.stop();
  write_file(etc_folder(board) / "sshd_config", "HostKey " + ecdsa.string() + "\n" + config);
  board.start();
  CHECK(SshConnection::open(run.login) != nullptr);
}

TEST_CASE("An unwritable known_hosts only causes a warning") {
  const BoardServer board;
  SshLogin login = login_to(board);
  login.ssh_folder = board.client_home() / "file";
  write_file(login.ssh_folder, "a file where the folder should be");
  login.host_key = HostKeyPolicy::accept_new;
  CHECK(SshConnection::open(login) != nullptr);
}

TEST_CASE("On a terminal an unknown host key is confirmed with yes and stored") {
  const BoardServer board;
  board.forget_host_key();
  Question question(board);
  REQUIRE(question.terminal.wait_for("(yes/no)"));
  CHECK(contains(question.terminal.screen(), board.host_key_fingerprint()));
  question.terminal.type("perhaps\r");
  question.terminal.type("yes\r");
  const RunResult result = question.terminal.wait();
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.out == "key " + board.client_key().string() + "\n");
  CHECK(fs::exists(board.known_hosts()));
}

TEST_CASE("No, end of input and Ctrl-C refuse the key and store nothing") {
  const std::pair<const char*, int> answers[] = {{"no\r", 6}, {"\x04", 6}, {"\x03", 130}};
  for (const auto& [keys, code] : answers) {
    const BoardServer board;
    board.forget_host_key();
    Question question(board);
    REQUIRE(question.terminal.wait_for("(yes/no)"));
    question.terminal.type(keys);
    const RunResult result = question.terminal.wait();
    INFO(result.err);
    CHECK(result.exit_code == code);
    CHECK_FALSE(fs::exists(board.known_hosts()));
  }
}

TEST_CASE("Entering the fingerprint also accepts the key") {
  const BoardServer board;
  board.forget_host_key();
  Question question(board);
  REQUIRE(question.terminal.wait_for("(yes/no)"));
  question.terminal.type(board.host_key_fingerprint() + "\r");
  CHECK(question.terminal.wait().exit_code == 0);
}

TEST_CASE("Without a terminal on stdin there is no prompt") {
  const BoardServer board;
  board.forget_host_key();
  Question question(board, {.stdin_is_it = false});
  const RunResult result = question.terminal.wait();
  INFO(result.err);
  CHECK(result.exit_code == 6);
  CHECK_FALSE(contains(result.err, "(yes/no)"));
}
