// A board's ini file and the command line: user errors, and valid spellings.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "board/collect_board_fixture.hpp"
#include "board/collect_views.hpp"
#include "support/files.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

struct Fault {
  std::string ini;
  std::string part;  // expected part of the error message
};

}  // namespace

TEST_CASE("A missing or unusable ini file is reported with the line") {
  const BoardScene scene;
  const auto check = [&](const RunResult& run, int code, const std::string& part) {
    INFO(run.err);
    CHECK(run.exit_code == code);
    CHECK(contains(run.err, part));
    CHECK_FALSE(contains(run.err, "blue;kite"));
    CHECK(run.out == "");
    CHECK(scene.arrived().empty());
  };
  const auto run_with = [&](const std::string& file) {
    return run_msprof({"collect", "-m", "main", "--config", file}, scene.user.run_options());
  };
  check(run_with(scene.user.at("nowhere.ini")), 4, "nowhere.ini");
  check(run_with(scene.user.project()), 4, "is not a file");
  const std::string good = "[ssh_config]\nip = 127.0.0.1\nusername = board\n";
  const Fault faults[] = {
      {"", "ssh_config"},
      {"ip = 127.0.0.1\nusername = board\n", "ssh_config"},
      {"[other]\nip = 127.0.0.1\nusername = board\n", "ssh_config"},
      {"[ssh_config]\nusername = board\n", "ip"},
      {"[ssh_config]\nip = 127.0.0.1\n", "username"},
      {good + "port = 70000\n", "line 4"},
      {good + "port = 0\n", "line 4"},
      {good + "port = 22 # usual\n", "line 4"},
      {good + "host_key = maybe\n", "accept-new"},
      {good + "connect_timeout = soon\n", "connect_timeout"},
      {good + "board_dir = a\tb\n", "line 4"},
      {good + "pwd blue;kite\n", "line 4"},
      {good + "pwd = blue;kite\npwd = blue;kite2\n", "line 5"},
  };
  for (const Fault& fault : faults) {
    configure(scene.user, fault.ini);
    INFO(fault.ini);
    const RunResult run = scene.user.collect({}, {"job", kBoardJob});
    check(run, 2, fault.part);
    CHECK(contains(run.err, scene.user.ini().string()));
  }
  CHECK_FALSE(fs::exists(scene.board.home() / "msprof"));
  CHECK(scene.litter() == "");
}

TEST_CASE("An ini file with a password that others may read gets a warning") {
  const BoardScene scene;
  configure(scene.user, scene.board.ini());
  CHECK_FALSE(contains(scene.user.collect({}, {"job", kBoardJob}).err, "warning"));
  fs::permissions(scene.user.ini(), fs::perms::group_read | fs::perms::owner_read);
  const RunResult run = scene.user.collect({}, {"job", kOtherBoardJob});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(contains(run.err, "warning: " + scene.user.ini().string()));
  CHECK(contains(run.err, "chmod 600 " + scene.user.ini().string()));
  CHECK(scene.litter() == "");
}

TEST_CASE("A board is given by --host, or with --config, where --host has priority") {
  const BoardScene scene;
  const std::string key = scene.board.client_key();
  const RunResult alone =
      run_msprof({"collect", "-m", "main", "--host", scene.board.address(), "--key", key,
                  "--output", scene.user.output(), "--", "job", kBoardJob},
                 scene.user.run_options());
  INFO(alone.err);
  CHECK(alone.exit_code == 0);
  configure(scene.user,
            "[ssh_config]\nip = 192.0.2.1\nusername = somebody\nport = 1\nkey = " + key + "\n");
  const RunResult both =
      scene.user.collect({"--host", scene.board.address()}, {"job", kOtherBoardJob});
  INFO(both.err);
  CHECK(both.exit_code == 0);
  CHECK(scene.arrived() == Words{kBoardJob, kOtherBoardJob});
  CHECK(scene.litter() == "");
}

TEST_CASE("Conflicting options are a usage error before anything is done") {
  const BoardScene scene;
  const auto usage = [&](const Words& words, const std::string& part) {
    Words all = {"collect"};
    all.insert(all.end(), words.begin(), words.end());
    const RunResult run = run_msprof(all, scene.user.run_options());
    INFO(run.err);
    CHECK(run.exit_code == 2);
    CHECK(contains(run.err, part));
  };
  const std::string host = scene.board.address();
  usage({"-m", "main", "--keep"}, "--config FILE or --host");
  usage({"--clean-board"}, "--config FILE or --host");
  usage({"--host", host}, "-m");
  usage({"-m", "main", "--host", "127.0.0.1"}, "user");
  usage({"-m", "main", "--host", "board@"}, "--host");
  usage({"-m", "main", "--host", "board@127.0.0.1:99999"}, "--host");
  usage({"-m", "main", "--host", host, "--host-key", "never"}, "accept-new");
  usage({"-m", "main", "--host", host, "--no-upload"}, "--remote-dir");
  usage({"-m", "main", "--host", host, "--remote-dir", "/x"}, "--no-upload");
  usage({"-m", "main", "--host", host, "--keep", "--clean-board"}, "--clean-board");
  usage({"-m", "main", "--host", host, "--reconnect", "-1"}, "--reconnect");
  usage({"-m", "main", "--host", host, "--connect-timeout", "0"}, "--connect-timeout");
  usage({"-m", "main", "--host", host, "--env", "NAME"}, "NAME=VALUE");
  usage({"-m", "main", "--host", host, "--env", "a-b=c"}, "a-b");
  CHECK(scene.board.connections() == 0);
  CHECK_FALSE(fs::exists(scene.board.home() / "msprof"));
}

TEST_CASE("A password beside the name of --host is refused and not repeated") {
  const BoardScene scene;
  const RunResult run = run_msprof(
      {"collect", "-m", "main", "--host", "board:blue;kite#7@127.0.0.1"}, scene.user.run_options());
  INFO(run.err);
  CHECK(run.exit_code == 2);
  CHECK_FALSE(contains(run.err, "kite#7"));
}

}  // namespace msprof::test
