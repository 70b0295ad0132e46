// Ways to log in to a board and their failures: keys, agents, refusals, host keys, and machines
// that do not answer.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "board/collect_board_fixture.hpp"
#include "board/collect_views.hpp"
#include "support/files.hpp"
#include "support/kbdint_server.hpp"
#include "support/lines.hpp"
#include "support/network_proxy.hpp"
#include "support/ssh_client.hpp"
#include "support/typed_terminal.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

// Contains only address, account and a connect timeout in seconds.
std::string bare_ini(std::uint16_t port, const std::string& limit = kAmple) {
  return "[ssh_config]\nip = 127.0.0.1\nusername = board\nport = " + std::to_string(port) +
         "\nconnect_timeout = " + limit + "\n";
}

void run_tool(const Words& words) {
  const RunResult result = run_program("/usr/bin/env", words);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
}

// A run that fails before it starts: checks the exit code, the single message, and that it left no
// traces.
RunResult refused(const BoardScene& scene, const Words& options) {
  const RunResult run = scene.user.collect(options, {"job", kBoardJob});
  UNSCOPED_INFO(run.err);
  CHECK(run.exit_code == 6);
  CHECK(run.out == "");
  CHECK(contains(run.err, "error: "));
  CHECK(scene.arrived().empty());
  CHECK_FALSE(fs::exists(scene.board.home() / "msprof"));
  CHECK(scene.litter() == "");
  return run;
}

// Requires a successful run; returns the login method printed by -v.
std::string way_in(const BoardUser& user, const RunOptions& options) {
  const RunResult run = run_msprof(user.words({"-v"}, {"job", kBoardJob}), options);
  UNSCOPED_INFO(run.err);
  CHECK(run.exit_code == 0);
  const std::string said = "logged in with ";
  const auto at = run.err.find(said);
  if (at == std::string::npos) return "";
  return run.err.substr(at + said.size(), run.err.find('\n', at) - at - said.size());
}

std::string way_in(const BoardUser& user) {
  return way_in(user, user.run_options());
}

}  // namespace

TEST_CASE("Login works with a given key, the ini's key, a default key, or an agent") {
  const BoardScene scene({.kind = each_kind(), .password_login = false});
  const fs::path key = scene.board.client_key();
  CHECK(way_in(scene.user) == "key " + key.string());
  // The ini file's `key` is relative to the ini file.
  fs::copy_file(key, scene.user.at("its_key"));
  configure(scene.user, bare_ini(scene.board.port()) + "key = its_key\n");
  CHECK(way_in(scene.user) == "key " + scene.user.at("its_key"));

  configure(scene.user, bare_ini(scene.board.port()));
  const RunResult given = scene.user.collect({"-v", "--key", key}, {"job", kBoardJob});
  CHECK(given.exit_code == 0);
  CHECK(contains(given.err, "logged in with key " + key.string()));

  const std::string socket = scene.user.at("agent");
  RunningProgram agent("/usr/bin/env", {"ssh-agent", "-D", "-a", socket});
  REQUIRE(eventually([&] { return fs::exists(socket); }));
  run_tool({"SSH_AUTH_SOCK=" + socket, "ssh-add", "-q", key});
  RunOptions options = scene.user.run_options();
  for (auto& [name, value] : options.variables) {
    if (name == "SSH_AUTH_SOCK") value = socket;
  }
  CHECK(way_in(scene.user, options) == "agent");

  const fs::path standard = scene.board.client_home() / ".ssh/id_ed25519";
  fs::copy_file(key, standard);
  CHECK(way_in(scene.user) == "key " + standard.string());
  CHECK(scene.litter() == "");
}

TEST_CASE("An account without a password needs none") {
  const BoardScene scene({.kind = each_kind(), .password = "", .key_login = false});
  configure(scene.user, bare_ini(scene.board.port()));
  CHECK(way_in(scene.user) == "no password");
}

TEST_CASE("Keyboard-interactive gets the password once, and the board can be used") {
  const bool empty_round = GENERATE(false, true);
  const KbdintServer server({.empty_round_at_end = empty_round});
  const BoardScene scene;
  RunOptions options = {.folder = scene.user.project(), .variables = server.client_variables()};
  configure(scene.user, bare_ini(server.port()) + "pwd = blue;kite#7\n");
  CHECK(way_in(scene.user, options) == "keyboard-interactive");
  CHECK(server.dialogues() == 1);
  CHECK(server.refusals() == 0);
  CHECK(scene.arrived() == Words{kBoardJob});
  CHECK(names_in(server.home() / "msprof") == Words{"cache", "runs"});
  CHECK(names_in(server.home() / "msprof/runs").empty());
  CHECK(find_litter(scene.user) == "");
}

TEST_CASE("A wrong keyboard-interactive answer is sent once, and the board's prompt is shown") {
  const KbdintServer server({.prompts = {{.text = "Password: ", .answer = "another"}}});
  const KbdintServer token({.prompts = {{.text = "Token code:", .answer = "1", .echo = true}}});
  const BoardScene scene;
  const auto run_on = [&](const KbdintServer& board) {
    configure(scene.user, bare_ini(board.port()) + "pwd = blue;kite#7\n");
    RunOptions options = {.folder = scene.user.project(), .variables = board.client_variables()};
    const RunResult run = run_msprof(scene.user.words({}, {"job", kBoardJob}), options);
    INFO(run.err);
    CHECK(run.exit_code == 6);
    CHECK(contains(run.err, "login refused; tried: keyboard-interactive; the board"));
    CHECK_FALSE(contains(run.err, "blue;kite"));
    return run.err;
  };
  CHECK(contains(run_on(server), "and the password."));
  CHECK(server.refusals() == 1);
  // A prompt that does not ask for a password does not get it.
  CHECK(contains(run_on(token), "the board asks \"Token code:\""));
  CHECK(scene.arrived().empty());
}

TEST_CASE("A wrong password, an unknown user and a refused key end with the login methods") {
  const BoardScene scene({.kind = each_kind()});
  const std::string bare = bare_ini(scene.board.port());
  const std::string wrong = "pwd = not;that#one\n";
  configure(scene.user, bare + wrong);
  const RunResult password = refused(scene, {});
  CHECK(contains(password.err, scene.board.address() + ": login refused"));
  CHECK(contains(password.err, "tried: password; the board offers: "));
  CHECK(contains(password.err, "check the user name and the password."));
  CHECK(contains(password.err, "a key that the board accepts"));
  CHECK_FALSE(contains(password.err, "not;that"));

  const std::string other = scene.user.at("other_key");
  run_tool({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other});
  const RunResult key = refused(scene, {"--key", other});
  CHECK(contains(key.err, "login refused"));
  CHECK(contains(key.err, "key " + other));
  CHECK(contains(key.err, "the board offers: publickey"));
  CHECK_FALSE(contains(key.err, "not;that"));

  configure(scene.user, bare);
  const RunResult nothing = refused(scene, {});
  CHECK(contains(nothing.err, "MSPROF_SSH_PASSWORD"));
  CHECK(contains(nothing.err, "tried: a login without a password; the board offers: "));

  configure(scene.user, scene.board.ini());
  const RunResult user =
      refused(scene, {"--host", "nobody-here@127.0.0.1:" + std::to_string(scene.board.port())});
  CHECK(contains(user.err, "nobody-here@127.0.0.1"));
  CHECK(contains(user.err, "check the user name"));
  CHECK_FALSE(contains(user.err, scene.board.password()));
}

TEST_CASE("An unusable key is reported with a remedy") {
  const BoardScene scene({.password_login = false});
  const std::string locked = scene.user.at("locked_key");
  fs::copy_file(scene.board.client_key(), locked);
  run_tool({"ssh-keygen", "-q", "-p", "-P", "", "-N", "a passphrase", "-f", locked});
  configure(scene.user, bare_ini(scene.board.port()));
  const RunResult run = refused(scene, {"--key", locked});
  CHECK(contains(run.err, locked + " has a passphrase: add it to an agent first"));
  const RunResult missing = scene.user.collect({"--key", "nowhere/key"}, {});
  CHECK(missing.exit_code == 4);
  CHECK(contains(missing.err, "nowhere/key"));
  write_file(scene.user.at("no_key"), "this is no key\n");
  const RunResult garbage = scene.user.collect({"--key", scene.user.at("no_key")}, {});
  CHECK(garbage.exit_code == 2);
  CHECK(contains(garbage.err, scene.user.at("no_key") + " is not a usable private key"));
  CHECK(scene.arrived().empty());
}

TEST_CASE("An unknown host key is refused without a terminal, with fingerprint and remedy") {
  const BoardScene scene({.kind = each_kind()});
  scene.board.forget_host_key();
  const fs::path known_hosts = scene.board.known_hosts();
  const RunResult run = refused(scene, {});
  CHECK(contains(run.err, "unknown host key"));
  CHECK(contains(run.err, scene.board.host_key_fingerprint()));
  CHECK(contains(run.err, "--host-key accept-new"));
  CHECK_FALSE(fs::exists(known_hosts));
  // With `off`, known hosts are neither read nor changed.
  CHECK(scene.user.collect({"--host-key", "off"}, {"job", kBoardJob}).exit_code == 0);
  CHECK_FALSE(fs::exists(known_hosts));

  const RunResult taken = scene.user.collect({"--host-key", "accept-new"}, {"job", kBoardJob});
  CHECK(taken.exit_code == 0);
  CHECK(contains(taken.err, scene.board.host_key_fingerprint()));
  CHECK(contains(taken.err, known_hosts.string()));
  const std::string known = read_file(known_hosts);
  CHECK(scene.user.collect({}, {"job", kBoardJob}).exit_code == 0);
  CHECK(read_file(known_hosts) == known);
  // ssh(1) can use the remembered key, too.
  CHECK(ssh(scene.board, "echo in").out == "in\n");
  CHECK(scene.litter() == "");
}

TEST_CASE("On a terminal an unknown host key is a question") {
  const BoardScene scene;
  scene.board.forget_host_key();
  Words words = {"collect",
                 "-m",
                 scene.user.project() / "main",
                 "--config",
                 scene.user.ini(),
                 "--output",
                 scene.user.output(),
                 "--",
                 "job",
                 kBoardJob};
  TypedTerminal terminal(msprof_path(), words, {.variables = scene.board.client_variables()});
  REQUIRE(terminal.wait_for("(yes/no)"));
  CHECK(contains(terminal.screen(), scene.board.host_key_fingerprint()));
  SECTION("yes") {
    terminal.type("yes\n");
    const RunResult run = terminal.wait();
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(ssh(scene.board, "echo in").out == "in\n");
    CHECK(scene.arrived() == Words{kBoardJob});
  }
  SECTION("no") {
    terminal.type("no\n");
    CHECK(terminal.wait().exit_code == 6);
    CHECK_FALSE(fs::exists(scene.board.known_hosts()));
    CHECK(scene.arrived().empty());
  }
  CHECK(scene.litter() == "");
}

TEST_CASE("A changed host key ends the run before the login, with both fingerprints and the line") {
  BoardScene scene({.kind = each_kind(), .key_login = false});
  configure(scene.user, scene.board.ini());
  const fs::path known = scene.board.known_hosts();
  write_file(known, "# a comment\n\n" + read_file(known));
  const std::string old_key = scene.board.host_key_fingerprint();
  scene.board.change_host_key();
  const std::string before = read_file(known);
  const auto said_before = scene.board.log().size();
  for (const std::string policy : {"strict", "accept-new"}) {
    const RunResult run = refused(scene, {"--host-key", policy});
    CHECK(contains(run.err, "host key"));
    CHECK(contains(run.err, old_key));
    CHECK(contains(run.err, scene.board.host_key_fingerprint()));
    CHECK(contains(run.err, known.string() + ", line 3"));
    CHECK(contains(run.err, "ssh-keygen -f"));
  }
  CHECK(read_file(known) == before);
  const std::string log = scene.board.log().substr(said_before);
  for (const char* word : {"Failed", "Accepted", "assword auth"}) CHECK_FALSE(contains(log, word));

  // The user can run the command printed in the message.
  run_tool(
      {"ssh-keygen", "-q", "-f", known, "-R", "[127.0.0.1]:" + std::to_string(scene.board.port())});
  CHECK(contains(refused(scene, {}).err, "unknown host key"));
  CHECK(scene.user.collect({"--host-key", "accept-new"}, {"job", kBoardJob}).exit_code == 0);
}

TEST_CASE("A host key of another type counts as changed, also in a hashed file") {
  const BoardScene scene;
  const std::string other = scene.user.at("other");
  run_tool({"ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-C", "", "-f", other});
  write_file(scene.board.known_hosts(),
             "[127.0.0.1]:" + std::to_string(scene.board.port()) + " " + read_file(other + ".pub"));
  SECTION("plain") {}
  SECTION("hashed") {
    run_tool(
        {"sh", "-c", "ssh-keygen -q -H -f \"$0\" && rm \"$0.old\"", scene.board.known_hosts()});
    REQUIRE_FALSE(contains(read_file(scene.board.known_hosts()), "127.0.0.1"));
  }
  const std::string before = read_file(scene.board.known_hosts());
  const RunResult run = refused(scene, {"--host-key", "accept-new"});
  CHECK(contains(run.err, "the host key has changed"));
  CHECK(contains(run.err, scene.board.known_hosts().string() + ", line 1"));
  CHECK(read_file(scene.board.known_hosts()) == before);
}

TEST_CASE("A missing board is reported within the timeout") {
  const BoardScene scene;
  // The half-second limit is for hosts that send nothing; those that answer may be as slow as this
  // machine.
  const auto sentence_at = [&](std::uint16_t port, const std::string& limit) {
    configure(scene.user, bare_ini(port, limit));
    const std::string sentence = refused(scene, {}).err;
    CHECK(contains(sentence, "board@127.0.0.1:" + std::to_string(port)));
    return sentence;
  };
  const ReservedPort closed;
  const std::string refusal = sentence_at(closed.number(), kAmple);
  CHECK(contains(refusal, "refused"));
  CHECK(contains(refusal, "is the port right?"));

  const SilentServer silent;
  const std::string silence = sentence_at(silent.port(), "0.5");
  CHECK(contains(silence, "0.5 s"));
  CHECK(contains(silence, "--connect-timeout"));

  CutProxy frozen(scene.board.port());
  frozen.freeze(true);
  CHECK(contains(sentence_at(frozen.port(), "0.5"), "0.5 s"));

  const NotSshServer other;
  CHECK(contains(sentence_at(other.port(), kAmple), "SSH"));

  const CutProxy cut(scene.board.port(), {.connections = kAllConnections});
  sentence_at(cut.port(), kAmple);

  CHECK(contains(refused(scene, {"--host", "board@nowhere.invalid"}).err, "nowhere.invalid"));
}

TEST_CASE("If the board cannot be reached, --json has the reason and the code") {
  const BoardScene scene;
  const ReservedPort port;
  configure(scene.user, bare_ini(port.number()));
  const RunResult run = scene.user.collect({"--json"}, {"job", kBoardJob});
  const nlohmann::json document = parse_document(run);
  REQUIRE(document.is_object());
  CHECK(run.exit_code == 6);
  CHECK(document.at("exit_code") == 6);
  CHECK(contains(document.at("error").get<std::string>(), "refused"));
  CHECK(count_occurrences(run.err, "error: ") <= 1);
}

}  // namespace msprof::test
