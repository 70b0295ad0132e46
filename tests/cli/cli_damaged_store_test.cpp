// A store may be damaged, or copied from another machine with its capture: an export of it may fail
// with a message, but must not crash.
#include <catch2/catch.hpp>
#include <random>

#include "cli_fixture.hpp"

using namespace msprof::test;

namespace {

// Exit codes allowed for a command on a damaged store: success, partial data, or no data.
bool is_answer(const RunResult& result) {
  return result.signal == 0 &&
         (result.exit_code == 0 || result.exit_code == 3 || result.exit_code == 4);
}

// Runs each command on the current store; export and show do not rebuild a damaged one.
void check_all(const JobBuilder& job) {
  const std::string dir = job.folder().string();
  for (const Words& words :
       {Words{"show", "-q", "-dir", dir}, Words{"export", "timeline", "-q", "-dir", dir},
        Words{"export", "summary", "-q", "-dir", dir}}) {
    const RunResult result = run_msprof(words);
    INFO(words.front() << ": exit code " << result.exit_code << ", signal " << result.signal << "\n"
                       << result.err);
    CHECK(is_answer(result));
  }
}

}  // namespace

TEST_CASE("a store with flipped bytes never crashes an export") {
  const TempFolder folder;
  const JobBuilder job = make_face(folder.path(), "JOBA");
  REQUIRE(run_msprof({"import", "-q", "-dir", job.folder().string()}).exit_code == 0);
  const auto path = job.folder() / "sqlite" / "msprof.db";
  const std::string whole = read_file(path);
  std::mt19937 random(1);
  for (int round = 0; round < 25; ++round) {
    std::string damaged = whole;
    for (int flips = 0; flips < 20; ++flips) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    write_file(path, damaged);
    check_all(job);
  }
}

TEST_CASE("a store with contradictory rows is reported as damaged") {
  const TempFolder folder;
  const JobBuilder job = make_face(folder.path(), "JOBA");
  const auto path = job.folder() / "sqlite" / "msprof.db";
  for (const char* lie :
       {"UPDATE task SET op_id = 1099511627776", "UPDATE task SET op_id = -5",
        "UPDATE op SET id = 1099511627776 WHERE id = 1", "UPDATE step SET model_row = 77",
        "UPDATE api_call SET name_id = 12345", "UPDATE task SET execution = -1",
        "UPDATE device SET frequency_hz = 0", "UPDATE task_pmu SET c0 = 9223372036854775807",
        "UPDATE task_run SET last_task_id = 9223372036854775807",
        "UPDATE task SET duration_ns = -9223372036854775807, start_ns = 9223372036854775807",
        "DROP TABLE name", "DROP TABLE step; CREATE VIEW step AS SELECT * FROM task"}) {
    INFO(lie);
    REQUIRE(run_msprof({"import", "-q", "-dir", job.folder().string()}).exit_code == 0);
    query(path, lie);
    check_all(job);
  }
}
