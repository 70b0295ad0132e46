// System limits of a process: file size, number of open files.
#include <catch2/catch.hpp>

#include "cli/cli_fixture.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

// Runs msprof with a limit of the shell's ulimit, e.g. "-n 8".
RunResult run_limited(const std::string& limit, const Words& words) {
  Words all = {"-c", "ulimit " + limit + " && exec \"$0\" \"$@\"", msprof_path()};
  all.insert(all.end(), words.begin(), words.end());
  return run_program("/bin/sh", all);
}

}  // namespace

TEST_CASE("exceeding the file size limit is reported like a full disk") {
  const TempFolder folder;
  const std::string dir = make_face(folder.path(), "JOBA").folder().string();
  const Words words = GENERATE(Words{"import"}, Words{"export", "all"}, Words{"report"});
  INFO(words.front());
  Words all = words;
  all.insert(all.end(), {"-dir", dir});
  if (words.front() != "import") REQUIRE(run_msprof({"import", "-q", "-dir", dir}).exit_code == 0);
  const RunResult result = run_limited("-f 1", all);
  INFO(result.err);
  CHECK(result.signal == 0);
  CHECK(result.exit_code == 5);
  CHECK(contains(result.err, "error: "));
  CHECK_FALSE(contains(result.err, "internal error"));
  CHECK(run_msprof(all).exit_code == 0);
}

TEST_CASE("a compressed timeline of which no byte can be written is reported") {
  const TempFolder folder;
  const std::string dir = make_face(folder.path(), "JOBA").folder().string();
  REQUIRE(run_msprof({"import", "-q", "-dir", dir}).exit_code == 0);
  // The message cannot be written either.
  const RunResult result = run_limited("-f 0", {"export", "timeline", "--gzip", "-dir", dir});
  CHECK(result.signal == 0);
  CHECK(result.exit_code == 5);
}

TEST_CASE("too many open files are not reported as missing files") {
  const TempFolder folder;
  const std::string dir = make_face(folder.path(), "JOBA").folder().string();
  const fs::path out = folder / "out";
  int failed = 0;
  for (int files = 4; files < 16; ++files) {
    const RunResult result = run_limited("-n " + std::to_string(files),
                                         {"export", "all", "-dir", dir, "--output", out.string()});
    if (result.exit_code == 127) continue;  // the loader cannot map the libraries
    INFO(files << " files: exit " << result.exit_code << ", " << result.out << result.err);
    CHECK((result.exit_code == 0 || result.exit_code == 3 || result.exit_code == 5));
    CHECK_FALSE(contains(result.err, "internal error"));
    if (result.exit_code != 0) {
      ++failed;
      CHECK((contains(result.err, "error: ") || contains(result.err, "PARTIAL")));
    }
    fs::remove_all(out);
  }
  CHECK(failed > 0);
}

#ifndef __SANITIZE_ADDRESS__
TEST_CASE("many steps of a model with a long name need little memory") {
  const TempFolder folder;
  const std::string dir = make_face(folder.path(), "JOBA").folder().string();
  REQUIRE(run_msprof({"import", "-q", "-dir", dir}).exit_code == 0);
  // One copy of the name per step would be 600 MB.
  query(fs::path(dir) / "sqlite" / "msprof.db",
        "UPDATE name SET text = replace(hex(zeroblob(50000)), '00', 'xy')"
        " WHERE id = (SELECT name_id FROM model ORDER BY id LIMIT 1);"
        "WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 6999)"
        "INSERT INTO step SELECT i, (SELECT min(id) FROM model), i, 1, 1, i, 1, 1 FROM n;"
        "INSERT INTO step_time SELECT id, 1, 1, 1, 2, 1 FROM step WHERE id >= 1000;"
        "INSERT INTO task_run SELECT id, id, 1, 0, NULL FROM step WHERE id >= 1000;"
        "INSERT INTO layer_time(id, step_id, op_id, task_count, execution_count) SELECT id, id,"
        " (SELECT min(id) FROM op), 1, 1 FROM step WHERE id >= 1000");
  for (const Words& words :
       {Words{"show", "-q", "-dir", dir}, Words{"show", "-q", "--json", "-dir", dir},
        Words{"query", "-q", "-dir", dir}, Words{"advise", "-dir", dir},
        Words{"doctor", "--dir", dir}, Words{"report", "-dir", dir}, Words{"compare", dir, dir},
        Words{"export", "timeline", "-q", "-dir", dir},
        Words{"query", "-q", "-dir", dir, "SELECT count(*) FROM op_statistic"}}) {
    const RunResult result = run_limited("-v 450000", words);
    INFO(words.front() << ": exit code " << result.exit_code << "\n" << result.err);
    // SQL of a user that sorts by the name may exceed the limit of temporary files.
    const bool is_refused =
        words.front() == "query" && contains(result.err, "temporary files are limited");
    CHECK((result.exit_code == 0 || (is_refused && result.exit_code == 5)));
  }
}

TEST_CASE("operators with long names need little memory") {
  const TempFolder folder;
  const std::string dir = make_face(folder.path(), "JOBA").folder().string();
  REQUIRE(run_msprof({"import", "-q", "-dir", dir}).exit_code == 0);
  query(fs::path(dir) / "sqlite" / "msprof.db",
        "WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 1599)"
        "INSERT INTO name SELECT i, i || replace(hex(zeroblob(50000)), '00', 'xy') FROM n;"
        "INSERT INTO op(id, model_row, position, name_id, original_name_id, type_name_id,"
        " unit_name_id) SELECT id, model_row, name.id, name.id, name.id, type_name_id, unit_name_id"
        " FROM name JOIN (SELECT model_row, type_name_id, unit_name_id FROM op LIMIT 1)"
        " WHERE name.id >= 1000;"
        "INSERT INTO op_time SELECT id, 1, 1000, 1000, 1000 FROM op WHERE id >= 1000;"
        "INSERT INTO task(id, step_id, op_id, start_ns, duration_ns, execution)"
        " SELECT op.id, step.id, op.id, (SELECT max(start_ns) FROM task) + 2000 * op.id, 1000, 0"
        " FROM op, step WHERE op.id >= 1000;"
        "UPDATE task_run SET last_task_id = 1599 WHERE id = (SELECT max(id) FROM task_run);"
        "INSERT INTO layer_time(id, step_id, op_id, task_count, execution_count, total_ns)"
        " SELECT op_id, step_id, op_id, 1, 1, 1000 FROM task WHERE id >= 1000");
  for (const Words& words : {Words{"show", "-q", "-dir", dir}, Words{"advise", "-dir", dir},
                             Words{"report", "-dir", dir}, Words{"compare", dir, dir}}) {
    const RunResult result = run_limited("-v 450000", words);
    INFO(words.front() << ": exit code " << result.exit_code << "\n" << result.err);
    CHECK(result.exit_code == 0);
  }
}
#endif
