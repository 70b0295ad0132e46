// The processes of a run: their ends, retries, and the output of a tool.
#include "cluster/run/pool.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <map>

#include "base/error.hpp"
#include "cluster/run/run_fixture.hpp"
#include "support/eventually.hpp"

using namespace msprof;
using namespace msprof::cluster;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

std::map<std::size_t, PoolEnd> run_tasks(const std::vector<PoolTask>& tasks, std::size_t jobs) {
  std::map<std::size_t, PoolEnd> ends;
  PoolOptions options;
  options.jobs = jobs;
  options.label = "tests";
  run_pool(tasks, options, [&](std::size_t task, const PoolEnd& end) {
    ends.emplace(task, end);
    return end.result.has_succeeded();
  });
  return ends;
}

PoolTask shell(const TempFolder& folder, const std::string& script, const std::string& log) {
  return {{"/bin/sh", "-c", script}, folder / log};
}

}  // namespace

TEST_CASE("every task of a pool runs once and its streams go to its log") {
  const TempFolder folder;
  std::vector<PoolTask> tasks;
  for (int i = 0; i < 9; ++i) {
    const std::string number = std::to_string(i);
    tasks.push_back(
        shell(folder, "echo out " + number + "; echo err >&2; exit " + number, "log" + number));
  }
  const auto ends = run_tasks(tasks, 3);
  REQUIRE(ends.size() == 9);
  for (int i = 0; i < 9; ++i) {
    const PoolEnd& end = ends.at(static_cast<std::size_t>(i));
    CHECK(end.result.exit_code == i);
    CHECK(end.tries == 1);
    CHECK(read_file(tasks[static_cast<std::size_t>(i)].log) ==
          "out " + std::to_string(i) + "\nerr\n");
  }
}

TEST_CASE("the number of parallel tasks is limited") {
  const TempFolder folder;
  // Each task counts the tasks that run at the same time.
  const std::string script = "cd " + folder.path().string() +
                             "; : >here.$$; ls | grep -c '^here' >seen.$$; sleep 0.05; rm here.$$";
  std::vector<PoolTask> tasks(12, shell(folder, script, "log"));
  CHECK(run_tasks(tasks, 3).size() == 12);
  int seen = 0;
  for (const std::string& name : names_in(folder.path())) {
    if (!name.starts_with("seen.")) continue;
    ++seen;
    CHECK(std::stoi(read_file(folder / name)) <= 3);
  }
  CHECK(seen == 12);
}

TEST_CASE("a task killed by a signal is retried twice, one with an exit code is not") {
  const TempFolder folder;
  const std::string base = folder.path().string();
  const auto ends = run_tasks(
      {shell(folder, "echo try; kill -KILL $$", "always"),
       shell(folder, "echo try; [ -e " + base + "/mark ] || { : >" + base + "/mark; kill -9 $$; }",
             "once"),
       shell(folder, "exit 5", "code")},
      1);
  CHECK(ends.at(0).result.signal == SIGKILL);
  CHECK(ends.at(0).tries == 3);
  CHECK(read_file(folder / "always") == "try\ntry\ntry\n");
  CHECK(ends.at(0).result.text() == "killed by signal 9 (Killed)");
  CHECK(ends.at(1).result.has_succeeded());
  CHECK(ends.at(1).tries == 2);
  CHECK(ends.at(2).result.exit_code == 5);
  CHECK(ends.at(2).tries == 1);
  CHECK(ends.at(2).result.text() == "exit code 5");
}

TEST_CASE("a missing program ends with 127 and a line in the log") {
  const TempFolder folder;
  const auto ends = run_tasks({{{(folder / "absent").string()}, folder / "log"}}, 1);
  CHECK(ends.at(0).result.exit_code == 127);
  CHECK(last_line(folder / "log") ==
        (folder / "absent").string() + " cannot be started: No such file or directory");
}

TEST_CASE("a log that cannot be written ends the pool with a message and all its processes") {
  const TempFolder folder;
  CHECK_THROWS_WITH(run_tasks({shell(folder, "sleep 60", "a"), shell(folder, "exit 0", "no/b")}, 2),
                    Catch::Contains("cannot write") && Catch::Contains("no/b"));
}

TEST_CASE("arguments reach a program as they are") {
  const TempFolder folder;
  const std::vector<std::string> odd = {"a b", "$(touch owned)", "`x`", "'", "\"", "\n", ""};
  std::vector<std::string> arguments = {"/usr/bin/printf", "<%s>"};
  arguments.insert(arguments.end(), odd.begin(), odd.end());
  const ToolAnswer answer = run_tool(arguments, kHangLimit);
  CHECK(answer.has_succeeded());
  CHECK(answer.out == "<a b><$(touch owned)><`x`><'><\"><\n><>");
}

TEST_CASE("a tool's output is the reason, and an endless one is killed") {
  const ToolAnswer said = run_tool({"/bin/sh", "-c", "echo no such job >&2; exit 1"}, kHangLimit);
  CHECK_FALSE(said.has_succeeded());
  CHECK(said.reason() == "no such job");
  const ToolAnswer silent = run_tool({"/bin/sh", "-c", "exit 4"}, kHangLimit);
  CHECK(silent.reason() == "exit code 4");
  const ToolAnswer endless = run_tool({"/bin/sh", "-c", "sleep 600"}, std::chrono::seconds(0));
  CHECK_FALSE(endless.has_succeeded());
  CHECK(says(endless.reason(), "did not answer"));
}

TEST_CASE("the last line of a log is its last text, in printable form") {
  const TempFolder folder;
  write_file(folder / "log", "first\n\x1b[31mlast\x01\n\n  \n");
  CHECK(last_line(folder / "log") == "?[31mlast?");
  write_file(folder / "log", "");
  CHECK(last_line(folder / "log").empty());
  CHECK(last_line(folder / "absent").empty());
  write_file(folder / "log", std::string(100'000, 'x') + "\nend");
  CHECK(last_line(folder / "log") == "end");
}

TEST_CASE("progress shows the counts, failures and remaining time") {
  using std::chrono::seconds;
  CHECK(CountedProgress::text("parts", 0, 64, 0, seconds(5)) == "parts: 0 of 64");
  CHECK(CountedProgress::text("parts", 16, 64, 1, seconds(10)) ==
        "parts: 16 of 64, 1 failed, about 30 s left");
  CHECK(CountedProgress::text("parts", 1, 64, 0, seconds(60)) ==
        "parts: 1 of 64, about 63 min left");
  CHECK(CountedProgress::text("parts", 64, 64, 2, seconds(60)) == "parts: 64 of 64, 2 failed");
}
