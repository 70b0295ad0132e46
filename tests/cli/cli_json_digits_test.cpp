// JavaScript, whose numbers are doubles, reads every JSON document and table without losing a
// digit.
#include <catch2/catch.hpp>

#include "cli/cli_fixture.hpp"
#include "support/prof/prof_run.hpp"
#include "support/require.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

// Reads files with JavaScript; returns the numbers that changed, and reports whether there were
// numbers and long strings of digits.
std::string read_by_node(const std::vector<fs::path>& files) {
  std::string command = "exec node \"$@\"";
  Words words = {"-c", command, "sh", READ_JSON};
  for (const fs::path& file : files) words.push_back(file.string());
  const auto result = run_program("/bin/sh", words);
  INFO(result.err);
  CHECK(result.exit_code == 0);
  return result.out;
}

// A capture with timestamps of 19 digits (ns), as after years of uptime.
JobBuilder make_old(const fs::path& parent) {
  constexpr std::uint64_t kStart = 1'700'000'000'123'456'789;
  JobBuilder job(parent, "JOBOLD");
  job.info_json("1000").net_info("net", 1, {.layer_num = 2});
  std::vector<AicoreRecord> records;
  std::vector<AclRecord> calls;
  for (std::uint64_t i = 0; i < 6; ++i) {
    const std::uint64_t start = kStart + 1'000'003 * i;
    records.push_back({.layer_id = 0, .start_ns = start, .total = 400'000, .execution = i});
    calls.push_back({3, 1, start - 1000, start + 401'000});
  }
  job.data(DataName{}, aicore_file(records)).data("acl_api.0.net.1", acl_api_file(calls));
  return job;
}

fs::path make_new(const fs::path& parent) {
  prof::RunShape shape;
  shape.tasks = 400;
  return prof::make_run(parent, {}, shape).folder;
}

// Writes the output of `words` to a file.
fs::path printed(const TempFolder& folder, const Words& words) {
  const auto result = run_msprof(words);
  INFO(words.front() << " " << result.err);
  CHECK(result.exit_code == 0);
  static int number = 0;
  const fs::path file = folder / ("printed" + std::to_string(number++) + ".json");
  write_file(file, result.out);
  return file;
}

}  // namespace

TEST_CASE("JavaScript loses no digit of what --json prints") {
  const TempFolder folder;
  if (!require_program_or_skip("node")) return;
  for (const fs::path& capture : {make_old(folder.path()).folder(), make_new(folder.path())}) {
    const std::string dir = capture.string();
    std::vector<fs::path> files;
    for (const Words& words :
         {Words{"import", "-q", "--json", "-dir", dir}, Words{"show", "-q", "--json", "-dir", dir},
          Words{"advise", "-q", "--json", "-dir", dir}, Words{"compare", "-q", "--json", dir, dir},
          Words{"query", "-q", "--json", "-dir", dir},
          Words{"query", "-q", "--json", "-dir", dir, "SELECT * FROM v_tasks"},
          Words{"query", "-q", "--format", "json", "-dir", dir, "SELECT * FROM v_api_calls"},
          Words{"query", "-q", "--format", "json", "-dir", dir,
                "SELECT 9223372036854775807, -9007199254740993, 0.1 + 0.2, 1e300"}})
      files.push_back(printed(folder, words));
    const auto doctor = run_msprof({"doctor", "-q", "--json", "-dir", dir});
    write_file(folder / "doctor.json", doctor.out);
    files.push_back(folder / "doctor.json");
    const auto collect = run_msprof({"collect", "-q", "--json", "-m", dir + "/none"});
    write_file(folder / "collect.json", collect.out);
    files.push_back(folder / "collect.json");
    CHECK(read_by_node(files) == "true true\n");
  }
}

TEST_CASE("JavaScript loses no digit of JSON tables, and times of 19 digits are strings") {
  const TempFolder folder;
  if (!require_program_or_skip("node")) return;
  for (const fs::path& capture : {make_old(folder.path()).folder(), make_new(folder.path())}) {
    const bool is_prof = capture.filename().string().starts_with("PROF");
    REQUIRE(run_msprof({"export", "summary", "-q", "--format", "json", "-dir", capture.string()})
                .exit_code == 0);
    const fs::path products = capture / (is_prof ? "mindstudio_profiler_output" : "summary");
    std::vector<fs::path> files;
    for (const std::string& name : names_in(products))
      if (name.ends_with(".json")) files.push_back(products / name);
    REQUIRE_FALSE(files.empty());
    CHECK(read_by_node(files) == (is_prof ? "true true\n" : "true false\n"));
  }
}

TEST_CASE("only numbers that a double cannot represent are strings") {
  const TempFolder folder;
  const std::string dir = make_old(folder.path()).folder().string();
  const auto result =
      run_msprof({"query", "-q", "--format", "json", "-dir", dir,
                  "SELECT 9007199254740992 AS a, 9007199254740993 AS b, -9007199254740993 AS c,"
                  " 12 AS d, 0.1 + 0.2 AS e"});
  CHECK(contains(result.out, R"({"a":9007199254740992,"b":"9007199254740993",)"
                             R"("c":"-9007199254740993","d":12,"e":0.30000000000000004})"));
  const auto rows =
      run_msprof({"query", "-q", "--json", "-dir", dir, "SELECT min(start_ns) FROM v_tasks"});
  CHECK(contains(rows.out, "\n[\"1700000000123456789\"]"));
  CHECK(contains(rows.out, "msprof.query.rows/2"));
}
