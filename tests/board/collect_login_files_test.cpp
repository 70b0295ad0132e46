// Files used for login, boards that are only cleaned, and other guarantees of the board options.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "board/collect_board_fixture.hpp"
#include "board/collect_views.hpp"
#include "support/files.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

// Returns a line from the middle of a private key.
std::string middle_line(const fs::path& key) {
  const std::string text = read_file(key);
  const auto begin = text.find('\n', text.size() / 2) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

TEST_CASE("The ini and the key of a login are never sent, whatever they are called") {
  const BoardScene scene({.password_login = false});
  const fs::path project = scene.user.project();
  const fs::path key = project / "models/extra.om";
  fs::copy_file(scene.board.client_key(), key);
  // Too big and too oddly named to be recognized by content: only --config identifies it.
  std::string comments;
  while (comments.size() < 100'000) comments += "# what we know of this board\n";
  write_file(project / "notes", comments + scene.board.ini("key = " + key.string() + "\n"));
  fs::permissions(project / "notes", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("project/notes", scene.user.at("link"));
  RunOptions options = scene.user.run_options();
  options.folder = project;
  const std::string config = GENERATE("notes", "../link", "./models/../notes");
  INFO(config);
  const RunResult run = run_msprof({"collect", "-m", "main", "--config", config, "--output",
                                    scene.user.output(), "--", "job", kBoardJob},
                                   options);
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(files_with(scene.board.home(), middle_line(key)).empty());
  CHECK(files_with(scene.board.home(), "what we know of this board").empty());
  // If no option names them, they are ordinary files of the project.
  REQUIRE(scene.user.collect({}, {"job", kBoardJob}).exit_code == 0);
  CHECK(files_with(scene.board.home(), middle_line(key)).size() == 1);
  CHECK(files_with(scene.board.home(), "what we know of this board").size() == 1);
  CHECK(litter_on(scene.board) == "");
}

TEST_CASE("--clean-board alone removes all files and is reported in the --json document") {
  const BoardScene scene;
  REQUIRE(scene.user.collect({"--keep"}, {"job", kBoardJob}).exit_code == 0);
  REQUIRE_FALSE(names_in(scene.board.home() / "msprof/kept").empty());
  const RunResult run =
      run_msprof({"collect", "--config", scene.user.ini(), "--clean-board", "--json"},
                 scene.user.run_options());
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK_FALSE(fs::exists(scene.board.home() / "msprof"));
  const auto document = parse_document(run);
  CHECK(document.at("schema") == "msprof.collect/2");
  CHECK(document.at("host") == scene.board.address());
  CHECK(document.at("exit_code") == 0);
  CHECK(document.at("board").at("folder") == (scene.board.home() / "msprof").string());
  CHECK_FALSE(find_step(document, "clean board").is_null());
}

TEST_CASE("The --json document has host and board even if the run failed") {
  const BoardScene scene({.kind = BoardKind::dropbear});
  write_file(scene.user.project() / "for_arm",
             std::string("\x7f"
                         "ELF\x02\x01\x01",
                         7) +
                 std::string(9, '\0') + std::string("\x02\0\xb7\0", 4) + std::string(44, '\0'));
  fs::permissions(scene.user.project() / "for_arm", fs::perms::owner_all);
  const RunResult run = run_msprof({"collect", "-m", scene.user.project() / "for_arm", "--config",
                                    scene.user.ini(), "--output", scene.user.output(), "--json"},
                                   scene.user.run_options());
  INFO(run.err);
  const auto document = parse_document(run);
  CHECK(run.exit_code == 7);
  CHECK(document.at("host") == scene.board.address());
  CHECK(document.at("board").at("system") == "Linux");
  CHECK(document.at("board").at("sftp") == false);
  CHECK(contains(document.at("error").get<std::string>(), "for_arm"));
}
