// A store from another machine can contain anything: every verb that reads it must finish quickly
// with an answer or an error message.
#include <catch2/catch.hpp>

#include "cli/cli_fixture.hpp"
#include "support/page_editor.hpp"
#include "support/prof/prof_run.hpp"
#include "support/sample.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

// The allowed exit codes: ok, usage (a threshold, SQL), partial data, no data, cannot write, a
// regression.
bool is_answer_or_refusal(const RunResult& result) {
  for (const int code : {0, 2, 3, 4, 5, 8}) {
    if (result.exit_code == code) return result.signal == 0;
  }
  return false;
}

// A capture with its store; `other` is the same capture, unmodified.
struct Hostile {
  TempFolder folder;
  fs::path capture, other, store, good = folder / "good.db";

  explicit Hostile(bool is_prof) {
    if (is_prof) {
      prof::RunShape shape;
      shape.tasks = 120;
      capture = prof::make_run(folder / "a", {}, shape).folder;
    } else {
      capture = make_face(folder / "a", "JOBA").folder();
    }
    fs::create_directories(folder / "b");
    fs::copy(capture, folder / "b" / capture.filename(), fs::copy_options::recursive);
    other = folder / "b" / capture.filename();
    store = capture / "sqlite" / "msprof.db";
    for (const fs::path& one : {capture, other})
      REQUIRE(run_msprof({"import", "-q", "-dir", one.string()}).exit_code == 0);
    fs::copy_file(store, good);
  }

  void renew() const {
    fs::remove_all(store);
    fs::copy_file(good, store);
  }
  void change(const std::string& sql) const { query(store, sql); }

  void check_all() const {
    const std::string dir = capture.string(), base = other.string();
    for (const Words& words :
         {Words{"show", "-q", "-dir", dir}, Words{"query", "-q", "-dir", dir},
          Words{"query", "-q", "-dir", dir, "--format", "csv",
                "SELECT * FROM v_ops, v_executions LIMIT 20"},
          Words{"query", "-q", "-dir", dir, "--json", "SELECT * FROM op_summary LIMIT 20"},
          Words{"compare", base, dir}, Words{"advise", "-dir", dir}, Words{"doctor", "--dir", dir},
          Words{"export", "all", "-q", "-dir", dir}, Words{"list", folder.path().string()},
          Words{"report", "-dir", dir},
          Words{"rank", "--output", (folder / "a.part").string(), "-dir", dir},
          Words{"cluster", "--output", (folder / "cluster").string(), dir},
          Words{"export", "timeline", "-q", "--layers", "all", "--time-range", "1ms:2s",
                "--min-dur", "1us", "-dir", dir},
          Words{"export", "timeline", "-q", "--split", "40kB", "-dir", dir}}) {
      const RunResult result = run_msprof(words);
      INFO(words.front() << ": exit code " << result.exit_code << ", signal " << result.signal
                         << "\n"
                         << result.out.substr(0, 2000) << "\n"
                         << result.err.substr(0, 2000));
      CHECK(is_answer_or_refusal(result));
      if (result.exit_code != 0) CHECK_FALSE((result.err + result.out).empty());
    }
  }
};

// Cell values that no import writes, several at a time.
const std::vector<std::string> kJobLies = {
    "UPDATE task SET start_ns = 'soon', duration_ns = x'00ff', op_id = 1e300;"
    "UPDATE api_call SET start_ns = 9223372036854775807, end_ns = -9223372036854775808",
    "UPDATE task SET duration_ns = 9223372036854775807, start_ns = -9223372036854775808;"
    "UPDATE device SET frequency_hz = 'fast', chip_name_id = 1e308",
    "UPDATE task SET start_ns = 9223372036854775807, duration_ns = 9223372036854775807;"
    "UPDATE api_call SET start_ns = -9223372036854775808, end_ns = 9223372036854775807",
    "UPDATE task SET duration_ns = NULL, op_id = NULL, step_id = NULL; UPDATE meta SET value = 'x'",
    "UPDATE op SET name_id = -1, type_name_id = 'x', model_row = 9223372036854775807;"
    "UPDATE step SET model_row = 1e300, number = 'a'; UPDATE model SET batch_num = x'41'",
    "UPDATE task_pmu SET c0 = -9223372036854775808, c1 = 'x', c2 = 1e300;"
    "UPDATE name SET text = char(27) || '[2J' || x'ff' || char(10) || text",
    "UPDATE name SET text = replace(hex(zeroblob(5000000)), '00', 'xy') WHERE id < 4"};

const std::vector<std::string> kProfLies = {
    "UPDATE task SET start_ns = 'soon', duration_ns = x'00ff', op_id = 1e300;"
    "UPDATE memcpy_task SET size_bytes = 9223372036854775807, direction = 'up'",
    "UPDATE task SET duration_ns = 9223372036854775807, start_ns = -9223372036854775808;"
    "UPDATE counter SET value = 'x', track_id = 1e300; UPDATE overlap SET end_ns = x'00'",
    "UPDATE task SET start_ns = 9223372036854775807, duration_ns = 9223372036854775807;"
    "UPDATE api_call SET start_ns = -9223372036854775808, end_ns = 9223372036854775807;"
    "UPDATE comm_op SET start_ns = -9223372036854775808, end_ns = 9223372036854775807;"
    "UPDATE overlap SET start_ns = -9223372036854775808, end_ns = 9223372036854775807;"
    "UPDATE iteration SET start_ns = -9223372036854775808, end_ns = 9223372036854775807,"
    " fp_start_ns = -9223372036854775807, bp_end_ns = 9223372036854775806,"
    " refresh_ns = 9223372036854775807, duration_ns = 9223372036854775807;"
    "UPDATE iteration_part SET start_ns = -9223372036854775808, end_ns = 9223372036854775807;"
    "UPDATE user_range SET start_ns = -9223372036854775808, end_ns = 9223372036854775807,"
    " vendor_start_ns = -9223372036854775808, vendor_end_ns = 9223372036854775807;"
    "UPDATE counter SET time_ns = 9223372036854775807, value = -9223372036854775808",
    "UPDATE task_mark SET arrow_ends = -1, last_arrow_ends = 'x', outer_tasks = 1e300;"
    "UPDATE call_mark SET copies = 9223372036854775807;"
    "UPDATE call_mark SET id = 9223372036854775806 WHERE id = (SELECT max(id) FROM call_mark);"
    "UPDATE time_block SET last_row_id = 9223372036854775807, first_start_ns = NULL",
    "UPDATE time_block SET first_row_id = -9223372036854775808, last_row_id = 'x';"
    "DELETE FROM task_mark; UPDATE comm_op_mark SET last_arrow_ends = -9223372036854775808",
    "UPDATE iteration SET duration_ns = -9223372036854775808, start_ns = 'x', number = NULL;"
    "UPDATE name SET text = replace(hex(zeroblob(5000000)), '00', 'xy') WHERE id % 9 = 4"};

// A store with another schema is not msprof's and is rebuilt.
const std::vector<std::string> kForeign = {
    "DROP TABLE task",
    "DROP TABLE meta",
    "ALTER TABLE task DROP COLUMN start_ns",
    "ALTER TABLE op RENAME COLUMN name_id TO n",
    "PRAGMA user_version = 99",
    "DROP TABLE task; CREATE VIEW task AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1"
    " FROM n) SELECT id FROM n",
    "DROP TABLE task; CREATE VIEW task AS SELECT * FROM task",
    "DROP TABLE name; CREATE VIRTUAL TABLE name USING fts5(id, text)",
    "CREATE TRIGGER t AFTER INSERT ON task BEGIN DELETE FROM task; END",
    "CREATE TABLE v_ops(x); CREATE TABLE op_summary(x)",
    "DROP INDEX task_run_of_step",
    "DROP INDEX layer_time_of_step",
    "DROP INDEX task_run_of_step; CREATE INDEX task_run_of_step ON task_run(id)",
    "PRAGMA journal_mode = WAL"};

}  // namespace

TEST_CASE("a board's store with impossible cells never crashes a verb") {
  const Hostile hostile(false);
  for (const std::string& lie : sample(kJobLies, 5)) {
    INFO(lie);
    hostile.renew();
    hostile.change(lie);
    hostile.check_all();
  }
}

TEST_CASE("a PROF store with impossible cells never crashes a verb") {
  const Hostile hostile(true);
  for (const std::string& lie : sample(kProfLies, 6)) {
    INFO(lie);
    hostile.renew();
    hostile.change(lie);
    hostile.check_all();
  }
}

TEST_CASE("pages that refer to one child many times fail every reading verb quickly") {
  const bool is_prof = GENERATE(false, true);
  const Hostile hostile(is_prof);
  const std::vector<std::string> kTables = {"task", "name", "meta", "op", "api_call", "device"};
  for (const std::string& table : sample(kTables, 3)) {
    INFO(table);
    hostile.renew();
    PageEditor pages(hostile.store);
    pages.make_bomb(pages.find_root(table));
    pages.save();
    hostile.check_all();
  }
}

TEST_CASE("ids beyond the size of the store are damage and allocate no memory") {
  const bool is_prof = GENERATE(false, true);
  const Hostile hostile(is_prof);
  const std::vector<std::string> kTables = {"op", "name", "track", "task", "api_call", "device"};
  for (const std::string& table : sample(kTables, 4)) {
    for (const char* id : {"268435456", "9223372036854775807"}) {
      INFO(table << " " << id);
      hostile.renew();
      hostile.change("UPDATE " + table + " SET id = " + id + " WHERE id = (SELECT max(id) FROM " +
                     table + ")");
      hostile.check_all();
    }
  }
}

TEST_CASE("a store with other tables, or views or triggers instead, is rebuilt") {
  const Hostile hostile(false);
  for (const std::string& lie : kForeign) {
    INFO(lie);
    hostile.renew();
    hostile.change(lie);
    const auto result = run_msprof({"query", "-q", "--format", "csv", "-dir",
                                    hostile.capture.string(), "SELECT count(*) AS n FROM v_tasks"});
    INFO(result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.out == "n\n6\n");
  }
}

TEST_CASE("a store that is not a regular file is replaced or reported") {
  const Hostile hostile(false);
  for (const char* kind : {"mkfifo", "mkdir", "ln -s /dev/zero", "ln -s nowhere", "echo text >"}) {
    INFO(kind);
    fs::remove_all(hostile.store);
    REQUIRE(
        run_program("/bin/sh", {"-c", std::string(kind) + " \"$1\"", "sh", hostile.store.string()})
            .exit_code == 0);
    hostile.check_all();
  }
}

TEST_CASE("show prints 10,000 rows of a table, and says how to get the others") {
  const Hostile hostile(true);
  hostile.change(
      "DELETE FROM iteration_part; DELETE FROM iteration;"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)"
      "INSERT INTO iteration(id, device_id, model_number, number, start_ns, end_ns,"
      " duration_ns) SELECT i, 0, 1, i, i, i, i * 7919 % 30011 FROM n");
  const auto show = [&](const Words& options) {
    Words words = {"show", "-q", "-dir", hostile.capture.string()};
    words.insert(words.end(), options.begin(), options.end());
    const RunResult result = run_msprof(words);
    INFO(result.err);
    CHECK(result.exit_code == 0);
    return result.out;
  };
  const auto steps = [&](const Words& options) {
    const auto document = nlohmann::json::parse(show(options));
    for (const auto& table : document.at("captures")[0].at("tables"))
      if (table.at("name") == "step_trace") return table;
    return nlohmann::json();
  };
  CHECK(contains(show({}),
                 "\nand 20000 more: msprof query \"SELECT * FROM step_trace\" --format csv\n"));
  const auto first = steps({"--json"});
  REQUIRE(first.at("rows").size() == 10'000);
  CHECK(first.at("rows")[9'999].at("Iteration ID") == 10'000);
  CHECK(first.at("left_out") == 20'000);
  // The longest steps of all runs, not only of the first.
  const auto hottest = steps({"--json", "--top", "3"});
  REQUIRE(hottest.at("rows").size() == 3);
  const char* const kLongest[] = {"30.010", "30.009", "30.008"};
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(hottest.at("rows")[i].at("Iteration Time(us)") == Approx(std::stod(kLongest[i])));
  CHECK_FALSE(hottest.contains("left_out"));
}
