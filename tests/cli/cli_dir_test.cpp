// The captures that a command selects: by all forms of -dir, and the newest one without it.
#include <catch2/catch.hpp>

#include "cli/cli_fixture.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

bool has_store(const fs::path& capture) {
  return fs::exists(capture / "sqlite" / "msprof.db");
}

}  // namespace

TEST_CASE("-dir, --dir and --collection-dir are one option, with a blank or =") {
  const TempFolder folder;
  const std::string dir = make_face(folder.path(), "JOBA").folder().string();
  for (const Words& words :
       {Words{"-dir", dir}, Words{"-dir=" + dir}, Words{"--dir", dir}, Words{"--dir=" + dir},
        Words{"--collection-dir", dir}, Words{"--collection-dir=" + dir}}) {
    INFO(words.front());
    fs::remove_all(folder / "JOBA/sqlite");
    Words all = {"import"};
    all.insert(all.end(), words.begin(), words.end());
    CHECK(run_msprof(all).exit_code == 0);
    CHECK(has_store(folder / "JOBA"));
  }
}

TEST_CASE("several folders, a glob, or a folder of captures are accepted, each capture once") {
  const TempFolder folder;
  for (const char* name : {"JOBA", "JOBB", "JOBC"}) make_face(folder.path(), name);
  fs::create_directories(folder / "JOBX");  // not a capture
  const std::string base = folder.path().string();
  const std::vector<std::pair<Words, Words>> cases = {
      {{"-dir", base + "/JOBA", base + "/JOBC"}, {"JOBA", "JOBC"}},
      {{"-dir", base + "/JOBA", "-dir", base + "/JOBC"}, {"JOBA", "JOBC"}},
      {{"-dir", base + "/JOB*"}, {"JOBA", "JOBB", "JOBC"}},
      {{"-dir", base + "/JOB[AB]"}, {"JOBA", "JOBB"}},
      {{"-dir", base}, {"JOBA", "JOBB", "JOBC"}},
      {{"-dir", base + "/JOBB", base + "/./JOBB"}, {"JOBB"}},
  };
  for (const auto& [words, names] : cases) {
    Words all = {"import", "--json"};
    all.insert(all.end(), words.begin(), words.end());
    const auto result = run_msprof(all);
    INFO(words.back() << "\n" << result.err);
    REQUIRE(result.exit_code == 0);
    Words taken;
    const auto document = nlohmann::json::parse(result.out);
    for (const auto& capture : document.at("captures")) {
      taken.push_back(fs::path(capture.at("folder").get<std::string>()).filename().string());
    }
    CHECK(taken == names);
  }
}

TEST_CASE("a trailing slash does not matter") {
  const TempFolder folder;
  const std::string dir = make_face(folder.path(), "JOBA").folder().string();
  CHECK(run_msprof({"import", "-dir", dir + "/"}).exit_code == 0);
  CHECK(has_store(folder / "JOBA"));
  CHECK(run_msprof({"import", "-dir", dir + "/", dir, "--output", (folder / "out").string()})
            .exit_code == 0);
  CHECK(names_in(folder / "out") == Words{"log", "sqlite"});
}

TEST_CASE("an existing name with glob characters is not a pattern") {
  const TempFolder folder;
  make_face(folder.path(), "JOB[1]");
  make_face(folder.path(), "JOB1");
  CHECK(run_msprof({"import", "-dir", (folder / "JOB[1]").string()}).exit_code == 0);
  CHECK(has_store(folder / "JOB[1]"));
  CHECK_FALSE(has_store(folder / "JOB1"));
}

TEST_CASE("without -dir the current folder is used if it is a capture, with a message") {
  const TempFolder folder;
  make_face(folder.path(), "JOBA");
  const auto result = run_msprof({"import"}, {.folder = folder / "JOBA"});
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "no -dir given: using " + (folder / "JOBA").string() + "\n"));
  CHECK(has_store(folder / "JOBA"));
}

TEST_CASE("without -dir the newest child by info.json is used, not the last by name") {
  const TempFolder folder;
  const auto old_one = make_face(folder.path(), "JOBZ");
  const auto new_one = make_face(folder.path(), "JOBA");
  set_age(old_one, 10);
  set_age(new_one, 20);
  // The modification time of the folder is ignored.
  write_file(folder / "JOBZ/later", "x");
  const auto result = run_msprof({"import"}, {.folder = folder.path()});
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "using " + new_one.folder().string()));
  CHECK(has_store(new_one.folder()));
  CHECK_FALSE(has_store(old_one.folder()));
}

TEST_CASE("without -dir the newest capture at any depth is used") {
  const TempFolder folder;
  const auto older = make_face(folder / "run2", "JOBA");
  const auto newer = make_face(folder / "run1", "JOBA");
  set_age(older, 10);
  set_age(newer, 20);
  CHECK(run_msprof({"import"}, {.folder = folder.path()}).exit_code == 0);
  CHECK(has_store(newer.folder()));
  CHECK_FALSE(has_store(older.folder()));
  const auto child = make_face(folder.path(), "JOBC");
  set_age(child, 1);
  const auto deep = make_face(folder / "a/b/c", "JOBD");
  set_age(deep, 30);
  CHECK(run_msprof({"import"}, {.folder = folder.path()}).exit_code == 0);
  CHECK_FALSE(has_store(child.folder()));
  CHECK(has_store(deep.folder()));
}

TEST_CASE("an invalid folder is reported and does not stop the others") {
  const TempFolder folder;
  const std::string good = make_face(folder.path(), "JOBA").folder().string();
  const std::string wrong = (folder / "nope").string();
  const auto result = run_msprof({"import", "-q", "-dir", wrong, good});
  CHECK(result.exit_code == 4);
  CHECK(contains(result.err, "no such folder: " + wrong));
  CHECK(has_store(folder / "JOBA"));
}

TEST_CASE("an unknown summary is refused before anything is imported") {
  const TempFolder folder;
  const std::string dir = make_face(folder.path(), "JOBA").folder().string();
  const auto result = run_msprof({"export", "summary", "op_sumary", "-dir", dir});
  CHECK(result.exit_code == 2);
  CHECK(contains(result.err, "op_summary, op_statistic, acl_statistic"));
  CHECK_FALSE(has_store(folder / "JOBA"));
}
