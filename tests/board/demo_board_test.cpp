// scripts/demo-board, the board for new users: start and stop as a user would do them.
#include <signal.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/board_processes.hpp"
#include "support/eventually.hpp"
#include "support/files.hpp"
#include "support/loopback.hpp"
#include "support/run_program.hpp"
#include "support/ssh_client.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

std::string find_value(const std::string& ini, const std::string& key) {
  const auto begin = ini.find("\n" + key + " = ") + key.size() + 4;
  return ini.substr(begin, ini.find('\n', begin) - begin);
}

struct DemoBoard {
  DemoBoard(const std::string& kind, const fs::path& folder, std::uint16_t port)
      : program(DEMO_BOARD, {kind, "--folder", folder, "--port", std::to_string(port)}) {
    REQUIRE(eventually([&] { return fs::exists(folder / "board.ini") || program.has_ended(); }));
    REQUIRE_FALSE(program.has_ended());
    ini = read_file(folder / "board.ini");
  }
  std::uint16_t port() const {
    return static_cast<std::uint16_t>(std::stoi(find_value(ini, "port")));
  }
  std::string password() const { return find_value(ini, "pwd"); }

  RunningProgram program;
  std::string ini;
};

}  // namespace

TEST_CASE("Apt is not called if all is installed, and another running apt is waited for") {
  const TempFolder folder;
  const auto put = [&](const std::string& name, const std::string& script) {
    write_file(folder / name, "#!/bin/sh\n" + script);
    fs::permissions(folder / name, fs::perms::owner_all);
  };
  const std::string log = (folder / "log").string();
  put("sudo", "exec \"$@\"\n");
  put("sleep", "exit 0\n");
  put("dpkg-query", "[ \"$3\" != missing ] && echo 'install ok installed'\n");
  put("apt-get", "echo \"$*\" >>" + log + "\nif [ $1 = update ] && [ $(grep -c update " + log +
                     ") -lt 3 ]; then echo 'E: Could not get lock /x' >&2; exit 100; fi\n");
  const auto setup = [&](const std::string& package) {
    const std::string path = folder.path().string() + ":" + std::getenv("PATH");
    return run_program(fs::path(DEMO_BOARD).parent_path() / "setup", {"--only", package},
                       {.variables = {{"PATH", path}}});
  };
  CHECK(setup("there").exit_code == 0);
  CHECK_FALSE(fs::exists(log));
  const RunResult waited = setup("missing");
  INFO(waited.err);
  CHECK(waited.exit_code == 0);
  CHECK(waited.err.find("waiting for another apt process to end") != std::string::npos);
  CHECK(read_file(log) ==
        "update -q\nupdate -q\nupdate -q\n"
        "install -y -q --no-install-recommends -o DPkg::Lock::Timeout=900 missing\n");
}

TEST_CASE("The demo board accepts logins with its ini and stops all its processes at the end") {
  const std::string kind = GENERATE("openssh", "dropbear");
  const TempFolder folder;
  const fs::path place = folder / "my board";
  const SshClient client{.home = folder / "user", .accept_new_host_keys = true};
  const ReservedPort reserved;
  std::string host_keys;
  for (int round = 0; round < 2; ++round) {
    DemoBoard board(kind, place, reserved.number());
    CHECK(board.port() == reserved.number());
    CHECK((fs::status(place / "board.ini").permissions() & fs::perms::mask) ==
          (fs::perms::owner_read | fs::perms::owner_write));
    const RunResult in = client.run_with_answer(board.port(), board.password(),
                                                "pwd; sleep 1005 >/dev/null 2>&1 & echo $!");
    const std::string first = place.string() + "/home\n";
    REQUIRE(in.out.find(first) == 0);
    const pid_t pid = std::stoi(in.out.substr(first.size()));
    CHECK(is_running(pid));
    CHECK(client.run_with_answer(board.port(), "wrong", "echo in").out.empty());
    board.program.send(SIGINT);
    const RunResult end = board.program.wait();
    CHECK(end.exit_code == 0);
    CHECK(end.out.find("pwd = " + board.password()) != std::string::npos);
    // A child process that has just started may hold the socket for a moment.
    CHECK(eventually([&] { return !somebody_listens(board.port()); }));
    CHECK_FALSE(fs::exists(place / "board.ini"));
    CHECK(eventually([&] { return !is_running(pid); }));
    // After a restart, the board has the same host keys.
    if (round == 0) host_keys = read_file(client.known_hosts());
    CHECK(read_file(client.known_hosts()) == host_keys);
  }
}

TEST_CASE("The demo board uses another port if its own is in use") {
  const TempFolder folder;
  std::uint16_t taken = 0;
  const Descriptor listener = listen_on_loopback(taken);
  DemoBoard board("openssh", folder / "board", taken);
  CHECK(board.port() > taken);
  CHECK(somebody_listens(board.port()));
  board.program.send(SIGTERM);
  CHECK(board.program.wait().exit_code == 0);
}

}  // namespace msprof::test
