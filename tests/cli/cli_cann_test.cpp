// Output of the verbs for PROF folders: available tables, tables of the other dialect, timelines,
// the terminal.
#include <catch2/catch.hpp>

#include "cli/cli_fixture.hpp"
#include "support/prof/prof_run.hpp"

using namespace msprof::test;

namespace {

// A PROF folder with data of every kind, next to a board's folder.
struct CannCaptures {
  TempFolder folder;
  std::filesystem::path prof;
  std::filesystem::path job;

  CannCaptures() {
    prof::RunShape shape;
    shape.tasks = 400;
    prof = prof::make_run(folder.path(), {}, shape).folder;
    job = make_face(folder.path(), "JOBA").folder();
  }
};

}  // namespace

TEST_CASE("a table of the other dialect is a usage error that lists the valid tables") {
  const CannCaptures captures;
  const auto result =
      run_msprof({"export", "summary", "acl_statistic", "-dir", captures.prof.string()});
  CHECK(result.exit_code == 2);
  CHECK(contains(result.err, "unknown summary 'acl_statistic'; valid: op_summary, task_time, "));
  CHECK_FALSE(std::filesystem::exists(captures.prof / "mindstudio_profiler_output"));
  CHECK(run_msprof({"export", "summary", "l2_cache", "-dir", captures.job.string()}).exit_code ==
        2);
  // A table known to both dialects is written for both captures, in each dialect's usual folder.
  CHECK(run_msprof({"export", "summary", "op_statistic", "-dir", captures.folder.path().string()})
            .exit_code == 0);
  CHECK(names_in(captures.prof / "mindstudio_profiler_output").size() == 1);
  CHECK(names_in(captures.job / "summary").size() == 1);
}

TEST_CASE(
    "tables are written below --output as in the capture, and an export replaces the last one") {
  const CannCaptures captures;
  const auto out = captures.folder / "out";
  for (int i = 0; i < 2; ++i) {
    const auto result = run_msprof({"export", "summary", "step_trace", "-dir",
                                    captures.prof.string(), "--output", out.string()});
    CHECK(result.exit_code == 0);
    CHECK(names_in(out / "mindstudio_profiler_output") == Words{"step_trace_20231114221320.csv"});
  }
  CHECK_FALSE(std::filesystem::exists(captures.prof / "mindstudio_profiler_output"));
}

TEST_CASE("a timeline is written to its usual place, and a layer of the other dialect is refused") {
  const CannCaptures captures;
  const auto result = run_msprof({"export", "timeline", "-dir", captures.folder.path().string()});
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "wrote "));
  CHECK(names_in(captures.prof / "mindstudio_profiler_output") ==
        Words{"msprof_20231114221320.json", "msprof_tx_20231114221320.json",
              "step_trace_20231114221320.json"});
  CHECK_FALSE(names_in(captures.job / "timeline").empty());
  const auto refused =
      run_msprof({"export", "timeline", "--layers", "acl", "-dir", captures.prof.string()});
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "unknown layer 'acl'; valid: cann, msproftx, "));
}

TEST_CASE("an empty part of the run gives no file and no folder") {
  const CannCaptures captures;
  const auto result = run_msprof(
      {"export", "timeline", "--time-range", "5000s:", "-dir", captures.prof.string(), "-q"});
  CHECK(result.exit_code == 4);
  CHECK(contains(result.err, "[empty_scope]"));
  CHECK_FALSE(std::filesystem::exists(captures.prof / "mindstudio_profiler_output"));
}

TEST_CASE("a board has no unified database, and this is reported") {
  const CannCaptures captures;
  const auto result = run_msprof({"export", "db", "-dir", captures.job.string(), "-q"});
  CHECK(result.exit_code == 4);
  CHECK(contains(result.err, "[no_unified_db]"));
}

TEST_CASE("show starts with the chip and omits tables with one row per task") {
  const CannCaptures captures;
  const Words words = {"show", "-dir", captures.prof.string(), "-q"};
  const auto result = run_msprof(words, {.variables = {{"COLUMNS", "200"}}});
  REQUIRE(result.exit_code == 0);
  CHECK(contains(result.out, "1 device, "));
  CHECK(contains(result.out, " tasks\n"));
  std::size_t last = 0;
  for (const char* title : {"\nOp statistic\n", "\nApi statistic\n", "\nSteps\n",
                            "\nCommunication statistic\n", "\nDevices\n"}) {
    const auto at = result.out.find(title);
    REQUIRE(at != std::string::npos);
    CHECK(at > last);
    last = at;
  }
  CHECK_FALSE(contains(result.out, "Op summary"));
  CHECK_FALSE(contains(result.out, "Task time"));
}

TEST_CASE("show --top keeps the hottest calls and steps, and --json contains the chip") {
  const CannCaptures captures;
  const auto result =
      run_msprof({"show", "-dir", captures.prof.string(), "-q", "--json", "--top", "2"});
  REQUIRE(result.exit_code == 0);
  const auto document = nlohmann::json::parse(result.out);
  const auto& capture = document.at("captures").at(0);
  CHECK(capture.at("capture").is_null());
  CHECK(capture.at("devices") == 1);
  CHECK(capture.at("tasks").get<int>() >= 400);
  CHECK_FALSE(capture.at("chip").get<std::string>().empty());
  const auto& tables = capture.at("tables");
  REQUIRE(tables.size() == 6);
  for (const std::size_t table : {1u, 2u}) {
    const auto& rows = tables.at(table).at("rows");
    const std::string key = table == 1 ? "Time(us)" : "Iteration Time(us)";
    REQUIRE(rows.size() == 2);
    CHECK(rows.at(0).at(key) >= rows.at(1).at(key));
  }
  CHECK(tables.at(4).at("name") == "devices");
  CHECK(tables.at(4).at("rows").at(0).at("AI Cores") == 20);
  CHECK(tables.at(5).at("name") == "counters");
  CHECK(tables.at(5).at("rows").at(0).at("Counter") == "AI Core Freq");
}

TEST_CASE("the help of every verb names both kinds of captures and their tables") {
  for (const Words& words : std::vector<Words>{
           {"import", "--help"}, {"show", "--help"}, {"export", "summary", "--help"}}) {
    const std::string help = run_msprof(words, {.variables = {{"COLUMNS", "100"}}}).out;
    INFO(help);
    CHECK(contains(help, "JOB"));
    CHECK(contains(help, "PROF"));
  }
  const std::string help = run_msprof({"export", "summary", "--help"}).out;
  for (const char* table :
       {"op_summary", "task_time", "op_statistic", "api_statistic", "step_trace",
        "communication_statistic", "fusion_op", "msprof_tx", "aicpu", "operator_memory",
        "memory_record", "acl_statistic", "mindstudio_profiler_output"}) {
    CHECK(contains(help, table));
  }
}
