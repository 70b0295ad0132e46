// msprof doctor with a board: each step of the connection, the state of the board, and that doctor
// changes nothing there.
#include <signal.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "board/collect_board_fixture.hpp"
#include "support/files.hpp"
#include "support/network_proxy.hpp"
#include "support/small_disk.hpp"

namespace msprof::test {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

struct Said {
  int exit_code = -1;
  json document;

  // Returns "result: evidence | remedy" of the last check `name`; empty if there is none. If this
  // machine also has such a check, the last one is the board's.
  std::string of(const std::string& name) const {
    std::string found;
    for (const json& check : document["checks"]) {
      if (check["name"] != name) continue;
      found = check["result"].get<std::string>() + ": " + check["evidence"].get<std::string>() +
              " | " + check.value("remedy", "");
    }
    return found;
  }
};

// Runs msprof doctor -m main --config board.ini; checks that no file or process is left on the
// board.
Said doctor(const BoardScene& scene, const Words& more = {}) {
  const std::string before = fingerprint(scene.board.home());
  Words words = {"doctor", "-m", "main", "--config", scene.user.ini().string(), "--json"};
  words.insert(words.end(), more.begin(), more.end());
  const RunResult result = run_msprof(words, scene.user.run_options());
  UNSCOPED_INFO(result.out << result.err);
  Said said{result.exit_code, json::parse(result.out, nullptr, false)};
  REQUIRE(said.document.is_object());
  CHECK(fingerprint(scene.board.home()) == before);
  CHECK(scene.user.project_is_untouched());
  return said;
}

bool is(const Said& said, const std::string& name, const std::string& begins) {
  UNSCOPED_INFO(name << ": " << said.of(name));
  return said.of(name).find(begins) == 0;
}

}  // namespace

TEST_CASE("doctor checks every step to a board and stops at the first failure") {
  BoardScene scene;
  Said said = doctor(scene);
  CHECK(said.exit_code == 0);
  CHECK(said.document["failed"] == 0);
  for (const char* name :
       {"ini file", "password", "address", "SSH server", "host key", "login", "commands", "tools",
        "board folder", "clock", "leftovers", "architecture", "libraries", "executable"}) {
    CHECK(is(said, name, "ok: "));
  }
  CHECK(contains(said.of("acl.json: switch"), "ok: \"off\"; msprof collect sets on"));
  CHECK_FALSE(fs::exists(scene.board.home() / "msprof"));

  // Results, a stale lock and a wrong clock on the board.
  const std::string kept = (scene.board.home() / "msprof/kept").string();
  fs::create_directories(kept + "/20261120-191500-4711");
  // The results of this --keep run have been downloaded.
  write_file(kept + "/20261120-191500-4710/brought-home", "");
  fs::create_directories(scene.board.home() / "msprof/lock");
  write_file(scene.board.home() / "msprof/lock/owner", "999999 1 20261120-191500-4712 \n");
  scene.board.replace_tool("date", "echo 1000");
  said = doctor(scene);
  CHECK(said.exit_code == 0);
  CHECK(is(said, "leftovers", "warning: 1 run with results that were never fetched"));
  CHECK(contains(said.of("leftovers"), "--clean-board"));
  CHECK_FALSE(contains(said.of("leftovers"), "4710"));
  // The suggested command works.
  const std::string command = "scp -P " + std::to_string(scene.board.port()) + " -i " +
                              scene.board.client_key().string() + " -r board@127.0.0.1:" + kept +
                              " .";
  CHECK(contains(said.of("leftovers"), command));
  const TempFolder here;
  RunOptions there = scene.user.run_options();
  there.folder = here.path();
  const std::string known = "scp -q -o UserKnownHostsFile=" + scene.board.known_hosts().string();
  CHECK(run_program("/bin/sh", {"-c", known + command.substr(3)}, there).exit_code == 0);
  CHECK(fs::exists(here / "kept/20261120-191500-4711"));
  // Other tests may be writing captures now; the lock's process does not exist.
  CHECK_FALSE(is(said, "other runs", "failed: "));
  CHECK(is(said, "clock", "warning: "));
  CHECK(contains(said.of("clock"), "behind this machine's"));
  CHECK(contains(said.of("clock"), "date -s @"));
  fs::remove_all(scene.board.home() / "msprof");

  REQUIRE(scene.user.collect({"--keep"}, {"job", kBoardJob}).exit_code == 0);
  said = doctor(scene);
  CHECK(is(said, "leftovers", "ok: "));
  CHECK(contains(said.of("leftovers"), "1 run of --keep"));
  fs::remove_all(scene.board.home() / "msprof");
  CHECK(is(said, "umask", "ok: "));

  // The project: a program for another machine, an output folder that does not exist on the board.
  const std::string main = read_file(scene.user.project() / "main");
  write_file(scene.user.project() / "main", std::string(main).replace(18, 1, "\xb7"));
  write_file(scene.user.project() / "acl.json",
             R"({"profiler": {"switch": "on", "output": "/no/such/place"}})");
  scene.user.remember_project();
  said = doctor(scene);
  CHECK(said.exit_code == 7);
  CHECK(is(said, "architecture", "failed: the executable is built for AArch64"));
  CHECK(is(said, "acl.json: output", "ok: /no/such/place is not a folder on the board"));
  write_file(scene.user.project() / "main", main);

  const std::string ini = read_file(scene.user.ini());
  write_file(scene.user.ini(), ini + "pwd = very;secret\n");
  fs::permissions(scene.user.ini(), fs::perms(0644));
  scene.user.remember_project();
  said = doctor(scene);
  CHECK(said.exit_code == 0);
  CHECK(is(said, "ini file", "warning: "));
  CHECK(contains(said.of("ini file"), "it holds a password"));
  CHECK(contains(said.of("ini file"), "chmod 600 " + scene.user.ini().string()));
  CHECK(is(said, "password", "warning: "));
  CHECK_FALSE(contains(said.document.dump(), "very;secret"));
  fs::permissions(scene.user.ini(), fs::perms(0600));
  write_file(scene.user.ini(), ini);

  // Breaks the steps of the connection, from last to first.
  write_file(scene.user.ini(), ini.substr(0, ini.find("key =")) + "pwd = wrong\n");
  said = doctor(scene);
  CHECK(said.exit_code == 6);
  CHECK(is(said, "host key", "ok: "));
  CHECK(is(said, "login", "failed: "));
  CHECK(is(said, "libraries", "skipped: not checked"));
  write_file(scene.user.ini(), ini);
  write_file(scene.user.at("no_key"), "no key");
  said = doctor(scene, {"--key", scene.user.at("no_key")});
  CHECK(said.exit_code == 2);
  CHECK(is(said, "login", "failed: "));
  CHECK(is(said, "address", "skipped: "));
  scene.board.change_host_key();
  said = doctor(scene);
  CHECK(is(said, "host key", "failed: "));
  CHECK(contains(said.of("host key"), "ssh-keygen -f"));
  CHECK(is(said, "login", "skipped: "));
  scene.board.forget_host_key();
  said = doctor(scene);
  CHECK(said.exit_code == 6);
  CHECK(is(said, "SSH server", "ok: "));
  CHECK(contains(said.of("host key"), "--host-key accept-new"));
  CHECK(is(doctor(scene, {"--host-key", "off"}), "host key", "warning: "));
  scene.board.stop();
  said = doctor(scene);
  CHECK(said.exit_code == 6);
  CHECK(is(said, "address", "failed: "));
  CHECK(contains(said.of("address"), "connection refused on port"));
  CHECK(is(said, "SSH server", "skipped: not checked"));
  CHECK(is(said, "board folder", "skipped: not checked"));
}

TEST_CASE("doctor lists the missing tools of a minimal board and their use") {
  const bool has_disk = SmallDisk::is_available_or_skip();
  const SmallDisk disk(8 << 20);
  const BoardScene scene({.kind = BoardKind::dropbear,
                          .without = {"tar", "setsid"},
                          .greeting = "Welcome to the board"});
  const BoardCollecting run(scene.user, {},
                            {"job", kBoardJob, "write", "JOB/data/aicore.0.n.1.1.1.0", "x", "ready",
                             scene.user.at("ready"), "hang"});
  REQUIRE(eventually([&] { return fs::exists(scene.user.at("ready")) || run.has_ended(); }));
  Words words = {"doctor", "--config", scene.user.ini().string(), "--json"};
  const RunResult result = run_msprof(words, scene.user.run_options());
  INFO(result.out << result.err);
  const Said said{result.exit_code, json::parse(result.out, nullptr, false)};
  CHECK(said.exit_code == 6);
  CHECK(is(said, "commands", "warning: "));
  CHECK(contains(said.of("commands"), "\"Welcome to the board\""));
  CHECK(is(said, "tools", "warning: "));
  CHECK(contains(said.of("tools"), "neither tar nor SFTP"));
  CHECK(is(said, "other runs", "failed: the profiled run "));
  CHECK(contains(said.of("other runs"), "--force"));
  // doctor did not disturb the run.
  CHECK_FALSE(run.has_ended());
  run.send(SIGINT);
  CHECK(run.wait().exit_code == 130);
  CHECK(scene.litter() == "");

  if (!has_disk) return;
  write_file(disk / "filler", std::string(5 << 20, 'x'));
  words.insert(words.end(), {"--board-dir", disk.path().string()});
  const RunResult full = run_msprof(words, scene.user.run_options());
  INFO(full.out << full.err);
  const Said full_said{full.exit_code, json::parse(full.out, nullptr, false)};
  CHECK(full_said.exit_code == 5);
  CHECK(is(full_said, "board folder", "failed: "));
  CHECK(contains(full_said.of("board folder"), "--board-dir"));
}

TEST_CASE("A board that does not answer fails within the connection timeout") {
  const SilentServer silent;
  const TempFolder home;
  const RunResult result =
      run_msprof({"doctor", "--host", "root@127.0.0.1:" + std::to_string(silent.port()),
                  "--connect-timeout", "1", "--json"},
                 {.folder = home.path(), .variables = {{"HOME", home.path().string()}}});
  INFO(result.out << result.err);
  const Said said{result.exit_code, json::parse(result.out, nullptr, false)};
  CHECK(said.exit_code == 6);
  CHECK(is(said, "address", "ok: "));
  CHECK(is(said, "SSH server", "failed: "));
  CHECK(contains(said.of("SSH server"), "no answer within 1 s"));
  CHECK(is(said, "login", "skipped: "));
}

}  // namespace msprof::test
