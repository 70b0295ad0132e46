// Whole commands on PROF folders: product names, formats, parts of a capture, several captures, and
// reproducible bytes.
#include <catch2/catch.hpp>
#include <map>

#include "golden/cann_fixture.hpp"
#include "support/lines.hpp"
#include "support/prof/prof_run.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;
namespace fs = std::filesystem;

namespace {

// 400 tasks of two threads, with collectives, steps, marks and memory.
struct CommandRun {
  TempFolder folder;
  MadeRun run;
  explicit CommandRun(const ProfSetup& setup = {}) : run(make_run(folder.path(), setup, shape())) {}
  static RunShape shape() {
    RunShape shape;
    shape.tasks = 400;
    shape.steps = 3;
    return shape;
  }
  fs::path products() const { return run.folder / "mindstudio_profiler_output"; }
  int msprof(Lines words) const {
    words.insert(words.end(), {"-q", "-dir", run.folder.string()});
    const RunResult result = run_msprof(words);
    UNSCOPED_INFO(result.err);
    return result.exit_code;
  }
};

// Product names with the time removed.
Lines stems(const fs::path& folder) {
  Lines stems;
  for (const std::string& name : names_in(folder)) {
    const std::size_t time = name.rfind('_');
    stems.push_back(name.substr(0, time) + name.substr(name.rfind('.')));
  }
  return stems;
}

// The bytes of all products, by name.
std::string read_products(const fs::path& folder) {
  std::string all;
  for (const std::string& name : names_in(folder)) {
    all += name + "\n" + read_file(folder / name) + "\n";
  }
  return all;
}

}  // namespace

TEST_CASE("export summary writes every table of the run under its usual name") {
  const CommandRun played;
  CHECK(played.msprof({"import"}) == 0);
  CHECK(names_in(played.run.folder) == Lines{"device_0", "host", "sqlite"});
  CHECK(played.msprof({"export", "summary"}) == 0);
  CHECK(stems(played.products()) ==
        Lines{"aicpu.csv", "api_statistic.csv", "communication_statistic.csv", "fusion_op.csv",
              "memory_record.csv", "msprof_tx.csv", "op_statistic.csv", "op_summary.csv",
              "operator_memory.csv", "prof_rule.json", "step_trace.csv", "task_time.csv"});
  CHECK(products_named(played.products(), "op_summary").front().filename() ==
        "op_summary_20231114221320.csv");
}

TEST_CASE("only the requested tables are written") {
  const CommandRun played;
  CHECK(played.msprof({"export", "summary", "op_summary", "task_time"}) == 0);
  CHECK(stems(played.products()) == Lines{"op_summary.csv", "task_time.csv"});
  CHECK(run_msprof({"export", "summary", "no_such_table", "-dir", played.run.folder.string()})
            .exit_code == 2);
}

TEST_CASE("every table in JSON has the columns and rows of its CSV") {
  const CommandRun played;
  CHECK(played.msprof({"export", "summary"}) == 0);
  CHECK(played.msprof({"export", "summary", "--format", "json"}) == 0);
  for (const std::string stem :
       {"aicpu", "api_statistic", "communication_statistic", "fusion_op", "memory_record",
        "msprof_tx", "op_statistic", "op_summary", "operator_memory", "step_trace", "task_time"}) {
    INFO(stem);
    const CsvTable csv = read_product(played.products(), stem);
    const auto found = products_named(played.products(), stem, "table.json");
    REQUIRE(found.size() == 1);
    const auto json = nlohmann::ordered_json::parse(read_file(found.front()));
    REQUIRE(json.size() == csv.rows.size());
    CHECK(json.size() > 0);
    for (const std::string& name : csv.header) CHECK(json.front().contains(name));
  }
}

TEST_CASE("importing twice gives the same bytes in the store and all products") {
  const CommandRun played;
  CHECK(played.msprof({"import"}) == 0);
  CHECK(played.msprof({"export", "summary"}) == 0);
  const std::string store = read_file(played.run.folder / "sqlite" / "msprof.db");
  const std::string products = read_products(played.products());
  fs::remove_all(played.run.folder / "sqlite");
  fs::remove_all(played.products());
  CHECK(played.msprof({"import"}) == 0);
  CHECK(played.msprof({"export", "summary"}) == 0);
  CHECK(read_file(played.run.folder / "sqlite" / "msprof.db") == store);
  CHECK(read_products(played.products()) == products);
}

TEST_CASE("with --output, a PROF folder is not changed") {
  const CommandRun played;
  const std::string before = fingerprint(played.run.folder);
  const std::string out = (played.folder / "out").string();
  CHECK(played.msprof({"import", "--output", out}) == 0);
  CHECK(played.msprof({"export", "summary", "--output", out}) == 0);
  CHECK(played.msprof({"show", "--output", out}) == 0);
  CHECK(names_in(out) == Lines{"mindstudio_profiler_output", "sqlite"});
  CHECK(names_in(fs::path(out) / "mindstudio_profiler_output").size() == 12);
  CHECK(fingerprint(played.run.folder) == before);
}

TEST_CASE("a folder with several PROF folders stands for all of them") {
  const TempFolder folder;
  RunShape shape = CommandRun::shape();
  const MadeRun first = make_run(folder / "a", {}, shape);
  shape.seed = 2;
  const MadeRun second = make_run(folder / "b", {}, shape);
  fs::rename(first.folder, folder / "PROF_000001_20231114221320000_AAAAAAAAAAAAAAAA");
  fs::rename(second.folder, folder / "PROF_000001_20231114221320000_BBBBBBBBBBBBBBBB");
  const RunResult result = run_msprof({"import", "--json", "-dir", folder.path().string()});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(nlohmann::json::parse(result.out).at("captures").size() == 2);
}

TEST_CASE("the host folder of a capture without devices gives the host tables") {
  const CommandRun played;
  const std::string out = (played.folder / "out").string();
  const RunResult result = run_msprof(
      {"export", "summary", "-dir", (played.run.folder / "host").string(), "--output", out});
  INFO(result.err);
  CHECK((result.exit_code == 0 || result.exit_code == 3));
  const fs::path products = fs::path(out) / "mindstudio_profiler_output";
  const CsvTable calls = read_product(products, "api_statistic");
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < calls.rows.size(); ++i) count += std::stoull(calls.cell(i, "Count"));
  CHECK(count == played.run.facts.calls);
  CHECK(read_product(products, "msprof_tx").rows.size() == played.run.facts.marks);
}

TEST_CASE("a device folder without the host gives its tasks, without names") {
  const CommandRun played;
  const std::string out = (played.folder / "out").string();
  const RunResult result = run_msprof(
      {"export", "summary", "-dir", (played.run.folder / "device_0").string(), "--output", out});
  INFO(result.err);
  CHECK((result.exit_code == 0 || result.exit_code == 3));
  const CsvTable tasks = read_product(fs::path(out) / "mindstudio_profiler_output", "task_time");
  CHECK(tasks.rows.size() >= played.run.facts.tasks);
  CHECK(tasks.cell(0, "kernel_name") == "N/A");
}

TEST_CASE("show prints the chip, operators, calls, steps and collectives") {
  const CommandRun played;
  const RunResult result = run_msprof({"show", "-dir", played.run.folder.string()});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  for (const char* part :
       {"Ascend910B", "MatMulV2", "AI_VECTOR_CORE", "LaunchKernelWithHandle", "hcom_allReduce_"}) {
    INFO(part);
    CHECK(contains(result.out, part));
  }
  const RunResult json = run_msprof({"show", "--json", "-dir", played.run.folder.string()});
  REQUIRE(json.exit_code == 0);
  CHECK(nlohmann::json::parse(json.out).is_object());
  CHECK(contains(json.out, "MatMulV2"));
}

TEST_CASE("the verdict of a complete run counts every record and skips none") {
  const CommandRun played;
  const RunResult result = run_msprof({"import", "--json", "-dir", played.run.folder.string()});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const auto capture = nlohmann::json::parse(result.out).at("captures").at(0);
  CHECK(capture.at("verdict") == "complete");
  CHECK(capture.at("skipped").empty());
  CHECK(capture.at("not_read").empty());
  CHECK(capture.at("kinds").at("api_event").at("records") == played.run.facts.calls);
  CHECK(capture.at("kinds").at("msproftx").at("records") == played.run.facts.marks);
  CHECK(capture.at("kinds").at("task_memory_info").at("records") == played.run.facts.memory_events);
}

TEST_CASE("unread kinds of files are listed in the verdict, each kind and file") {
  const CommandRun played;
  const fs::path device = played.run.folder / "device_0" / "data";
  const std::map<std::string, std::string> files = {
      {"instr.pc_sampling_group0.0.slice_0", "program counters of the cores"},
      {"instr.pc_sampling_group0.0.slice_1", "program counters of the cores"},
      {"17-Threads.data.0.slice_0", "files of PID-Threads.data"},
      {"brand_new.data.0.slice_0", "files of brand_new.data"}};
  for (const auto& [name, lacks] : files) write_file(device / name, std::string(240, 'h'));
  write_file(device / "nano_stars_profile.data.0.slice_0",
             "");  // empty, so no data is missing
  const RunResult result = run_msprof({"import", "--json", "-dir", played.run.folder.string()});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  const auto capture = nlohmann::json::parse(result.out).at("captures").at(0);
  CHECK(capture.at("verdict") == "without");
  CHECK(capture.at("without") == nlohmann::json{"files of PID-Threads.data",
                                                "files of brand_new.data",
                                                "program counters of the cores"});
  std::size_t unread = 0;
  for (const auto& finding : capture.at("findings")) {
    if (finding.at("id") != "unread_kind") continue;
    ++unread;
    CHECK(finding.at("severity") == "without");
    const std::string file = finding.at("file");
    CHECK(finding.at("lacks") == files.at(file.substr(file.rfind('/') + 1)));
  }
  CHECK(unread == files.size());
  CHECK(contains(result.err,
                 "verdict: complete without files of PID-Threads.data, files of brand_new.data, "
                 "program counters"));
  for (const auto& [name, lacks] : files) CHECK(contains(result.err, name));
  CHECK_FALSE(contains(result.err, "nano_stars"));

  // Every verb reports the same verdict, and so does the store.
  const auto query = run_msprof({"query", "--json", "-dir", played.run.folder.string()});
  CHECK(nlohmann::json::parse(query.out).at("captures").at(0).at("verdict") == "without");
  const auto text = run_msprof({"query", "-dir", played.run.folder.string()});
  CHECK(contains(text.out, "verdict    complete without files of PID-Threads.data, "));
  const auto show = run_msprof({"show", "--json", "-dir", played.run.folder.string()});
  CHECK(nlohmann::json::parse(show.out).at("captures").at(0).at("verdict") == "without");
  const auto log = run_msprof(
      {"query", "--format", "csv", "-dir", played.run.folder.string(),
       "SELECT severity, kind, count(*) FROM v_import_log WHERE id = 'unread_kind' GROUP BY kind"
       " ORDER BY kind"});
  CHECK(contains(log.out, "without,PID-Threads.data,1"));
  CHECK(contains(log.out, "without,instr.pc_sampling_group0,2"));
  const auto doctor = run_msprof({"doctor", "-dir", played.run.folder.string()});
  for (const char* part :
       {"instr.pc_sampling_group0", "PID-Threads.data", "brand_new.data", "program counters"})
    CHECK(contains(doctor.out, part));
  for (const auto& [name, lacks] : files) CHECK(contains(doctor.out, name));
}

TEST_CASE("records lost on the device make the data partial") {
  const CommandRun played;
  // The running number of a record is four bits of its header.
  const fs::path slice = played.run.folder / "device_0" / "data" / "stars_soc.data.0.slice_0";
  std::string bytes = read_file(slice);
  bytes.erase(64 * 20, 64 * 3);
  write_file(slice, bytes);
  const RunResult result = run_msprof({"import", "--json", "-dir", played.run.folder.string()});
  INFO(result.err);
  CHECK(result.exit_code == 3);
  const auto capture = nlohmann::json::parse(result.out).at("captures").at(0);
  CHECK(capture.at("verdict") == "partial");
  bool found = false;
  for (const auto& finding : capture.at("findings")) {
    if (finding.at("id") != "records_missing") continue;
    found = true;
    CHECK(finding.at("severity") == "partial");
    CHECK(finding.at("count") == 3);
  }
  CHECK(found);
  CHECK(contains(result.err, "verdict: PARTIAL DATA"));
}

TEST_CASE("import does not report files of exports and viewers in the capture") {
  const CommandRun played;
  REQUIRE(played.msprof({"import"}) == 0);
  const std::string store = read_file(played.run.folder / "sqlite/msprof.db");
  REQUIRE(played.msprof({"export", "all"}) == 0);
  write_file(played.run.folder / "msprof_1.db-wal", "a viewer's");
  REQUIRE(played.msprof({"import"}) == 0);
  CHECK(read_file(played.run.folder / "sqlite/msprof.db") == store);
}
