// Checks the keyboard-interactive server and the small disk of the tests.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "support/board_server.hpp"
#include "support/kbdint_server.hpp"
#include "support/small_disk.hpp"
#include "support/ssh_client.hpp"

namespace msprof::test {

TEST_CASE(
    "Only the right answer to its prompt lets a client in, and commands are run to their end") {
  const bool empty_round = GENERATE(false, true);
  const KbdintServer server({.empty_round_at_end = empty_round});
  const RunResult good = ssh_with_answer(server, "blue;kite#7", "echo out; echo err >&2; exit 7");
  CHECK(good.out == "out\n");
  CHECK(good.err.find("err\n") != std::string::npos);
  CHECK(good.exit_code == 7);
  CHECK(server.refusals() == 0);
  CHECK(ssh_with_answer(server, "red", "echo out").out.empty());
  CHECK(server.refusals() == 1);
  CHECK(server.dialogues() == 2);
  CHECK(ssh_with_answer(server, "blue;kite#7", "head -c 3000000 /dev/zero").out.size() ==
        3'000'000);
}

TEST_CASE("No other way of login is offered") {
  const KbdintServer server;
  const RunResult result =
      SshClient{server.client_home()}.run_with_key(server.port(), "no key", "true");
  CHECK(result.exit_code == 255);
  CHECK(result.err.find("(keyboard-interactive)") != std::string::npos);
  CHECK(server.dialogues() == 0);
}

TEST_CASE("A small disk takes what it is made for and no more, for a board's processes too") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(1 << 20);
  {
    std::ofstream file(disk / "file");
    file << std::string(2 << 20, 'x') << std::flush;
    CHECK_FALSE(file.good());
  }
  CHECK(std::filesystem::file_size(disk / "file") <= 1 << 20);
  CHECK(std::filesystem::space(disk.path()).available == 0);
  std::filesystem::remove(disk / "file");
  BoardServer board({.home = disk / "home"});
  const RunResult result = ssh(board, "cat /dev/zero >zeros; wc -c <zeros");
  CHECK(result.err.find("No space left on device") != std::string::npos);
  CHECK(std::stoi(result.out) > 500'000);
  CHECK(std::stoi(result.out) <= 1 << 20);
}

}  // namespace msprof::test
