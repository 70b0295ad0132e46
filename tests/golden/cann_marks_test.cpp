// What import stores about blocks of rows and as bits per row (store/rows/mark_rows.hpp) equals
// what SQL finds in the rows. Products do not depend on the blocks, which only make exports faster.
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "golden/cann_fixture.hpp"
#include "support/prof/prof_run.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;
namespace fs = std::filesystem;

namespace {

// Several blocks of tasks and of calls.
struct MarkedRun {
  TempFolder folder;
  fs::path capture, store;

  MarkedRun() {
    RunShape shape;
    shape.tasks = 14'000;
    shape.flip_at = 3000;
    capture = make_run(folder.path(), {}, shape).folder;
    store = capture / "sqlite" / "msprof.db";
    REQUIRE(run_msprof({"import", "-q", "-dir", capture.string()}).exit_code == 0);
  }

  // The texts of all files that `words` write, by name.
  std::map<std::string, std::string> exported(Lines words) const {
    const TempFolder out;
    words.insert(words.begin(), "export");
    words.insert(words.end(), {"-q", "-dir", capture.string(), "--output", out.path().string()});
    const RunResult result = run_msprof(words);
    INFO(result.err);
    CHECK((result.exit_code == 0 || result.exit_code == 4));
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(out.path())) {
      const std::string name = entry.path().filename().string();
      if (entry.is_regular_file() && !name.starts_with(".") && !name.ends_with(".db"))
        files[name] = read_file(entry.path());
    }
    return files;
  }
  // The ids whose bit is set in a column of a mark table.
  Lines marked(const std::string& table, const std::string& column) const {
    return query(store,
                 "WITH RECURSIVE bit(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM bit WHERE i < 31)"
                 " SELECT id * 32 + i FROM " +
                     table + " JOIN bit ON " + column + " >> i & 1 ORDER BY 1");
  }
};

// Ends of arrows: tasks with an operator, copies, tasks of events, and drawn collectives.
const std::string kEnds =
    "WITH ends AS (SELECT 'task' AS kind, task.id, api_id, device_id, task.start_ns FROM task"
    " LEFT JOIN name AS type ON type.id = host_type_name_id"
    " LEFT JOIN api_call AS call ON call.id = api_id LEFT JOIN name AS called ON called.id ="
    " call.name_id WHERE device_type_name_id IS NOT NULL AND api_id IS NOT NULL AND (op_id IS NOT"
    " NULL OR type.text = 'MEMCPY_ASYNC' OR called.text IN ('aclrtRecordEvent',"
    " 'aclrtStreamWaitEvent')) UNION ALL SELECT 'op', op.id, api_id, device_id, start_ns"
    " FROM comm_op AS op JOIN comm_call AS call ON call.id = first_comm_call_id"
    " WHERE api_id IS NOT NULL AND op_relay IS NOT NULL), last AS (SELECT kind, id, row_number()"
    " OVER (PARTITION BY api_id ORDER BY device_id DESC, start_ns DESC, kind DESC, id DESC) AS "
    "place"
    " FROM ends) ";

}  // namespace

TEST_CASE("timelines and tables are the same with and without the blocks of import") {
  const MarkedRun run;
  // The exports cover calls from before the collection, blocks in the middle, and no blocks.
  const std::vector<Lines> products = {
      {"timeline"},
      {"timeline", "--time-range", "0ms:1ms"},
      {"timeline", "--time-range", "7ms:9ms"},
      {"timeline", "--time-range", "20ms:"},
      {"timeline", "--time-range", ":3ms", "--min-dur", "2us"},
      {"timeline", "--time-range", "50s:60s"},
      {"timeline", "--model-id", "1", "--iteration-id", "2"},
      {"summary", "--model-id", "1", "--iteration-id", "2"},
      {"timeline", "--style", "cann5", "--model-id", "1", "--iteration-id", "2"}};
  std::vector<std::map<std::string, std::string>> marked;
  for (const Lines& words : products) marked.push_back(run.exported(words));
  CHECK(marked[0].begin()->second.size() > 10 * marked[2].begin()->second.size());
  CHECK_FALSE(marked[2].empty());
  CHECK_FALSE(marked[7].empty());
  query(run.store, "DELETE FROM time_block");
  for (std::size_t i = 0; i < products.size(); ++i) {
    INFO(i << ": " << products[i].back());
    CHECK(run.exported(products[i]) == marked[i]);
  }
}

TEST_CASE("the marks of rows are those that SQL finds") {
  const MarkedRun run;
  const auto found = [&run](const std::string& sql) {
    Lines lines = query(run.store, sql);
    CHECK_FALSE(lines.empty());
    return lines;
  };
  CHECK(run.marked("task_mark", "arrow_ends") ==
        found(kEnds + "SELECT id FROM ends WHERE kind = 'task' ORDER BY 1"));
  CHECK(run.marked("task_mark", "last_arrow_ends") ==
        found(kEnds + "SELECT id FROM last WHERE kind = 'task' AND place = 1 ORDER BY 1"));
  CHECK(run.marked("comm_op_mark", "last_arrow_ends") ==
        query(run.store, kEnds + "SELECT id FROM last WHERE kind = 'op' AND place = 1 ORDER BY 1"));
  CHECK(run.marked("task_mark", "outer_tasks") ==
        found("SELECT id FROM task WHERE context IS NULL AND (device_id, stream_id, batch,"
              " task_number) IN (SELECT device_id, stream_id, batch, task_number FROM task WHERE"
              " context IS NOT NULL AND device_type_name_id IS NOT NULL) ORDER BY 1"));
  CHECK(run.marked("call_mark", "copies") ==
        found("SELECT DISTINCT api_id FROM task JOIN name ON name.id = host_type_name_id WHERE text"
              " = 'MEMCPY_ASYNC' AND device_type_name_id IS NOT NULL AND api_id IS NOT NULL"
              " ORDER BY 1"));
  CHECK(query(run.store,
              "SELECT device_id, group_name_id, largest_plane_id FROM comm_group"
              " ORDER BY 1, 2") ==
        found("SELECT device_id, name_id, max(plane_id) FROM (SELECT task.device_id,"
              " call.group_name_id AS name_id, call.plane_id FROM comm_task"
              " JOIN comm_call AS call ON call.id = comm_call_id JOIN task ON task.id = task_id"
              " WHERE call.item_name_id IS NOT NULL UNION ALL SELECT op.device_id,"
              " call.op_group_name_id, NULL FROM comm_op AS op JOIN comm_call AS call"
              " ON call.id = op.first_comm_call_id) GROUP BY 1, 2 ORDER BY 1, 2"));
}

TEST_CASE("a timeline compressed by several threads is the same") {
  const MarkedRun run;
  const auto plain = run.exported({"timeline"});
  const TempFolder out;
  REQUIRE(run_msprof({"export", "timeline", "-q", "--gzip", "-dir", run.capture.string(),
                      "--output", out.path().string()})
              .exit_code == 0);
  for (const auto& [name, text] : plain) {
    INFO(name);
    const fs::path packed = out / "mindstudio_profiler_output" / (name + ".gz");
    const RunResult unpacked = run_program("/bin/gzip", {"-dc", packed.string()});
    CHECK(unpacked.exit_code == 0);
    CHECK(unpacked.out == text);
    CHECK(run_program("/bin/gzip", {"-t", packed.string()}).exit_code == 0);
  }
}

TEST_CASE("blocks of rows are complete, in order, and cover the times of their rows") {
  const MarkedRun run;
  for (const std::string& table : {std::string("task"), std::string("api_call")}) {
    INFO(table);
    const std::string of_table = table == "task" ? "0" : "1";
    const std::string end = table == "task" ? "start_ns + duration_ns" : "end_ns";
    CHECK(query(run.store, "SELECT count(*) > 3 FROM time_block WHERE of_table = " + of_table) ==
          Lines{"1"});
    CHECK(query(run.store, "SELECT count(*) FROM " + table) ==
          query(run.store,
                "SELECT sum(last_row_id - first_row_id + 1) FROM time_block WHERE of_table = " +
                    of_table));
    CHECK(query(run.store, "SELECT first_start_ns, last_end_ns FROM time_block WHERE of_table = " +
                               of_table + " ORDER BY id") ==
          query(run.store,
                "SELECT min(start_ns), max(" + end + ") FROM time_block JOIN " + table +
                    " AS r ON r.id BETWEEN first_row_id AND last_row_id WHERE of_table = " +
                    of_table + " GROUP BY time_block.id ORDER BY time_block.id"));
  }
}
