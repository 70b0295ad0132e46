// scripts/demo-board with typical faults of boards, one at a time and combined.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <string>

#include "board/collect_board_fixture.hpp"
#include "board/collect_views.hpp"
#include "support/files.hpp"
#include "support/loopback.hpp"
#include "support/network_proxy.hpp"
#include "support/require.hpp"
#include "support/small_disk.hpp"
#include "support/ssh_client.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

std::string find_demo_value(const std::string& ini, const std::string& key) {
  const auto begin = ini.find("\n" + key + " = ") + key.size() + 4;
  return ini.substr(begin, ini.find('\n', begin) - begin);
}

Words joined(Words left, const Words& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

// A demo board with faults, and a user with its password.
struct FaultyBoard {
  explicit FaultyBoard(const Words& options)
      : program("/usr/bin/env",
                joined({std::string("DEMO_BOARD_LINE=") + BOARD_LINE, DEMO_BOARD, "--folder", place,
                        "--port", std::to_string(20000 + ::getpid() % 10000)},
                       options)) {
    REQUIRE(eventually([&] { return fs::exists(place / "board.ini") || program.has_ended(); }));
    REQUIRE_FALSE(program.has_ended());
    ini = read_file(place / "board.ini");
  }
  std::string run(const std::string& command) const {
    const RunResult result =
        client.run_with_answer(static_cast<std::uint16_t>(std::stoi(find_demo_value(ini, "port"))),
                               find_demo_value(ini, "pwd"), command);
    UNSCOPED_INFO(result.err);
    return result.out;
  }
  std::string end() {
    program.send(SIGINT);
    const RunResult result = program.wait();
    CHECK(result.exit_code == 0);
    return result.out;
  }

  TempFolder folder;
  fs::path place = folder / "board";
  SshClient client{.home = folder / "user", .accept_new_host_keys = true};
  RunningProgram program;
  std::string ini;
};

bool is_mounted(const fs::path& place) {
  return read_file("/proc/self/mounts").find(" " + place.string() + " ") != std::string::npos;
}

}  // namespace

TEST_CASE("--disk limits the size of the board's home, which can be filled") {
  if (!SmallDisk::is_available_or_skip()) return;
  FaultyBoard board({GENERATE("openssh", "dropbear"), "--disk", "2M"});
  const std::string full =
      board.run("dd if=/dev/zero of=big bs=1024 count=3000 2>&1; wc -c < big; rm big; df -k .");
  INFO(full);
  CHECK(contains(full, "No space left on device"));
  CHECK(contains(full, " 2048 "));
  CHECK(contains(board.run("echo there > file; cat file"), "there"));
  CHECK(contains(board.end(), "a disk of 2M"));
  CHECK_FALSE(is_mounted(board.place / "home"));
  CHECK_FALSE(fs::exists(board.place / "home/file"));
}

TEST_CASE("--cut-every breaks every connection repeatedly and accepts new ones") {
  // If this machine needs longer for a login than the connection lasts, a longer interval is tried.
  bool lets_in = false;
  for (const std::string interval : {"3s", "12s", "48s"}) {
    FaultyBoard board({"--cut-every", interval});
    CHECK_FALSE(contains(board.run("sleep 1000; echo whole"), "whole"));
    CHECK_FALSE(contains(board.run("sleep 1000; echo whole"), "whole"));
    for (int tries = 0; tries < 5 && !lets_in; ++tries)
      lets_in = contains(board.run("echo in"), "in");
    CHECK(contains(board.end(), "cut every " + interval));
    if (lets_in) break;
  }
  CHECK(lets_in);
}

TEST_CASE("--slow limits the rate") {
  FaultyBoard board({"--slow", "400K"});
  const auto begin = std::chrono::steady_clock::now();
  const std::string bytes = board.run("dd if=/dev/zero bs=1024 count=800 2>/dev/null");
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  CHECK(bytes.size() == 800 << 10);
  // The limit sets a minimum; the actual time depends on this machine.
  CHECK(spent.count() > 1.5);
  CHECK(contains(board.end(), "400K a second"));
}

TEST_CASE("A board without SFTP, without tar, with busybox or with the tools of the machine") {
  FaultyBoard bare({"--no-sftp", "--no-tar", "--without", "stat", "--busybox"});
  CHECK(bare.run("for tool in tar stat sh; do command -v $tool; done") ==
        (bare.place / "tools/sh").string() + "\n");
  CHECK(contains(bare.run("sh --help 2>&1"), "BusyBox"));
  CHECK_FALSE(contains(read_file(bare.place / "etc/sshd_config"), "sftp"));
  CHECK(contains(bare.end(), "openssh, no SFTP, no tar, no stat"));
  FaultyBoard rich({"--gnu"});
  CHECK(contains(rich.run("tar --version"), "GNU"));
  CHECK(contains(read_file(rich.place / "etc/sshd_config"), "sftp"));
  CHECK(rich.end().find("The board is running (openssh)") == 0);
}

TEST_CASE("Invalid options are refused before anything is created, and --help lists every option") {
  const TempFolder folder;
  for (const Words& bad : {Words{"--disk", "16X"}, Words{"--disk"}, Words{"--slow", "0"},
                           Words{"--slow", "-1"}, Words{"--cut-every", "2"}, Words{"--port", "x"},
                           Words{"--cut-every", "0s"}, Words{"telnet"}}) {
    const RunResult result =
        run_program(DEMO_BOARD, joined({"--folder", (folder / "b").string()}, bad));
    INFO(bad.front() << ": " << result.err);
    CHECK(result.exit_code == 2);
    CHECK_FALSE(result.err.empty());
    CHECK_FALSE(fs::exists(folder / "b"));
  }
  const RunResult help = run_program(DEMO_BOARD, {"--help"});
  CHECK(help.exit_code == 0);
  for (const char* option : {"--folder", "--port", "--disk", "--slow", "--cut-every", "--no-sftp",
                             "--no-tar", "--without", "--busybox", "--gnu"}) {
    CHECK(contains(help.out, option));
  }
}

TEST_CASE("A run succeeds with a small disk, a slow connection, no SFTP and no tar") {
  if (!SmallDisk::is_available_or_skip()) return;
  const BoardScene scene;  // only its user is needed
  FaultyBoard board({GENERATE("openssh", "dropbear"), "--disk", "64M", "--slow", "8M", "--no-sftp",
                     "--no-tar", "--busybox"});
  configure(scene.user, board.ini + "host_key = accept-new\n");
  const RunResult run =
      scene.user.collect({}, {"job", kBoardJob, "big", "large", std::to_string(2 << 20)});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK((read_file(scene.user.in_job("data/large")) == big_bytes(2 << 20)));
  board.end();
}

TEST_CASE("A run over an unreliable connection fetches everything or reports what is lost") {
  // If this machine needs longer for a login than the connection lasts, a longer interval is tried.
  bool has_run = false;
  for (const std::string interval : {"3s", "12s", "48s"}) {
    const BoardScene scene;
    FaultyBoard board({"--cut-every", interval, "--slow", "4M", "--no-tar"});
    configure(scene.user, board.ini + "host_key = accept-new\nconnect_timeout = " + kAmple + "\n");
    const RunResult run = scene.user.collect(
        {"--reconnect", kAmple}, {"job", kBoardJob, "big", "large", std::to_string(3 << 20)});
    INFO(run.err);
    board.end();
    if (run.exit_code == 0) {
      REQUIRE(names_in(scene.user.output()) == kOnlyJob);
      CHECK((read_file(scene.user.in_job("data/large")) == big_bytes(3 << 20)));
    } else {
      CHECK(run.exit_code == 6);
    }
    has_run = run.exit_code == 0 || contains(run.err, "the connection was lost");
    if (has_run) break;
  }
  CHECK(has_run);
}

TEST_CASE("A proxy of the tests shares a limited line among its connections, in each direction") {
  const BoardServer board;
  const NetworkProxy line(board.port(), Line{.bytes_per_second = 300 << 10});
  const SshClient client{board.client_home(), true};
  const auto begin = std::chrono::steady_clock::now();
  RunningProgram one("/usr/bin/env",
                     joined({"HOME=" + board.client_home().string()},
                            client.words_with_key(line.port(), board.client_key(),
                                                  "dd if=/dev/zero bs=1024 count=300")));
  const RunResult other =
      client.run_with_key(line.port(), board.client_key(), "dd if=/dev/zero bs=1024 count=300");
  const RunResult first = one.wait();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  CHECK(first.out.size() == 300 << 10);
  CHECK(other.out.size() == 300 << 10);
  CHECK(spent.count() > 1.8);
}

}  // namespace msprof::test
