// Exit codes as in the README's table, and how command-line arguments are interpreted.
#include <catch2/catch.hpp>

#include "cli/cli_fixture.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

TEST_CASE("exit code 0 for a capture that is read completely") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  const std::string dir = job.folder().string();
  CHECK(run_msprof({"import", "-dir", dir}).exit_code == 0);
  CHECK(run_msprof({"export", "timeline", "-dir", dir}).exit_code == 0);
  CHECK(run_msprof({"export", "summary", "-dir", dir}).exit_code == 0);
  CHECK(run_msprof({"show", "-dir", dir}).exit_code == 0);
}

TEST_CASE("exit code 2 for unknown arguments, with the correct form") {
  const auto [words, listed] = GENERATE(table<Words, std::string>({
      {{"imprt"}, "import"},
      {{"--"}, "collect"},
      {{"export"}, "timeline, summary"},
      {{"export", "everything"}, "timeline, summary"},
      {{"show", "--topp", "3"}, "--top"},
      {{"import", "--layot", "x"}, "--layout"},
      {{"show", "stray"}, "-dir stray"},
      {{"export", "summary", "--format", "xml"}, "csv"},
      {{"show", "--top", "many"}, "--top"},
      {{"show", "--top"}, "--top"},
      {{"show", "--", "x"}, "--"},
      {{"export", "summary", "JOBXXX"}, "msprof export summary -dir JOBXXX"},
      {{"export", "summary", "op_sumary"}, "did you mean op_summary?"},
      {{"export", "timeline", "--layers", "tasktime"}, "did you mean task_time?"},
      {{"query", "JOBXXX"}, "msprof query -dir JOBXXX"},
  }));
  const auto result = run_msprof(words);
  INFO(result.err);
  CHECK(result.exit_code == 2);
  CHECK(result.out.empty());
  CHECK(contains(result.err, "error: "));
  CHECK(contains(result.err, listed));
}

TEST_CASE("exit code 2 for invalid numbers") {
  const TempFolder folder;
  const std::string dir = make_face(folder.path(), "JOBA").folder().string();
  CHECK(run_msprof({"show", "-dir", dir, "--top", "0"}).exit_code == 2);
  CHECK(run_msprof({"show", "-dir", dir, "--top", "-3"}).exit_code == 2);
  for (const char* number : {"1", "-1", "99999999999"}) {
    const auto result = run_msprof({"show", "-dir", dir, "--capture", number});
    CHECK(result.exit_code == 2);
    CHECK(contains(result.err, "valid: 0 to 0"));
  }
}

TEST_CASE("exit code 2 for an unknown summary, with the valid names") {
  const TempFolder folder;
  const std::string dir = make_face(folder.path(), "JOBA").folder().string();
  const auto result = run_msprof({"export", "summary", "op_sumary", "-dir", dir});
  CHECK(result.exit_code == 2);
  CHECK(contains(result.err, "'op_sumary'"));
  CHECK(contains(result.err, "op_summary, op_statistic, acl_statistic"));
  CHECK_FALSE(fs::exists(folder.path() / "JOBA" / "summary"));
}

TEST_CASE("exit code 2 for an invalid layout, with the error") {
  const TempFolder folder;
  const std::string dir = make_face(folder.path(), "JOBA").folder().string();
  const std::string layout = (folder / "layout.json").string();
  CHECK(run_msprof({"import", "-dir", dir, "--layout", layout}).exit_code == 2);
  write_file(layout, R"({"aicore": {"record_size": 8}})");
  const auto result = run_msprof({"import", "-dir", dir, "--layout", layout});
  CHECK(result.exit_code == 2);
  CHECK(contains(result.err, layout));
  CHECK(contains(result.err, "header_size"));
  CHECK_FALSE(fs::exists(folder.path() / "JOBA" / "sqlite" / "msprof.db"));
}

TEST_CASE("exit code 3 for partial data, from every verb that reads it") {
  const TempFolder folder;
  const std::string dir = make_partial(folder.path(), "JOBA").folder().string();
  CHECK(run_msprof({"import", "-dir", dir}).exit_code == 3);
  CHECK(run_msprof({"export", "timeline", "-dir", dir}).exit_code == 3);
  CHECK(run_msprof({"export", "summary", "-dir", dir}).exit_code == 3);
  CHECK(run_msprof({"show", "-dir", dir}).exit_code == 3);
}

TEST_CASE("exit code 4 if there is nothing to do") {
  const TempFolder folder;
  fs::create_directories(folder / "empty");
  write_file(folder / "file", "x");
  for (const char* name : {"missing", "empty", "file"}) {
    const auto path = (folder / name).string();
    for (const Words& verb : {Words{"import"}, Words{"export", "timeline"},
                              Words{"export", "summary"}, Words{"show"}}) {
      Words words = verb;
      words.insert(words.end(), {"-dir", path});
      const auto result = run_msprof(words);
      CHECK(result.exit_code == 4);
      CHECK(contains(result.err, path));
    }
  }
  CHECK(run_msprof({"show"}, {.folder = folder.path()}).exit_code == 4);
}

TEST_CASE("several captures give the most severe code: 5, then 3, then 4, then 0") {
  const TempFolder folder;
  make_face(folder.path(), "JOBA");
  make_partial(folder.path(), "JOBB");
  JobBuilder(folder.path(), "JOBC").info_json("500");
  const auto run = [&](const Words& names) {
    Words words = {"import", "-dir"};
    for (const auto& name : names) words.push_back((folder / name).string());
    return run_msprof(words).exit_code;
  };
  CHECK(run({"JOBA"}) == 0);
  CHECK(run({"JOBA", "JOBC"}) == 4);
  CHECK(run({"JOBA", "JOBC", "JOBB"}) == 3);
  write_file(folder / "JOBA/blocked", "");
  fs::remove_all(folder / "JOBA/sqlite");
  write_file(folder / "JOBA/sqlite", "a file in its place");
  CHECK(run({"JOBB", "JOBA", "JOBC"}) == 5);
  CHECK(fs::exists(folder / "JOBB/sqlite/msprof.db"));
}

TEST_CASE("--version and --help print on stdout and end with 0") {
  const auto version = run_msprof({"--version"});
  CHECK(version.exit_code == 0);
  CHECK(version.out.starts_with("msprof "));
  for (const Words& verb :
       {Words{}, Words{"collect"}, Words{"import"}, Words{"export"}, Words{"export", "timeline"},
        Words{"export", "summary"}, Words{"show"}}) {
    for (const char* option : {"-h", "--help"}) {
      Words words = verb;
      words.push_back(option);
      const auto help = run_msprof(words);
      CHECK(help.exit_code == 0);
      CHECK(help.err.empty());
      CHECK(help.out.starts_with("Examples:\n  msprof "));
    }
  }
}
