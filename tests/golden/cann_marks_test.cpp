// Products do not depend on the per-block summaries that import stores (store/rows/mark_rows.hpp);
// these only make exports faster.
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
  void forget() const {
    query(store,
          "DELETE FROM time_block; DELETE FROM task_mark; DELETE FROM call_mark;"
          "DELETE FROM comm_op_mark; DELETE FROM comm_group");
  }
};

}  // namespace

TEST_CASE("timelines and tables are the same with and without the marks of import") {
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
  run.forget();
  for (std::size_t i = 0; i < products.size(); ++i) {
    INFO(i << ": " << products[i].back());
    CHECK(run.exported(products[i]) == marked[i]);
  }
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
