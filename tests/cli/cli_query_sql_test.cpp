// msprof query SQL: answers in three formats, and the questions of docs/query.md.
#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <functional>
#include <map>
#include <sstream>

#include "cli/cli_fixture.hpp"
#include "support/eventually.hpp"
#include "support/prof/prof_scene.hpp"

using namespace msprof::test;
using nlohmann::json;

namespace {

constexpr std::uint32_t kThread = 10000;

// Two operators on the cube unit, one on the vector unit, three copies; all times are set
// explicitly.
struct SqlCaptures {
  TempFolder folder;
  prof::ProfFolder prof{folder.path()};
  JobBuilder job{folder.path(), "JOBA"};

  SqlCaptures() {
    add_face(job);
    // After the second execution, a 1 us layer that loads four times as long as it computes.
    auto records = face_aicore();
    records.push_back({3, 2'000'030'000, 500, 0, 0, 300, 100, 50, 0, 400, 0, 1, 1, 1});
    job.data(face_name("aicore"), aicore_file(records), face_aicore_done());
    prof::ProfScene scene(prof);
    const prof::OpKind wide = {"matmul_1", "MatMulV2", prof::Core::aic, 20};
    const prof::OpKind narrow = {"matmul_2", "MatMulV2", prof::Core::aic, 20};
    const prof::OpKind add = {"add_1", "Add", prof::Core::aiv, 20};
    // 10, 10, 10 and 30 us; 10000 of 20000 cycles in the cube unit.
    const prof::TaskPmu half{20'000, {8000, 2000, 0, 0, 0, 0, 100, 10}, {}};
    launch(scene, wide, 1, 10'000, {20'000, 30'000}, half);
    launch(scene, wide, 2, 12'000, {31'000, 41'000}, half);
    launch(scene, wide, 3, 14'000, {42'000, 52'000}, half);
    launch(scene, wide, 4, 16'000, {53'000, 83'000}, half);
    launch(scene, narrow, 5, 18'000, {84'000, 104'000},
           prof::TaskPmu{20'000, {4000, 1000, 0, 0, 0, 0, 100, 10}, {}});
    launch(scene, add, 6, 20'000, {105'000, 110'000}, std::nullopt);
    scene.copy({kThread, 22'000, 23'000}, {3, 7, 111'000, 112'000, 0}, 4096, 1);
    scene.copy({kThread, 24'000, 25'000}, {3, 8, 113'000, 115'000, 0}, 8192, 1);
    scene.copy({kThread, 26'000, 27'000}, {3, 9, 116'000, 117'000, 0}, 1000, 2);
    const std::pair<std::uint16_t, std::uint64_t> marks[] = {
        {0, 19'900}, {2, 30'000}, {3, 110'100}, {4, 110'200}, {1, 110'300}};
    for (const auto& [tag, ns] : marks) scene.step(0, ns, tag, 1, 1, 3);
    prof.finish();
  }

  static void launch(prof::ProfScene& scene, const prof::OpKind& op, std::uint16_t task,
                     std::uint64_t host, std::pair<std::uint64_t, std::uint64_t> device,
                     const std::optional<prof::TaskPmu>& pmu) {
    prof::ProfScene::Launch how;
    how.pmu = pmu;
    scene.launch(op, {kThread, host, host + 1000}, {3, task, device.first, device.second, 0}, how);
  }

  std::string job_dir() const { return job.folder().string(); }
  std::string prof_dir() const { return prof.folder().string(); }
};

json query_rows(const std::string& dir, const std::string& sql) {
  const RunResult result = run_msprof({"query", sql, "-q", "-dir", dir, "--format", "json"});
  INFO(sql << "\n" << result.err);
  REQUIRE(result.exit_code == 0);
  return json::parse(result.out);
}

// The questions of docs/query.md with their SQL.
std::vector<std::pair<std::string, std::string>> page_questions() {
  std::istringstream page(read_file(MSPROF_PAGES "/docs/query.md"));
  std::vector<std::pair<std::string, std::string>> all;
  bool is_sql = false;
  for (std::string line; std::getline(page, line) && line != "## Clusters";) {
    if (line.starts_with("```")) {
      is_sql = line == "```sql";
    } else if (is_sql && line.starts_with("-- ")) {
      all.emplace_back(line.substr(3), "");
    } else if (is_sql && !all.empty()) {
      all.back().second += line + "\n";
    }
  }
  return all;
}

struct Answers {
  json job, prof;  // null if the question does not apply to the capture
};

bool about(double value, double expected) {
  return value == Approx(expected).margin(0.0011);
}

// Expected answers from the constructed data: 10 + 10 + 10 + 30, 20 and 5 us; 12.002, 5 and 3.234
// us (face_session.hpp).
const std::map<std::string, std::function<void(const Answers&)>> kChecks = {
    {"Which operators",
     [](const Answers& answers) {
       REQUIRE(answers.prof.size() == 3);
       CHECK(answers.prof[0].at("name") == "matmul_1");
       CHECK(answers.prof[0].at("count") == 4);
       CHECK(about(answers.prof[0].at("total_us"), 60));
       CHECK(about(answers.prof[0].at("share"), 100 * 60 / 85.0));
       REQUIRE(answers.job.size() == 4);
       CHECK(answers.job[0].at("name") == "conv1");
       CHECK(about(answers.job[0].at("total_us"), 12.002));
       CHECK(about(answers.job[2].at("total_us"), 3.234));
     }},
    {"Which types",
     [](const Answers& answers) {
       REQUIRE(answers.prof.size() == 2);
       CHECK(answers.prof[0].at("type") == "MatMulV2");
       CHECK(answers.prof[0].at("ops") == 2);
       CHECK(about(answers.prof[0].at("us"), 80));
       CHECK(answers.job[0].at("type") == "Convolution");
     }},
    {"Which executions",
     [](const Answers& answers) {
       REQUIRE(answers.prof.size() == 1);
       CHECK(answers.prof[0].at("op_name") == "matmul_1");
       CHECK(about(answers.prof[0].at("duration_us"), 30));
       CHECK(about(answers.prof[0].at("mean_us"), 15));
       CHECK(answers.prof[0].at("start_ns") == "1700000000000053000");
       CHECK(answers.job.empty());  // the maximum is 3000 ns with a limit of 2500
     }},
    {"How long",
     [](const Answers& answers) {
       REQUIRE(answers.job.size() == 1);
       CHECK(answers.job[0].at("times") == 2);
       CHECK(about(answers.job[0].at("best"), 21.234));
       CHECK(about(answers.job[0].at("worst"), 31));
       REQUIRE(answers.prof.size() == 1);
       CHECK(about(answers.prof[0].at("mean"), 90.3));
     }},
    {"Where does the host",
     [](const Answers& answers) {
       CHECK(answers.job[0].at("us") == 50000);
       CHECK(answers.job[1].at("name") == "svp_acl_mdl_execute");
       CHECK(answers.job[1].at("calls") == 2);
       CHECK(about(answers.job[1].at("us"), 51.001));
       CHECK(answers.prof.size() > 2);
     }},
    {"Which layers",
     [](const Answers& answers) {
       // conv1: 1801 cycles of loading, 3001 of computing; pool1: 1000 and 1200.
       REQUIRE(answers.job.size() == 1);
       CHECK(answers.job[0].at("layer_name") == "prob");
       CHECK(about(answers.job[0].at("memory_bound"), 4));
       CHECK(about(answers.job[0].at("time"), 1));
     }},
    {"Which operators use",
     [](const Answers& answers) {
       REQUIRE(answers.prof.size() == 2);
       CHECK(answers.prof[0].at("op_name") == "matmul_2");
       CHECK(about(answers.prof[0].at("ratio"), 0.25));
       CHECK(about(answers.prof[1].at("ratio"), 0.5));
       CHECK(about(answers.prof[1].at("us"), 60));
     }},
    {"Did a device",
     [](const Answers& answers) {
       bool computed = false;
       for (const json& row : answers.prof) {
         if (row.at("kind") != "computing") continue;
         computed = true;
         CHECK(row.at("us").get<double>() == Approx(85).margin(0.1));
       }
       CHECK(computed);
     }},
    {"How fast",
     [](const Answers& answers) {
       REQUIRE(answers.prof.size() == 2);
       CHECK(answers.prof[1].at("direction") == "host to device");
       CHECK(answers.prof[1].at("copies") == 2);
       CHECK(about(answers.prof[1].at("gb_per_s"), 4.096));
     }},
    {"What waits", [](const Answers& answers) {
       REQUIRE(answers.prof.size() >= 3);
       CHECK(answers.prof[0].at("op_name") == "add_1");
       // Its call launches it between 20 and 21 us; it starts at 105 us.
       CHECK(answers.prof[0].at("wait_us").get<double>() <= 85);
       CHECK(answers.prof[0].at("wait_us").get<double>() > 84);
     }}};

}  // namespace

TEST_CASE("the ten queries of docs/query.md give the right answers for the captures") {
  const SqlCaptures captures;
  const auto questions = page_questions();
  REQUIRE(questions.size() == 10);
  for (const auto& [question, sql] : questions) {
    INFO(question);
    Answers answers;
    const bool names_job = contains(question, "(JOB…"), names_prof = contains(question, "(PROF…");
    if (names_job || !names_prof) answers.job = query_rows(captures.job_dir(), sql);
    if (names_prof || !names_job) answers.prof = query_rows(captures.prof_dir(), sql);
    // Finds the longest matching prefix.
    const std::function<void(const Answers&)>* check = nullptr;
    for (const auto& [begin, one] : kChecks) {
      if (question.starts_with(begin)) check = &one;
    }
    REQUIRE(check != nullptr);
    CAPTURE(answers.job.dump(), answers.prof.dump());
    (*check)(answers);
  }
}

TEST_CASE("the queries about counters give the same answers on chips with one kind of cores") {
  const TempFolder folder;
  prof::ProfFolder prof(folder.path(), prof::setup_310p());
  prof::ProfScene scene(prof);
  // PipeUtilization counts the events 0x8, 0xa, 0x9, …; mac is the second counter, 0xa.
  const prof::OpKind matmul = {"matmul_1", "MatMulV2", prof::Core::aic, 8};
  const prof::OpKind conv = {"conv_1", "Conv2D", prof::Core::aic, 8};
  SqlCaptures::launch(scene, matmul, 1, 10'000, {20'000, 30'000},
                      prof::TaskPmu{20'000, {2000, 8000, 1000, 0, 0, 0, 100, 10}});
  SqlCaptures::launch(scene, conv, 2, 12'000, {31'000, 41'000},
                      prof::TaskPmu{20'000, {1000, 5000, 1000, 0, 0, 0, 100, 10}});
  prof.finish();
  const std::string dir = prof.folder().string();
  for (const auto& [question, sql] : page_questions()) {
    if (!contains(question, "(JOB…")) query_rows(dir, sql);
    if (!question.starts_with("Which operators use")) continue;
    const json rows = query_rows(dir, sql);
    CAPTURE(rows.dump());
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].at("op_name") == "conv_1");
    CHECK(about(rows[0].at("ratio"), 0.25));
    CHECK(about(rows[1].at("ratio"), 0.4));
  }
}

TEST_CASE("a metric without core prefix is that of the busier cores, which are named") {
  const SqlCaptures captures;
  const std::string sql = "SELECT DISTINCT aic_scalar_ratio, aiv_scalar_ratio, scalar_ratio";
  const json rows = query_rows(captures.prof_dir(), sql + " FROM op_summary ORDER BY 1");
  for (const json& row : rows) {
    if (row.at("scalar_ratio").is_null()) continue;
    CHECK(row.at("scalar_ratio") == std::max(row.at("aic_scalar_ratio").get<double>(),
                                             row.at("aiv_scalar_ratio").get<double>()));
  }
  const json all = query_rows(captures.prof_dir(), "SELECT * FROM op_summary LIMIT 1");
  CHECK(all.at(0).contains("aic_mac_ratio"));
  CHECK_FALSE(all.at(0).contains("mac_ratio"));
}

TEST_CASE("query answers as a table, CSV, JSON and one document") {
  const SqlCaptures captures;
  const std::string dir = captures.job_dir();
  const std::string sql =
      "SELECT 9007199254740993 AS whole, 2.5 AS part, 3.0 AS three, NULL AS none,"
      " '' AS empty, 'a,\"b\"' AS text, x'00ff' AS bytes";
  const auto csv = run_msprof({"query", "-dir", dir, sql, "--format", "csv", "-q"});
  CHECK(csv.exit_code == 0);
  CHECK(csv.out ==
        "whole,part,three,none,empty,text,bytes\n9007199254740993,2.5,3.0,,\"\",\"a,\"\"b\"\"\","
        "00FF\n");
  const auto rows = query_rows(dir, sql);
  CHECK(rows.at(0).at("whole") == "9007199254740993");
  CHECK(rows.at(0).at("none").is_null());
  CHECK(rows.at(0).at("bytes") == "00FF");
  const auto document = json::parse(run_msprof({"query", "-q", "--json", "-dir", dir, sql}).out);
  CHECK(document.at("schema") == "msprof.query.rows/2");
  CHECK(document.at("exit_code") == 0);
  CHECK(document.at("captures").at(0).at("columns").at(1) == "part");
  CHECK(document.at("captures").at(0).at("rows").at(0).at(5) == "a,\"b\"");
  const auto table = run_msprof({"query", sql, "-q", "-dir", dir});
  CHECK(contains(table.out, "9007199254740993  2.500  3.000  -"));
}

TEST_CASE("query --table prints the rows that SELECT * returns, in every format") {
  const SqlCaptures captures;
  for (const std::string& dir : {captures.job_dir(), captures.prof_dir()}) {
    for (const std::string table :
         {"op_summary", "task_time", "op_statistic", "v_tasks", "task", "step_trace"}) {
      for (const Words& format : {Words{"--format", "csv"}, Words{"--format", "json"},
                                  Words{"--format", "columns"}, Words{"--format", "table"},
                                  Words{"--json"}, Words{"--format", "csv", "--limit", "2"}}) {
        Words sql = {"query", "SELECT * FROM " + table, "-q", "-dir", dir};
        Words whole = {"query", "--table", table, "-q", "-dir", dir};
        sql.insert(sql.end(), format.begin(), format.end());
        whole.insert(whole.end(), format.begin(), format.end());
        INFO(dir << " " << table << " " << format.back());
        const auto expected = run_msprof(sql);
        const auto result = run_msprof(whole);
        CHECK(result.exit_code == expected.exit_code);
        CHECK((result.out == expected.out));
      }
    }
  }
  const auto csv = run_msprof(
      {"query", "--table", "op_summary", "-q", "--format", "csv", "-dir", captures.job_dir()});
  CHECK(std::count(csv.out.begin(), csv.out.end(), '\n') > 1);
}

TEST_CASE("query --table refuses unknown names and SQL next to it") {
  const SqlCaptures captures;
  const std::string dir = captures.job_dir();
  const auto unknown = run_msprof({"query", "--table", "op_sumary", "-q", "-dir", dir});
  CHECK(unknown.exit_code == 2);
  CHECK(contains(unknown.err, "no such table: op_sumary"));
  const auto quoted = run_msprof({"query", "--table", "a\" JOIN v_ops \"", "-q", "-dir", dir});
  CHECK(quoted.exit_code == 2);
  const auto both = run_msprof({"query", "SELECT 1", "--table", "v_ops", "-q", "-dir", dir});
  CHECK(both.exit_code == 2);
  CHECK(contains(both.err, "give SQL or --table, not both"));
}

TEST_CASE("SQL is read from an argument before or after -dir, a file or standard input") {
  const SqlCaptures captures;
  const std::string dir = captures.job_dir(), sql = "SELECT count(*) AS n FROM v_tasks";
  write_file(captures.folder / "q.sql", sql + ";\n");
  for (const Words& words :
       {Words{"query", sql, "-dir", dir}, Words{"query", "-dir", dir, sql},
        Words{"query", "-dir", dir, "--file", (captures.folder / "q.sql").string()}}) {
    auto all = words;
    all.insert(all.end(), {"--format", "csv", "-q"});
    CHECK(run_msprof(all).out == "n\n7\n");
  }
  const auto piped =
      run_program("/bin/sh", {"-c", "echo \"$2\" | \"$1\" query - -q -dir \"$3\" --format csv",
                              "sh", msprof_path(), sql, dir});
  CHECK(piped.out == "n\n7\n");
}

TEST_CASE("the queries of docs/query.md work unchanged, with their comment line") {
  const SqlCaptures captures;
  const auto questions = page_questions();
  for (const auto& [question, sql] : questions) {
    const std::string dir = contains(question, "(PROF…") ? captures.prof_dir() : captures.job_dir();
    const std::string typed = "-- " + question + "\n" + sql;
    write_file(captures.folder / "q.sql", typed);
    INFO(typed);
    const auto asked = [&](Words words) {
      words.insert(words.begin(), "query");
      words.insert(words.end(), {"-q", "--format", "csv"});
      const RunResult result = run_msprof(words);
      INFO(result.err);
      CHECK(result.exit_code == 0);
      return result.out;
    };
    const std::string answer = asked({sql, "-dir", dir});
    CHECK(asked({typed, "-dir", dir}) == answer);
    CHECK(asked({"-dir", dir, typed}) == answer);
    CHECK(asked({"-dir", dir, "--file", (captures.folder / "q.sql").string()}) == answer);
  }
  // The shortest comments, and one that looks like an option with a value.
  for (const char* comment : {"--\n", "-- \n", "--a b\n", "-- a = b\n", "/* a */ ", "--\n--\n"})
    CHECK(run_msprof({"query", "-q", "-dir", captures.job_dir(), "--format", "csv",
                      std::string(comment) + "SELECT 7 AS n"})
              .out == "n\n7\n");
  // The position of an error counts from the first byte typed.
  CHECK(contains(run_msprof({"query", "-dir", captures.job_dir(), "-- a b\nSELECT 1 +"}).err,
                 "SQL: incomplete input"));
  CHECK(contains(run_msprof({"query", "-dir", captures.job_dir(), "-- a b\nSELECT x y z"}).err,
                 "at 'z' (character 19)"));
}

TEST_CASE("SQL after -dir is recognized even if its first word is mistyped or not SELECT") {
  const SqlCaptures captures;
  const std::string dir = captures.job_dir();
  for (const std::string sql :
       {"SELCT * FROM v_ops", "selct\nname FROM v_ops", "FROM v_ops SELECT name",
        "name, total_us FROM v_ops", "SHOW TABLES", "show me v_ops", "DESCRIBE v_ops"}) {
    const auto result = run_msprof({"query", "-q", "-dir", dir, sql});
    INFO(sql << "\n" << result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.err.starts_with("error: SQL: near "));
    CHECK(contains(result.err, "syntax error"));
  }
  for (const std::string sql : {"DELETE FROM op", "UPDATE op SET id = 1", "PRAGMA table_info(op)",
                                "DROP TABLE op", "CREATE TABLE t (a)", "ATTACH 'x' AS y"}) {
    const auto result = run_msprof({"query", "-q", "-dir", dir, sql});
    INFO(sql << "\n" << result.err);
    CHECK(result.exit_code == 2);
    CHECK(contains(result.err, "only reading is allowed"));
  }
  const auto words = run_msprof({"query", "-dir", dir, "SELECT", "name", "FROM", "v_ops"});
  CHECK(words.exit_code == 2);
  CHECK(contains(words.err, "put it in quotes"));
}

TEST_CASE("folders with names like SQL and missing folders are treated as folders") {
  const SqlCaptures captures;
  const TempFolder folder;
  make_face(folder / "select from", "JOBA");
  make_face(folder / "SELECT 1", "JOBB");
  const auto count = [&](const Words& dirs) {
    Words words = {"query", "SELECT count(*) AS n FROM v_ops", "-q", "--format", "csv", "-dir"};
    words.insert(words.end(), dirs.begin(), dirs.end());
    return run_msprof(words, {.folder = folder.path()});
  };
  CHECK(count({"SELECT 1"}).out == "n\n3\n");
  CHECK(count({"select from/JOBA"}).out == "n\n3\n");
  for (const char* missing : {"my runs/JOB1", "test data", "runs of today", "reports"}) {
    const auto result = run_msprof({"query", "-dir", missing}, {.folder = folder.path()});
    INFO(missing << "\n" << result.err);
    CHECK(result.exit_code == 4);
    CHECK(contains(result.err, missing));
  }
}

TEST_CASE("several captures give one CSV, distinguished by a first column") {
  const SqlCaptures captures;
  const auto result = run_msprof({"query", "SELECT count(*) AS n FROM v_ops", "-q", "--format",
                                  "csv", "-dir", captures.job_dir(), captures.prof_dir()});
  CHECK(result.out == "capture,n\nJOBA,4\n" + captures.prof.folder().filename().string() + ",3\n");
  const auto differ = run_msprof({"query", "SELECT * FROM op_summary", "-q", "--format", "json",
                                  "-dir", captures.job_dir(), captures.prof_dir()});
  CHECK(differ.exit_code == 2);
  CHECK(contains(differ.err, "name the columns instead of *"));
}

TEST_CASE("an SQL error gives a message and exit code 2, also in the document") {
  const SqlCaptures captures;
  const auto result =
      run_msprof({"query", "-q", "--json", "-dir", captures.job_dir(), "SELECT * FROM v_opps"});
  CHECK(result.exit_code == 2);
  const auto document = json::parse(result.out);
  CHECK(document.at("exit_code") == 2);
  CHECK(contains(document.at("error").get<std::string>(), "did you mean v_ops?"));
  const auto slow =
      run_msprof({"query", "-q", "-dir", captures.job_dir(), "--timeout", "0.2", "--format", "csv",
                  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
                  " SELECT count(*) FROM n"});
  CHECK(slow.exit_code == 2);
  CHECK(contains(slow.err, "longer than 0.2 s; raise the limit with --timeout"));
  // This SQL would run for hours inside one function call.
  const auto stuck = run_msprof(
      {"query", "-q", "-dir", captures.job_dir(), "--timeout", "0.2",
       "SELECT instr(hex(zeroblob(4000000)), substr(hex(zeroblob(4000000)), 4000000) || '1')"});
  CHECK(stuck.exit_code == 2);
  CHECK(contains(stuck.err, "longer than 0.2 s; raise the limit with --timeout"));
}

TEST_CASE("Ctrl-C stops SQL that never ends, even within one function call") {
  const SqlCaptures captures;
  const std::string sql = GENERATE(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
      "SELECT instr(hex(zeroblob(4000000)), substr(hex(zeroblob(4000000)), 4000000) || '1')");
  RunningProgram program(msprof_path(),
                         {"query", "-q", "-dir", captures.job_dir(), "--timeout", kAmple, sql});
  // The second thread watches the SQL.
  const std::filesystem::path threads = "/proc/" + std::to_string(program.pid()) + "/task";
  REQUIRE(eventually([&] { return names_in(threads).size() > 1; }));
  program.send(SIGINT);
  const RunResult result = program.wait();
  CHECK(result.exit_code == 130);
}

TEST_CASE("a table shows the requested number of rows and reports that there are more") {
  const SqlCaptures captures;
  const std::string many =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
      " WHERE i < 2000) SELECT i FROM n";
  const auto all = run_msprof({"query", many, "-dir", captures.job_dir()});
  CHECK(contains(all.out, "1000\n"));
  CHECK_FALSE(contains(all.out, "1001"));
  CHECK(contains(all.err, "only the first 1000 rows"));
  CHECK(run_msprof(
            {"query", many, "-q", "-dir", captures.job_dir(), "--format", "csv", "--limit", "2"})
            .out == "i\n1\n2\n");
}

TEST_CASE("query --schema prints views, columns, units and tables without a capture") {
  const TempFolder folder;
  const auto text = run_msprof({"query", "--schema"}, {.folder = folder.path()});
  CHECK(text.exit_code == 0);
  for (const char* part : {"v_ops: one operator", "total_us         us", "op_summary", "task_pmu:"})
    CHECK(contains(text.out, part));
  const auto document =
      json::parse(run_msprof({"query", "--schema", "--json"}, {.folder = folder.path()}).out);
  CHECK(document.at("schema") == "msprof.query.schema/1");
  const auto csv = run_msprof({"query", "--schema", "--format", "csv"}, {.folder = folder.path()});
  CHECK(contains(csv.out, "view,v_tasks,duration_us,us,"));
}

TEST_CASE("views and summary tables agree") {
  const SqlCaptures captures;
  for (const std::string& dir : {captures.job_dir(), captures.prof_dir()}) {
    const auto both =
        query_rows(dir, "SELECT (SELECT total(total_us) FROM v_ops) AS view, (SELECT total(" +
                            std::string(dir == captures.job_dir() ? "time * 2" : "task_duration") +
                            ") FROM op_summary) AS product");
    // A board's op_summary has means over two executions, so the layer that ran once counts double.
    const double once = dir == captures.job_dir() ? 1 : 0;
    CHECK(about(both.at(0).at("view").get<double>() + once, both.at(0).at("product")));
  }
  const auto calls = query_rows(captures.prof_dir(),
                                "SELECT (SELECT count(*) FROM v_api_calls) AS view,"
                                " (SELECT total(count) FROM api_statistic) AS product");
  CHECK(calls.at(0).at("view") == calls.at(0).at("product"));
  const auto tasks = query_rows(captures.prof_dir(),
                                "SELECT (SELECT count(*) FROM v_tasks) AS view,"
                                " (SELECT count(*) FROM task_time) AS product");
  CHECK(tasks.at(0).at("view") == tasks.at(0).at("product"));
}
