// Typing habits of users, and habits of scripts.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "cli/cli_fixture.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

TEST_CASE("a table name after -dir and its folder is a table name, not a folder") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA").folder();
  const auto result = run_msprof({"export", "summary", "-q", "-dir", job.string(), "op_statistic"});
  CHECK(result.exit_code == 0);
  const auto names = names_in(job / "summary");
  REQUIRE(names.size() == 1);
  CHECK(names.front().starts_with("op_statistic_"));
}

TEST_CASE("an empty value is refused, whatever the option") {
  const TempFolder folder;
  const std::string dir = make_face(folder.path(), "JOBA").folder().string();
  for (const Words& words :
       {Words{"show", "-dir", dir, "--capture", ""}, Words{"show", "-dir", dir, "--output", ""},
        Words{"import", "-dir", dir, "--layout", ""}, Words{"import", "-dir", ""},
        Words{"collect", "-m", "main", "--output", ""}}) {
    const auto result = run_msprof(words);
    INFO(words[0] << " " << words[words.size() - 2]);
    CHECK(result.exit_code == 2);
    CHECK(contains(result.err, "empty"));
  }
  CHECK(names_in(folder / "JOBA/sqlite").empty());
}

TEST_CASE("a capture in the current folder is printed with its path") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA").folder();
  for (const Words& words : {Words{"show"}, Words{"show", "-dir", "."}}) {
    const auto result = run_msprof(words, {.folder = job});
    CHECK(contains(result.out, "/JOBA\n"));
  }
}

TEST_CASE("products of deleted data are reported or removed, not treated as current") {
  const TempFolder folder;
  const JobBuilder job = make_face(folder.path(), "JOBA");
  const std::string dir = job.folder().string();
  REQUIRE(run_msprof({"export", "summary", "-dir", dir}).exit_code == 0);
  CHECK_FALSE(contains(run_msprof({"export", "summary", "-dir", dir}).err, "older than the store"));
  for (const auto& name : names_in(job.folder() / "data")) {
    if (name.starts_with("acl_api")) fs::remove(job.folder() / "data" / name);
  }
  const auto one = run_msprof({"export", "summary", "op_summary", "-q", "-dir", dir});
  CHECK(contains(one.err, "older than the store"));
  CHECK(contains(one.err, "acl_statistic_"));
  // An export of all tables replaces all earlier ones.
  const auto all = run_msprof({"export", "summary", "-q", "-dir", dir});
  CHECK_FALSE(contains(all.err, "older than the store"));
  for (const auto& name : names_in(job.folder() / "summary"))
    CHECK_FALSE(name.starts_with("acl_statistic"));
}

TEST_CASE("wrong values with --json end in a document with the error") {
  const TempFolder folder;
  const std::string dir = make_face(folder.path(), "JOBA").folder().string();
  for (const Words& words : {Words{"show", "--json", "-dir", dir, "--capture", "9"},
                             Words{"import", "--json", "-dir", dir, "--layout", dir + "/none"},
                             Words{"collect", "--json", "-m", "main", "--timeout", "0"}}) {
    const auto result = run_msprof(words);
    const auto document = nlohmann::json::parse(result.out);
    CHECK(result.exit_code == 2);
    CHECK(document.at("exit_code") == 2);
    CHECK_FALSE(document.at("error").get<std::string>().empty());
  }
}

TEST_CASE("without a frequency operators are still ordered by the known values") {
  const TempFolder folder;
  JobBuilder job(folder.path(), "JOBA");
  job.info_json("0").net_info("net", 1);
  job.layer_info("net", 1,
                 {{0, 0, "Conv", "AA_CORE", "a_short", ""},
                  {1, 0, "Conv", "AA_CORE", "b_long", ""},
                  {2, 0, "Softmax", "AA_CPU", "c_cpu", ""}});
  job.data(DataName{}, aicore_file({AicoreRecord{.layer_id = 0, .total = 10},
                                    AicoreRecord{.layer_id = 1, .total = 1000}}));
  job.data(DataName{.type = "aicpu"},
           aicpu_file({AicpuRecord{.layer_id = 2, .start_ns = 5, .end_ns = 55}}));
  REQUIRE(run_msprof({"export", "summary", "op_statistic", "-q", "-dir", job.folder().string()})
              .exit_code == 3);
  const auto names = names_in(job.folder() / "summary");
  REQUIRE(names.size() == 1);
  const std::string text = read_file(job.folder() / "summary" / names.front());
  CHECK(text.find("b_long") < text.find("c_cpu"));
  CHECK(text.find("c_cpu") < text.find("a_short"));
}
