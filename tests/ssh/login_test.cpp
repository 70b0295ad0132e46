#include <catch2/catch.hpp>

#include "ssh_fixture.hpp"
#include "support/files.hpp"
#include "support/variable.hpp"

using namespace msprof;
using namespace msprof::test;

namespace fs = std::filesystem;

namespace {

void make_key(const fs::path& file, const std::string& options = "-t ed25519 -N ''") {
  tool("ssh-keygen -q " + options + " -f '" + file.string() + "'");
}

SshLogin without_password(const BoardServer& board) {
  SshLogin login = login_to(board);
  login.password.first = nullptr;
  return login;
}

}  // namespace

TEST_CASE("The name of a login has the port if it is not 22") {
  SshLogin login;
  login.user = "root";
  login.host = "192.168.1.10";
  CHECK(login.name() == "root@192.168.1.10");
  login.port = 2222;
  CHECK(login.name() == "root@192.168.1.10:2222");
  login.host = "fe80::1";
  CHECK(login.name() == "root@[fe80::1]:2222");
}

TEST_CASE("The password logs in to OpenSSH and to dropbear") {
  for (const BoardKind kind : kBothServers) {
    const BoardServer board({.kind = kind});
    const auto connection = SshConnection::open(login_to(board));
    CHECK(connection->login_method() == "password");
    CHECK(run(*connection, "echo here").out == "here\n");
  }
}

TEST_CASE("No password is requested for an account without one") {
  for (const BoardKind kind : kBothServers) {
    const BoardServer board({.kind = kind, .password = ""});
    SshLogin login = login_to(board);
    bool asked = false;
    login.password.first = [&]() -> std::optional<Secret> {
      asked = true;
      return std::nullopt;
    };
    const auto connection = SshConnection::open(login);
    CHECK(connection->login_method() == "no password");
    CHECK_FALSE(asked);
  }
}

TEST_CASE("The given key works, and no password is requested") {
  for (const BoardKind kind : kBothServers) {
    const BoardServer board({.kind = kind});
    SshLogin login = without_password(board);
    login.key = board.client_key();
    const auto connection = SshConnection::open(login);
    CHECK(connection->login_method() == "key " + board.client_key().string());
    CHECK(run(*connection, "echo here").out == "here\n");
  }
}

TEST_CASE("Keys of every type and format log in") {
  BoardServer board;
  const fs::path authorized = board.tools().parent_path() / "etc/authorized_keys";
  std::string lines;
  const std::string options[] = {"-t rsa -b 2048 -N ''", "-t rsa -b 2048 -m PEM -N ''",
                                 "-t ecdsa -b 256 -N ''", "-t ecdsa -b 521 -m PKCS8 -N ''"};
  std::vector<fs::path> keys;
  for (const auto& option : options) {
    keys.push_back(board.client_home() / ("key" + std::to_string(keys.size())));
    make_key(keys.back(), option);
    lines += read_file(keys.back().string() + ".pub");
  }
  write_file(authorized, lines);
  for (const auto& key : keys) {
    SshLogin login = without_password(board);
    login.key = key;
    CHECK(SshConnection::open(login)->login_method() == "key " + key.string());
  }
}

TEST_CASE("Default keys of the ssh folder are tried one by one") {
  const BoardServer board;
  SshLogin login = without_password(board);
  // A key unknown to the board, one with a passphrase, then the right one.
  make_key(login.ssh_folder / "id_ed25519");
  make_key(login.ssh_folder / "id_ecdsa", "-t ecdsa -N secret-phrase");
  fs::copy_file(board.client_key(), login.ssh_folder / "id_rsa");
  const auto connection = SshConnection::open(login);
  CHECK(connection->login_method() == "key " + (login.ssh_folder / "id_rsa").string());
}

TEST_CASE("The agent comes before keys and passwords") {
  const BoardServer board;
  const Agent agent;
  const fs::path other = board.client_home() / "other";
  make_key(other);
  agent.add(other);
  agent.add(board.client_key());
  SshLogin login = login_to(board);
  login.key = board.client_key();
  const auto connection = SshConnection::open(login);
  CHECK(connection->login_method() == "agent");
  CHECK(run(*connection, "echo here").out == "here\n");
}

TEST_CASE("An agent without the right key is skipped") {
  const BoardServer board;
  const Agent agent;
  const fs::path other = board.client_home() / "other";
  make_key(other);
  agent.add(other);
  CHECK(SshConnection::open(login_to(board))->login_method() == "password");
}

TEST_CASE("An agent with a dead socket is skipped") {
  const BoardServer board;
  const TempFolder folder;
  const Variable socket("SSH_AUTH_SOCK", folder / "nobody");
  const auto connection = SshConnection::open(login_to(board));
  CHECK(connection->login_method() == "password");
}

TEST_CASE("A refused password lists the tried methods and remedies, without the password") {
  for (const BoardKind kind : kBothServers) {
    const BoardServer board({.kind = kind});
    SshLogin login = login_to(board);
    int asked = 0;
    login.password.first = [&]() -> std::optional<Secret> {
      ++asked;
      return Secret("wrong;horse#1");
    };
    const std::string text = login_refusal(login);
    INFO(text);
    CHECK(asked == 1);
    CHECK(contains(text, board.address() + ": login refused; tried: password; "));
    CHECK(contains(text, "the board offers: publickey, password"));
    for (const char* way : {"key", "--password-stdin", "MSPROF_SSH_PASSWORD", "pwd"}) {
      CHECK(contains(text, way));
    }
    CHECK_FALSE(contains(text, "horse"));
  }
}

TEST_CASE("An interactive password source is asked three times, and the valid one is kept") {
  for (const BoardKind kind : kBothServers) {
    const BoardServer board({.kind = kind});
    SshLogin login = login_to(board);
    std::string asked;
    const auto answer = [&](const char* which, const std::string& text) {
      return [&asked, which, text]() -> std::optional<Secret> {
        asked += which;
        return Secret(std::string(text));
      };
    };
    login.password = {answer("f", "wrong;horse#1"), answer("a", "wrong;horse#2")};
    const std::string text = login_refusal(login);
    INFO(text);
    CHECK(asked == "faa");
    CHECK(contains(text, "tried: password (3 times);"));
    CHECK_FALSE(contains(text, "horse"));
    asked.clear();
    login.password.again = answer("a", board.password());
    const auto connection = SshConnection::open(login);
    CHECK(asked == "fa");
    // dropbear uses a session per command: the second session does not ask again.
    const auto first = connection->start("sleep 1000", {}, {});
    CHECK(run(*connection, "echo here").out == "here\n");
    CHECK(asked == "fa");
  }
}

TEST_CASE("End of input instead of another password ends the login") {
  const BoardServer board;
  SshLogin login = login_to(board);
  login.password.first = [] { return Secret("wrong;horse#1"); };
  login.password.again = []() -> std::optional<Secret> { return std::nullopt; };
  CHECK(contains(login_refusal(login), "tried: password;"));
}

TEST_CASE("An unknown user looks like a wrong password") {
  const BoardServer board;
  SshLogin login = login_to(board);
  login.user = "nobody-here";
  const std::string text = login_refusal(login);
  INFO(text);
  CHECK(contains(text, "check the user name and the password."));
  CHECK_FALSE(contains(text, board.password()));
}

TEST_CASE("A key that the board refuses is reported, and the password is tried next") {
  const BoardServer board;
  SshLogin login = login_to(board);
  login.key = board.client_home() / "other";
  make_key(login.key);
  CHECK(SshConnection::open(login)->login_method() == "password");
  login.password.first = nullptr;
  const std::string text = login_refusal(login);
  INFO(text);
  CHECK(contains(text, "tried: key " + login.key.string() + ";"));
}

TEST_CASE("No password is requested if the board does not accept any") {
  const BoardServer board({.password_login = false});
  SshLogin login = login_to(board);
  bool asked = false;
  login.password.first = [&]() -> std::optional<Secret> {
    asked = true;
    return Secret("x");
  };
  const std::string text = login_refusal(login);
  INFO(text);
  CHECK(contains(text, "the board offers: publickey;"));
  CHECK_FALSE(asked);
}

TEST_CASE("The passphrase of a given key is requested three times if the board accepts the key") {
  const BoardServer board;
  const std::string key = (board.client_home() / "locked").string();
  for (const char* options : {"-t ed25519", "-t rsa -b 2048 -m PEM"}) {
    INFO(options);
    fs::remove(key);
    make_key(key, std::string(options) + " -N 'a phrase'");
    SshLogin login = without_password(board);
    login.key = key;
    std::string asked;
    std::string right = "not it";
    SecretSource typed;
    typed.first = [&] {
      asked += "f";
      return Secret("mis;typed");
    };
    typed.again = [&] {
      asked += "a";
      return Secret(std::string(right));
    };
    login.passphrase = [&](const fs::path&) { return typed; };
    const fs::path authorized = board.tools().parent_path() / "etc/authorized_keys";
    const std::string before = read_file(authorized);
    std::string text = login_refusal(login);
    CHECK(asked.empty());
    CHECK(contains(text, "tried: key " + key + ";"));
    write_file(authorized, before + read_file(key + ".pub"));
    text = login_refusal(login);
    INFO(text);
    CHECK(asked == "faa");
    CHECK(contains(text, "none of the passphrases unlocks the key " + key));
    CHECK_FALSE(contains(text, "mis;typed"));
    right = "a phrase";
    asked.clear();
    CHECK(SshConnection::open(login)->login_method() == "key " + key);
    CHECK(asked == "fa");
    write_file(authorized, before);
  }
}

TEST_CASE("Without a terminal a key with a passphrase needs an agent") {
  const BoardServer board;
  SshLogin login = without_password(board);
  for (const char* options : {"-t ed25519 -N phrase", "-t rsa -b 2048 -m PEM -N phrase"}) {
    login.key = board.client_home() / "locked";
    fs::remove(login.key);
    make_key(login.key, options);
    const std::string text = login_refusal(login);
    INFO(text);
    CHECK(contains(text, "the key " + login.key.string() + " has a passphrase"));
    CHECK(contains(text, "ssh-add"));
  }
}

TEST_CASE("An unusable given key is reported before connecting") {
  const BoardServer board;
  SshLogin login = login_to(board);
  login.port = 1;
  login.key = board.client_home() / "nowhere";
  std::string text = thrown_message(Exit::usage, [&] { SshConnection::open(login); });
  CHECK(contains(text, "cannot read the key " + login.key.string() + ": No such file"));
  login.key = board.client_key().string() + ".pub";
  text = thrown_message(Exit::usage, [&] { SshConnection::open(login); });
  CHECK(contains(text, "is not a usable private key"));
  CHECK(contains(text, "without .pub"));
  login.key = board.client_home();
  text = thrown_message(Exit::usage, [&] { SshConnection::open(login); });
  CHECK(contains(text, "cannot read the key"));
}

TEST_CASE("An agent with too many keys is skipped in a second attempt") {
  BoardServer board;
  reconfigure(board, "MaxAuthTries 3");
  const Agent agent;
  for (int i = 0; i < 4; ++i) {
    const fs::path key = board.client_home() / ("many" + std::to_string(i));
    make_key(key);
    agent.add(key);
  }
  SshLogin login = login_to(board);
  CHECK(SshConnection::open(login)->login_method() == "password");
  login.key = board.client_key();
  CHECK(SshConnection::open(login)->login_method() == "key " + login.key.string());
}

TEST_CASE("A board that ends the login is reported, with the tried methods") {
  BoardServer board;
  reconfigure(board, "MaxAuthTries 1");
  SshLogin login = login_to(board);
  login.key = board.client_home() / "other";
  make_key(login.key);
  const std::string text = login_refusal(login);
  INFO(text);
  CHECK(contains(text, "the board ended the login after key " + login.key.string()));
  CHECK(contains(text, "Too many authentication failures"));
}

TEST_CASE("A board that wants a key and a password gets both") {
  BoardServer board;
  reconfigure(board, "AuthenticationMethods publickey,password");
  SshLogin login = login_to(board);
  login.key = board.client_key();
  CHECK(SshConnection::open(login)->login_method() == "password");
}

TEST_CASE("A board that wants a password and then a key gets both") {
  BoardServer board;
  reconfigure(board, "AuthenticationMethods password,publickey");
  SshLogin login = login_to(board);
  login.key = board.client_key();
  CHECK(SshConnection::open(login)->login_method() == "key " + board.client_key().string());
}
