// collect --watch for runs on a real board, and the output of its script.
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "board/board_run_fixture.hpp"
#include "board/collect_board_fixture.hpp"
#include "board/disk/board_peek.hpp"
#include "support/files.hpp"
#include "support/sample.hpp"
#include "support/typed_terminal.hpp"
#include "watch/watched_project.hpp"

namespace msprof::test {

namespace {

std::unique_ptr<TypedTerminal> watch_board(const BoardScene& scene, const Words& options = {}) {
  Words words = {"collect",        "-m",       scene.user.project() / "main", "--config",
                 scene.user.ini(), "--output", scene.user.output(),           "--watch"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", scene.user.at("end"), "a line of the application"});
  auto variables = scene.board.client_variables();
  variables.emplace_back("TERM", "xterm");
  return std::make_unique<TypedTerminal>(
      msprof_path(), words,
      TerminalOptions{.variables = variables, .stdout_is_file = false, .columns = 80, .rows = 24});
}

void be_watched(BoardScene& scene) {
  std::filesystem::remove(scene.user.project() / "main");
  write_watched_project(scene.user.project());
  scene.user.remember_project();
}

}  // namespace

TEST_CASE("--watch shows a run on a board: executions, layers, bytes and the board's disk") {
  const auto [kind, is_bare] = GENERATE_COPY(
      from_range(sample(std::vector<std::pair<BoardKind, bool>>{{BoardKind::openssh, false},
                                                                {BoardKind::openssh, true},
                                                                {BoardKind::dropbear, false},
                                                                {BoardKind::dropbear, true}},
                        2)));
  BoardOptions options{.kind = kind};
  if (is_bare) options.without = {"stat", "tar"};
  BoardScene scene(options);
  be_watched(scene);
  const auto terminal = watch_board(scene, {is_bare ? "--no-tty" : "--tty"});
  REQUIRE(terminal->wait_for("executions/s"));
  REQUIRE(terminal->wait_for(" conv1 "));
  REQUIRE(terminal->wait_for("2.00 ms"));
  REQUIRE(terminal->wait_for("disk of board: "));
  REQUIRE(terminal->wait_for("a line of the application", 2));
  write_file(scene.user.at("end"), "");
  const RunResult run = terminal->wait();
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(run.err.rfind("\033[r") > run.err.rfind("\033[1;"));
  CHECK(terminal->is_as_usual());
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(scene.litter() == "");
}

TEST_CASE("Losing the board ends the live view, and the run as usual") {
  BoardScene scene;
  be_watched(scene);
  const auto terminal = watch_board(scene, {"--reconnect", "0"});
  REQUIRE(terminal->wait_for("executions/s"));
  scene.board.stop();
  const RunResult run = terminal->wait();
  INFO(run.err);
  CHECK(run.exit_code == 6);
  CHECK(run.err.rfind("\033[r") > run.err.rfind("\033[1;"));
  CHECK(terminal->is_as_usual());
}

TEST_CASE("A board query returns file sizes and the requested chunks") {
  const auto kind = each_kind();
  BoardOptions options{.kind = kind};
  if (GENERATE(false, true)) options.without = {"stat"};
  const BoardServer board(options);
  const TempFolder there;
  const TempFolder here;
  const std::string bytes = big_bytes(20'000);
  const std::string odd = "JOBA/data/a name; with $(odd) 'signs' *";
  write_file(there / odd, bytes);
  write_file(there / "JOBA/drained", std::string(10'000, '\0') + bytes.substr(10'000));
  write_file(there / "JOBA/line\nbreak", "x");
  write_file(here / "JOBA/drained", bytes.substr(0, 12'000));
  BoardShell shell(make_config(board).login);
  shell.connect();
  BoardPeek peek(shell, there.path(), [&](const std::string& path) { return here.path() / path; });
  REQUIRE(peek.is_ready());
  peek.ask({{odd, 5'000, 9'000},
            {"JOBA/drained", 100, 9'900},
            {"JOBA/drained", 15'000, 9'900},
            {"JOBA/absent", 0, 10}},
           true);
  CHECK_FALSE(peek.is_ready());
  std::optional<Peeked> peeked;
  REQUIRE(eventually([&] { return (peeked = peek.take()).has_value(); }));
  CHECK(peek.trouble().empty());
  CHECK(peeked->files.size() == 2);
  CHECK(peeked->free_bytes.value_or(0) > 0);
  std::map<std::pair<std::string, std::uint64_t>, std::string> parts;
  for (const PeekedPart& part : peeked->parts) parts[{part.path, part.from}] = part.bytes;
  CHECK(parts[{odd, 5'000}] == bytes.substr(5'000, 9'000));
  CHECK(parts[{"JOBA/drained", 100}] == bytes.substr(100, 9'900));
  CHECK(parts[{"JOBA/drained", 15'000}] == bytes.substr(15'000));
  CHECK(parts[{"JOBA/absent", 0}].empty());
  CHECK(peek.is_ready());
}

TEST_CASE("The board's answer is parsed with any bytes, but not if incomplete") {
  const std::vector<PeekWish> wishes = {{"JOBA/data/x", 4'100, 6}, {"JOBA/data/y", 0, 100}};
  const std::string good =
      "f 4106 ./JOBA/data/x\nf 3 ./JOBA/data/y\nf 9 ./../up\nf x ./odd\nend W\nfree "
      "12\npart\n1234\nover"
      " V\n\nover W\npart\ny\n\n\nover W\nround W\n";
  const auto peeked = parse_peek_answer(good, "W", wishes);
  REQUIRE(peeked);
  REQUIRE(peeked->files.size() == 2);
  CHECK(peeked->files[0].path == "JOBA/data/x");
  CHECK(peeked->files[0].bytes == 4'106);
  CHECK(peeked->free_bytes == 12 * 1024);
  REQUIRE(peeked->parts.size() == 2);
  // The board sends whole blocks; the first four bytes had already been read.
  CHECK(peeked->parts[0].from == 4'100);
  CHECK(peeked->parts[0].bytes == "\nover ");
  CHECK(peeked->parts[1].bytes == "y\n\n");
  for (std::size_t size = 0; size < good.size() - std::string("\nround W\n").size(); ++size) {
    INFO(good.substr(0, size));
    CHECK_FALSE(parse_peek_answer(good.substr(0, size), "W", wishes));
  }
  CHECK(parse_peek_answer("end W\nround W\n", "W", {})->files.empty());
  CHECK_FALSE(parse_peek_answer("end V\nround V\n", "W", {}));
}

}  // namespace msprof::test
