// Checks the tests' board with the standard ssh client.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/board_server.hpp"
#include "support/eventually.hpp"
#include "support/files.hpp"
#include "support/run_program.hpp"
#include "support/ssh_client.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

// Returns the duration of each process's sleep, sorted; "?" for another command.
std::vector<std::string> list_sleeps(const std::vector<BoardProcess>& processes) {
  constexpr std::string_view kSleep = "sleep ";
  std::vector<std::string> seconds;
  for (const BoardProcess& process : processes) {
    const auto at = process.command.rfind('/') + 1;  // 0 without a slash
    const bool sleeps = process.command.compare(at, kSleep.size(), kSleep) == 0;
    seconds.push_back(sleeps ? process.command.substr(at + kSleep.size()) : "?");
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

}  // namespace

TEST_CASE("Every kind of board lets its account in by password and by key and refuses others") {
  const auto kind =
      GENERATE(BoardKind::openssh, BoardKind::openssh_without_sftp, BoardKind::dropbear);
  BoardServer board({.kind = kind});
  const RunResult by_key = ssh(board, "pwd; id -u; exit 7");
  CHECK(by_key.out == board.home().string() + "\n" + std::to_string(::getuid()) + "\n");
  CHECK(by_key.exit_code == 7);
  CHECK(ssh_with_password(board, board.password(), "echo in").out == "in\n");
  const RunResult refused = ssh_with_password(board, "blue", "echo in");
  CHECK(refused.exit_code == 255);
  CHECK(refused.out.empty());
}

TEST_CASE("A board can refuse passwords, keys, or need nothing at all") {
  const auto kind = GENERATE(BoardKind::openssh, BoardKind::dropbear);
  SECTION("no passwords") {
    BoardServer board({.kind = kind, .password_login = false});
    CHECK(ssh_with_password(board, board.password(), "echo in").exit_code != 0);
    CHECK(ssh(board, "echo in").out == "in\n");
  }
  SECTION("no keys") {
    BoardServer board({.kind = kind, .key_login = false});
    CHECK(ssh_with_password(board, board.password(), "echo in").out == "in\n");
    CHECK(ssh(board, "echo in").exit_code == 255);
  }
  SECTION("nothing needed") {
    BoardServer board({.kind = kind, .password = "", .key_login = false});
    CHECK(ssh(board, "echo in").out == "in\n");
  }
}

TEST_CASE("Only the board that has an sftp service offers one") {
  const auto kind =
      GENERATE(BoardKind::openssh, BoardKind::openssh_without_sftp, BoardKind::dropbear);
  BoardServer board({.kind = kind});
  write_file(board.home() / "a", "abc");
  const fs::path target = board.client_home() / "fetched";
  std::vector<std::string> words = {"sftp", "-P", std::to_string(board.port()), "-i",
                                    board.client_key()};
  for (const auto& word : SshClient{board.client_home()}.options()) words.push_back(word);
  words.insert(words.end(), {"board@127.0.0.1:a", target});
  const RunResult result =
      run_program("/usr/bin/env", words, {.variables = board.client_variables()});
  INFO(result.err);
  CHECK((result.exit_code == 0) == (kind == BoardKind::openssh));
  CHECK(fs::exists(target) == (kind == BoardKind::openssh));
}

TEST_CASE("A board has the tools that the test gives it") {
  SECTION("busybox, without two") {
    BoardServer board({.without = {"tar", "stat"}});
    CHECK(ssh(board, "tar --help").exit_code == 127);
    CHECK(ssh(board, "stat /").exit_code == 127);
    CHECK(ssh(board, "find --help 2>&1 | head -1").out.find("BusyBox") == 0);
  }
  SECTION("GNU") {
    BoardServer board({.userland = Userland::gnu});
    CHECK(ssh(board, "tar --version | head -1").out.find("tar (GNU tar)") == 0);
  }
  SECTION("one of its own") {
    BoardServer board({.kind = BoardKind::dropbear});
    board.replace_tool("tar", "echo \"mine: $*\"");
    CHECK(ssh(board, "tar cf - x").out == "mine: cf - x\n");
  }
}

TEST_CASE("A board can talk before the login and before every command") {
  const auto kind = GENERATE(BoardKind::openssh, BoardKind::dropbear);
  BoardServer board({.kind = kind, .greeting = "Welcome!\n", .banner = "Private board.\n"});
  const RunResult result = ssh(board, "echo answer");
  CHECK(result.out == "Welcome!\nanswer\n");
  CHECK(result.err.find("Private board.") != std::string::npos);
}

TEST_CASE("The user's side knows the board's key until it changes") {
  const auto kind = GENERATE(BoardKind::openssh, BoardKind::dropbear);
  BoardServer board({.kind = kind});
  const auto port = board.port();
  const std::string first = board.host_key_fingerprint();
  CHECK(first.find("SHA256:") == 0);
  REQUIRE(ssh(board, "true").exit_code == 0);
  board.change_host_key();
  CHECK(board.port() == port);
  CHECK(board.host_key_fingerprint() != first);
  const RunResult changed = ssh(board, "true");
  CHECK(changed.exit_code == 255);
  CHECK(changed.err.find("HOST IDENTIFICATION HAS CHANGED") != std::string::npos);
  CHECK(changed.err.find(board.host_key_fingerprint()) != std::string::npos);
  board.forget_host_key();
  const RunResult unknown = ssh(board, "true");
  CHECK(unknown.exit_code == 255);
  CHECK(unknown.err.find("Host key verification failed") != std::string::npos);
}

TEST_CASE("What the account runs is found and ended, whatever it does to hide") {
  const auto kind = GENERATE(BoardKind::openssh, BoardKind::dropbear);
  BoardServer board({.kind = kind});
  REQUIRE(board.processes().empty());
  // Starts processes in the background, in a new session, and with an empty environment.
  const RunResult left = ssh(board,
                             "exec >/dev/null 2>&1; sleep 1001 & setsid sleep 1002 & "
                             "env -i $(which setsid) $(which sleep) 1003 & true");
  REQUIRE(left.exit_code == 0);
  // Does not count processes: at first, there are shells and env as well.
  std::vector<BoardProcess> found;
  const bool all_sleep = eventually([&] {
    found = board.processes();
    return list_sleeps(found) == std::vector<std::string>{"1001", "1002", "1003"};
  });
  INFO(describe(found));
  REQUIRE(all_sleep);
  board.stop();
  CHECK(board.processes().empty());
  for (const auto& process : found) CHECK_FALSE(is_running(process.pid));
  CHECK(ssh(board, "true").err.find("refused") != std::string::npos);
  board.start();
  CHECK(ssh(board, "echo again").out == "again\n");
}

TEST_CASE("Dropped connections leave the board and its processes alone") {
  const auto kind = GENERATE(BoardKind::openssh, BoardKind::dropbear);
  BoardServer board({.kind = kind});
  RunningProgram running("/usr/bin/env", ssh_words(board, "trap '' HUP; echo up; sleep 1004"),
                         {.variables = board.client_variables()});
  // Waits for the sleep: while printing "up", the script would end if it had no connection.
  REQUIRE(eventually([&] {
    const auto sleeps = list_sleeps(board.processes());
    return std::find(sleeps.begin(), sleeps.end(), "1004") != sleeps.end();
  }));
  CHECK(board.connections() == 1);
  board.drop_connections();
  CHECK(running.wait().exit_code == 255);
  CHECK(eventually([&] { return board.connections() == 0; }));
  CHECK_FALSE(board.processes().empty());
  CHECK(ssh(board, "echo in").out == "in\n");
}

TEST_CASE("The account's home can be a folder of the test") {
  TempFolder folder;
  BoardServer board({.home = folder / "elsewhere"});
  CHECK(ssh(board, "pwd; echo kept >file").out == (folder / "elsewhere").string() + "\n");
  CHECK(read_file(folder / "elsewhere" / "file") == "kept\n");
}

}  // namespace msprof::test
