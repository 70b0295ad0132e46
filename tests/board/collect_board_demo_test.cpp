// Runs the demo application on a board with one command, from its ini file to its tables.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "board/collect_board_fixture.hpp"
#include "board/collect_views.hpp"
#include "support/files.hpp"

namespace msprof::test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

std::vector<std::string> stems_in(const fs::path& folder) {
  std::vector<std::string> stems;
  for (const std::string& name : names_in(folder)) stems.push_back(name.substr(0, name.find('.')));
  return stems;
}

}  // namespace

TEST_CASE("The demo runs on a board, and its timelines and tables are made, by one command") {
  const BoardScene scene({.kind = each_kind()});
  const fs::path project = scene.user.at("demo");
  fs::create_directories(project);
  for (const char* name : {"main", "libsvp_acl.so", "acl.json", "models"}) {
    fs::copy(fs::path(DEMO_FOLDER) / name, project / name, fs::copy_options::recursive);
  }
  // As in the manual: the ini file next to the program, with the password in it.
  const std::string password = scene.board.password();
  write_file(project / "board.ini", scene.board.ini());
  fs::permissions(project / "board.ini", fs::perms::owner_read | fs::perms::owner_write);
  const std::string before = fingerprint(project);
  const RunResult run =
      run_msprof({"collect", "-m", "main", "--config", "board.ini", "--all", "--json", "--output",
                  scene.user.output(), "--", "--images", "3"},
                 {.folder = project, .variables = scene.board.client_variables()});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(fingerprint(project) == before);
  const Json document = parse_document(run);
  REQUIRE(document.at("captures").size() == 1);
  CHECK(document.at("captures")[0].at("has_data") == true);
  CHECK(document.at("notes").empty());
  CHECK(document.at("results").at(0).at("exit_code") == 0);
  CHECK(contains(run.err, "3 images"));
  const fs::path capture = document.at("captures")[0].at("path").get<std::string>();
  CHECK(capture.parent_path() == scene.user.output());
  CHECK(query(capture / "sqlite/msprof.db", "select count(*) > 100 from task") == Words{"1"});
  CHECK(stems_in(capture / "timeline") == Words{"acl_0", "task_time_0"});
  CHECK(names_in(capture / "summary").size() == 3);
  CHECK(files_with(scene.user.output(), password).empty());
  CHECK(files_with(scene.board.home(), password).empty());
  CHECK(scene.litter() == "");

  // The store does not depend on where the capture was made.
  const RunResult shown = run_msprof({"show", "-dir", capture, "--top", "3"});
  CHECK(shown.exit_code == 0);
  CHECK(contains(shown.out, "face_mask"));
}

}  // namespace msprof::test
