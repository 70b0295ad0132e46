// Boards named in ~/.ssh/config, and boards behind jump hosts, with arguments as users type them.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "board/collect_board_fixture.hpp"
#include "board/collect_views.hpp"
#include "support/files.hpp"
#include "support/typed_terminal.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

const Words kJob = {"job", kBoardJob};

std::string port_text(const BoardServer& server) {
  return std::to_string(server.port());
}

// A board named lab7 in ~/.ssh/config, and a jump host in front of it.
struct NamedScene {
  explicit NamedScene(const BoardOptions& options = {}, const BoardOptions& gate_options = {})
      : scene(options), gate(gate_options) {
    const fs::path known = board().known_hosts();
    write_file(known, read_file(known) + read_file(gate.known_hosts()));
    ini("");
  }
  const BoardServer& board() const { return scene.board; }
  fs::path home() const { return board().client_home(); }
  void config(const std::string& text) const {
    write_file(home() / ".ssh/config", text);
    fs::permissions(home() / ".ssh/config", fs::perms::owner_read | fs::perms::owner_write);
  }
  void ini(const std::string& text) const {
    configure(scene.user, "[ssh_config]\nconnect_timeout = " + kAmple + "\n" + text);
  }
  // Configuration that reaches the board by its name, with its key.
  std::string lab7(const std::string& more = "") const {
    return "Host lab7\n  HostName 127.0.0.1\n  Port " + port_text(board()) +
           "\n  User board\n  IdentityFile ~/board_key\n  " + more + "\n";
  }
  std::string gate_host() const {
    return "Host gate\n  HostName 127.0.0.1\n  Port " + port_text(gate) +
           "\n  User board\n  IdentityFile " + gate.client_key().string() + "\n";
  }
  RunResult collect(const Words& options) const {
    Words words = {"-v"};
    words.insert(words.end(), options.begin(), options.end());
    RunResult run = scene.user.collect(words, kJob);
    UNSCOPED_INFO(run.err);
    return run;
  }
  // Arguments for a terminal, whose working folder is the test's: --project is needed.
  Words words(Words options) const {
    options.insert(options.begin(), {"--project", scene.user.project()});
    return scene.user.words(options, kJob);
  }

  BoardScene scene;
  BoardServer gate;
};

}  // namespace

TEST_CASE("An SSH configuration alias selects a board with its address, port, account and key") {
  const NamedScene user({.kind = each_kind(), .password_login = false});
  user.config(user.lab7());
  const RunResult run = user.collect({"--host", "lab7"});
  CHECK(run.exit_code == 0);
  CHECK(contains(run.err, "logged in with key " + (user.home() / "board_key").string()));
  CHECK(contains(run.err, "on board@lab7:" + port_text(user.board())));
  CHECK(contains(run.err, "lab7 is 127.0.0.1 port " + port_text(user.board())));
  CHECK(contains(run.err, "HostName (" + (user.home() / ".ssh/config").string() + ", line 2)"));
  user.ini("ip = lab7\n");
  CHECK(user.collect({}).exit_code == 0);
  CHECK(user.scene.litter() == "");
}

TEST_CASE("The command line wins over the ini, the ini over ssh's configuration") {
  const NamedScene user({.password_login = false});
  const std::string key = user.board().client_key().string();
  user.config("Host lab7\nHostName 127.0.0.1\nPort 1\nUser nobody\nIdentityFile /nowhere\n");
  user.ini("ip = lab7\nport = " + port_text(user.board()) + "\nusername = wrong\nkey = " + key +
           "\n");
  CHECK(user.collect({}).exit_code == 6);
  CHECK(user.collect({"--host", "board@lab7"}).exit_code == 0);
  user.ini("ip = lab7\nport = 1\nusername = wrong\n");
  CHECK(user.collect({"--host", "board@lab7:" + port_text(user.board()), "--key", key}).exit_code ==
        0);
}

TEST_CASE("--ssh-config names another file, or none") {
  const NamedScene user({.password_login = false});
  user.config("Host *\n  Port 1\n");
  const std::string other = user.scene.user.at("other_config");
  write_file(other, user.lab7());
  CHECK(user.collect({"--host", "lab7", "--ssh-config", other}).exit_code == 0);
  const RunResult none = user.collect({"--host", "board@lab7", "--ssh-config", "none"});
  CHECK(none.exit_code == 6);
  CHECK(contains(none.err, "unknown host lab7"));
  const RunResult missing = user.collect({"--host", "lab7", "--ssh-config", other + "x"});
  CHECK(missing.exit_code == 4);
  CHECK(contains(missing.err, other + "x"));
}

TEST_CASE("Host keys are looked up by the name that ssh uses, in its files") {
  const NamedScene user({.password_login = false});
  const fs::path known = user.board().known_hosts();
  const std::string line = read_file(known);
  const std::string key = line.substr(line.find(' '));
  const fs::path other = user.home() / "their hosts";
  const RunResult before = [&] {
    user.config(
        user.lab7("HostKeyAlias The-Lab\n  UserKnownHostsFile \"~/their hosts\" /dev/null"));
    return user.collect({"--host", "lab7"});
  }();
  CHECK(before.exit_code == 6);
  CHECK(contains(before.err, "unknown host key"));
  write_file(other, "the-lab" + key);
  CHECK(user.collect({"--host", "lab7"}).exit_code == 0);
  // No key is remembered if the configuration says so.
  user.config(user.lab7("UserKnownHostsFile /dev/null\n  StrictHostKeyChecking no"));
  const RunResult lax = user.collect({"--host", "lab7"});
  CHECK(lax.exit_code == 0);
  CHECK_FALSE(contains(lax.err, "was added to"));
  user.config(user.lab7("UserKnownHostsFile none\n  StrictHostKeyChecking yes"));
  CHECK(user.collect({"--host", "lab7"}).exit_code == 6);
}

TEST_CASE("A ProxyCommand is refused, and no command of a configuration is ever run") {
  const NamedScene user({.password_login = false});
  const std::string mark = user.scene.user.at("was-run");
  const std::string touch = "touch " + mark;
  user.config("Match exec \"" + touch + "\"\n  Port 1\n" +
              user.lab7("ProxyCommand " + touch + "; nc %h %p\n  LocalCommand " + touch +
                        "\n  KnownHostsCommand /bin/" + touch + "\n  PermitLocalCommand yes"));
  const RunResult run = user.collect({"--host", "lab7"});
  CHECK(run.exit_code == 2);
  CHECK(contains(run.err, (user.home() / ".ssh/config").string() + ", line 8: "));
  CHECK(contains(run.err, "ProxyCommand, which msprof does not run"));
  CHECK(contains(run.err, "Match all"));
  CHECK(user.collect({"--host", "lab7", "--jump", "none"}).exit_code == 0);
  CHECK_FALSE(fs::exists(mark));
}

TEST_CASE("An invalid configuration is reported with its line before connecting") {
  const NamedScene user;
  const std::string file = (user.home() / ".ssh/config").string();
  user.config("Host other\n  Port many\n");
  const RunResult port = user.collect({"--host", "board@127.0.0.1:1"});
  CHECK(port.exit_code == 2);
  CHECK(contains(port.err, file + ", line 2: the port must be"));
  user.config("Host lab7\n  HostName -oProxyCommand=x\n");
  CHECK(
      contains(user.collect({"--host", "board@lab7"}).err, file + ", line 2: HostName is neither"));
  user.config("Host lab7\n  HostName %x\n");
  CHECK(contains(user.collect({"--host", "board@lab7"}).err, "unknown token"));
  user.config("Host a\n  ProxyJump b\nHost b\n  ProxyJump a\n");
  const RunResult circle = user.collect({"--host", "board@a"});
  CHECK(circle.exit_code == 2);
  CHECK(contains(circle.err, "is there a loop"));
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  CHECK(contains(user.collect({"--host", "board@lab7"}).err, "chmod go-w " + file));
}

TEST_CASE("The passphrase of a configured key is requested three times") {
  const NamedScene user({.kind = each_kind(), .password_login = false});
  const std::string locked = (user.home() / "board_key").string();
  REQUIRE(run_program("/usr/bin/env",
                      {"ssh-keygen", "-q", "-p", "-P", "", "-N", "the phrase", "-f", locked})
              .exit_code == 0);
  user.config(user.lab7());
  user.ini("ip = lab7\n");
  TypedTerminal terminal(msprof_path(), user.words({"-v"}),
                         {.variables = user.board().client_variables()});
  const std::string question = "passphrase of the key " + locked + ": ";
  const bool is_asked = terminal.wait_for(question);
  INFO(terminal.screen());
  REQUIRE(is_asked);
  terminal.type("mistyped\n");
  REQUIRE(terminal.wait_for("wrong passphrase; " + question));
  terminal.type("again\n");
  REQUIRE(terminal.wait_for("wrong passphrase; " + question, 2));
  const bool is_right = GENERATE(true, false);
  terminal.type(is_right ? "the phrase\n" : "wrong\n");
  const RunResult run = terminal.wait();
  INFO(run.err);
  CHECK(run.exit_code == (is_right ? 0 : 6));
  CHECK(contains(run.err, is_right ? "logged in with key " + locked
                                   : "none of the passphrases unlocks the key " + locked));
  CHECK_FALSE(contains(run.err, "the phrase"));
}

TEST_CASE("A password is accepted at the third attempt and not requested a fourth time") {
  const NamedScene user({.kind = each_kind(), .key_login = false});
  user.config(user.lab7());
  user.ini("ip = lab7\n");
  TypedTerminal terminal(msprof_path(), user.words({}),
                         {.variables = user.board().client_variables()});
  const std::string question = "password for board@lab7:" + port_text(user.board()) + ": ";
  const bool is_asked = terminal.wait_for(question);
  INFO(terminal.screen());
  REQUIRE(is_asked);
  for (const int refusals : {1, 2}) {
    terminal.type("wrong;one\n");
    REQUIRE(terminal.wait_for("refused by the board; " + question, refusals));
  }
  const bool is_right = GENERATE(true, false);
  terminal.type((is_right ? user.board().password() : "wrong;one") + "\n");
  const RunResult run = terminal.wait();
  CHECK(run.exit_code == (is_right ? 0 : 6));
  CHECK(contains(run.err, "password (3 times)") != is_right);
  CHECK_FALSE(contains(run.err, "wrong;one"));
}

TEST_CASE("A board is reached through jump hosts from ProxyJump, jump or --jump") {
  const NamedScene user({.kind = each_kind(), .password_login = false}, {.password_login = false});
  const BoardServer second({.kind = BoardKind::dropbear});
  const fs::path known = user.board().known_hosts();
  write_file(known, read_file(known) + read_file(second.known_hosts()));
  const std::string both = user.gate_host() +
                           "Host inner\n  HostName 127.0.0.1\n  User board\n  ProxyJump nobody\n" +
                           "  IdentityFile " + second.client_key().string() + "\n";
  user.config(both + user.lab7() + "Host *\n  ProxyJump gate\n");
  const RunResult config = user.collect({"--host", "lab7"});
  CHECK(config.exit_code == 0);
  CHECK(contains(config.err, "over board@gate:" + port_text(user.gate)));
  CHECK(contains(config.err, "board@gate:" + port_text(user.gate) + ": logged in with key"));
  CHECK(contains(user.gate.log(), "Accepted publickey"));

  user.config(both + user.lab7());
  const std::string way = "gate,inner:" + port_text(second);
  const RunResult option = user.collect({"--host", "lab7", "--jump", way});
  CHECK(option.exit_code == 0);
  CHECK(contains(option.err, "over board@gate:" + port_text(user.gate) + ", board@inner:"));
  user.ini("ip = lab7\njump = " + way + "\n");
  CHECK(user.collect({}).exit_code == 0);
  CHECK(user.scene.litter() == "");
}

TEST_CASE("A jump host has its own prompt and never gets the board's password") {
  const NamedScene user({.key_login = false}, {.password = "gate;1", .key_login = false});
  user.ini("ip = 127.0.0.1\nusername = board\nport = " + port_text(user.board()) +
           "\npwd = " + user.board().password() + "\n");
  const std::string jump = user.gate.address();
  const std::string question = "password for jump host " + jump + ": ";
  // Without a terminal, msprof cannot ask for the password.
  const RunResult alone = user.collect({"--jump", jump});
  CHECK(alone.exit_code == 6);
  CHECK(contains(alone.err, "jump host 1 of 1: " + jump + ": login refused"));
  CHECK(contains(alone.err, "entered on the terminal"));
  CHECK_FALSE(contains(user.gate.log(), "Failed password"));
  TypedTerminal terminal(msprof_path(), user.words({"--jump", jump}),
                         {.variables = user.board().client_variables()});
  const bool is_asked = terminal.wait_for(question);
  INFO(terminal.screen());
  REQUIRE(is_asked);
  terminal.type("wrong;one\n");
  REQUIRE(terminal.wait_for("refused by the jump host; " + question));
  terminal.type("gate;1\n");
  const RunResult run = terminal.wait();
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK_FALSE(contains(run.err, "password for board@"));
}

TEST_CASE("An unchecked board key does not disable the check of its jump host") {
  const NamedScene user({.password_login = false}, {.password_login = false});
  user.config(user.gate_host() + user.lab7("ProxyJump gate"));
  user.board().forget_host_key();
  const RunResult off = user.collect({"--host", "lab7", "--host-key", "off"});
  CHECK(off.exit_code == 6);
  CHECK(contains(off.err, "board@gate:" + port_text(user.gate) + ": unknown host key"));
  CHECK(user.collect({"--host", "lab7", "--host-key", "accept-new"}).exit_code == 0);
  CHECK(contains(read_file(user.board().known_hosts()), port_text(user.gate)));
}

TEST_CASE("A connection lost with its jump host is restored over it") {
  const NamedScene user({.kind = each_kind(), .password_login = false}, {.password_login = false});
  user.config(user.gate_host() + user.lab7("ProxyJump gate"));
  user.ini("ip = lab7\n");
  const std::string ready = user.scene.user.at("ready");
  const BoardCollecting run(user.scene.user, {"--reconnect", kAmple},
                            {"job", kBoardJob, "on-term", "write", "JOB/data/last", "at TERM",
                             "end", "ready", ready, "hang"});
  REQUIRE(eventually([&] { return fs::exists(ready) || run.has_ended(); }));
  user.gate.drop_connections();
  const RunResult result = run.wait();
  INFO(result.err);
  CHECK(result.exit_code == 6);
  CHECK(contains(result.err, "the connection to the jump host board@gate:"));
  CHECK(contains(result.err, "reconnected to board@lab7"));
  CHECK(read_file(user.scene.user.in_job("data/last")) == "at TERM");
  CHECK(user.scene.litter() == "");
}

TEST_CASE("doctor shows the source of the login data and the failing jump host") {
  NamedScene user({.password_login = false}, {.password_login = false});
  user.config(user.gate_host() + user.lab7("ProxyJump gate"));
  user.ini("ip = lab7\n");
  const auto doctor = [&] {
    RunResult result =
        run_msprof({"doctor", "-m", "main", "--config", user.scene.user.ini().string(), "--json"},
                   user.scene.user.run_options());
    UNSCOPED_INFO(result.out << result.err);
    return result;
  };
  const std::string gate = "board@gate:" + port_text(user.gate);
  const auto find_evidence = [](const RunResult& result, const std::string& name) {
    std::string last = "none of " + name;
    const nlohmann::json document = parse_document(result);
    for (const auto& check : document.at("checks")) {
      if (check.at("name") == name) {
        last =
            check.at("result").get<std::string>() + ": " + check.at("evidence").get<std::string>();
      }
    }
    UNSCOPED_INFO(last);
    return last;
  };
  const RunResult good = doctor();
  CHECK(good.exit_code == 0);
  CHECK(contains(find_evidence(good, "ssh config"), "ok: lab7 is 127.0.0.1 port "));
  CHECK(contains(find_evidence(good, "ssh config"), "ProxyJump ("));
  CHECK(contains(find_evidence(good, "address"), "answers, over " + gate));
  user.gate.stop();
  const RunResult bad = doctor();
  CHECK(bad.exit_code == 6);
  CHECK(contains(find_evidence(bad, "address"),
                 "jump host 1 of 1: " + gate + ": connection refused"));
}

}  // namespace msprof::test
