// Rank summaries in the output folder, their inputs, the folder's lock, and task files.
#include "cluster/run/part_folder.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/owner_lock.hpp"
#include "cluster/run/cluster_task.hpp"
#include "cluster/run/run_fixture.hpp"
#include "cluster/run/run_lock.hpp"

using namespace msprof;
using namespace msprof::cluster;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

// One capture with an up-to-date rank summary.
struct PartScene {
  TempFolder folder;
  ClusterCapture capture{write_job(folder / "in", 1).front(), {}};
  PartFolder parts{folder / "out"};
  std::string fingerprint = PartFolder::fingerprint(capture);

  PartScene() {
    parts.begin(capture);
    write_file(parts.part_path(capture), "a part");
    remember(PartOutcome::made);
  }
  void remember(PartOutcome outcome) const {
    parts.remember({capture, parts.part_path(capture), outcome, Exit::ok, "", "", ""}, fingerprint);
  }
  bool is_current() const {
    return parts.find_current(capture, PartFolder::fingerprint(capture)).has_value();
  }
};

const RunLock::JobsAlive kNoJobs = [](const std::vector<std::string>&) { return false; };
const RunLock::JobsAlive kAllJobs = [](const std::vector<std::string>&) { return true; };

std::string refusal(const fs::path& folder, const RunLock::JobsAlive& jobs) {
  try {
    const RunLock lock(folder, jobs);
  } catch (const Error& error) {
    CHECK(error.code() == Exit::cannot_write);
    return error.what();
  }
  return "";
}

// Leaves a lock file like that of a killed process.
void leave_lock(const fs::path& folder, const std::vector<std::string>& jobs) {
  const pid_t child = ::fork();
  if (child == 0) {
    RunLock lock(folder, kNoJobs);
    lock.set_jobs(jobs);
    ::_exit(0);  // skips destructors, like a kill
  }
  ::waitpid(child, nullptr, 0);
}

}  // namespace

TEST_CASE("a part is current as long as its capture is unchanged") {
  PartScene scene;
  REQUIRE(scene.is_current());
  CHECK(scene.parts.find_current(scene.capture, scene.fingerprint)->outcome ==
        PartOutcome::current);
  SECTION("a raw file that grew") {
    const fs::path file = scene.capture.folder / "host/data";
    const fs::path first = file / names_in(file).front();
    write_file(first, read_file(first) + "x");
    CHECK_FALSE(scene.is_current());
  }
  SECTION("a rank from a new framework file") {
    scene.capture.rank = 5;
    CHECK_FALSE(scene.is_current());
  }
  SECTION("a truncated part") {
    write_file(scene.parts.part_path(scene.capture), "a pa");
    CHECK_FALSE(scene.is_current());
  }
  SECTION("a missing part") {
    fs::remove(scene.parts.part_path(scene.capture));
    CHECK_FALSE(scene.is_current());
  }
  SECTION("a state that is damaged, or empty") {
    const fs::path state = scene.parts.part_path(scene.capture).parent_path() / "rank.state";
    for (const char* text : {"", "{", "[]", "{\"schema\": 1}"}) {
      write_file(state, text);
      CHECK_FALSE(scene.is_current());
    }
  }
}

TEST_CASE("a part of partial data keeps that state") {
  const PartScene scene;
  scene.remember(PartOutcome::partial);
  const auto current = scene.parts.find_current(scene.capture, scene.fingerprint);
  REQUIRE(current);
  CHECK(current->outcome == PartOutcome::partial);
  CHECK(current->exit == Exit::partial_data);
}

TEST_CASE("a rebuilt part starts without the old part and files of killed programs") {
  const PartScene scene;
  const fs::path place = scene.parts.part_path(scene.capture).parent_path();
  write_file(place / (".rank.part.0123456789abcdef-" + machine_tag() + ".msprof-tmp"), "half");
  scene.parts.begin(scene.capture);
  CHECK(names_in(place).empty());
}

TEST_CASE("Parquet files are current only in their data set and while the capture is unchanged") {
  const PartScene scene;
  const fs::path data_set = scene.folder / "data";
  fs::create_directory(data_set);
  CHECK_FALSE(scene.parts.has_parquet(scene.capture, scene.fingerprint, data_set));
  scene.parts.remember_parquet(scene.capture, scene.fingerprint, data_set);
  CHECK(scene.parts.has_parquet(scene.capture, scene.fingerprint, data_set));
  CHECK_FALSE(scene.parts.has_parquet(scene.capture, "another", data_set));
  CHECK_FALSE(scene.parts.has_parquet(scene.capture, "", data_set));
  CHECK_FALSE(scene.parts.has_parquet(scene.capture, scene.fingerprint, scene.folder / "in"));
  fs::remove(data_set);
  CHECK_FALSE(scene.parts.has_parquet(scene.capture, scene.fingerprint, data_set));
}

TEST_CASE("an msprof of an archive or a wheel is started as its tools/profiler/bin/msprof") {
  const TempFolder folder;
  write_file(folder / "lib/msprof/loader/msprof", "");
  CHECK(find_program(folder / "lib/msprof/loader/msprof") == folder / "lib/msprof/loader/msprof");
  const fs::path launcher = folder / "tools/profiler/bin/msprof";
  write_file(launcher, "");
  CHECK(find_program(folder / "lib/msprof/loader/msprof") == launcher);
  CHECK(find_program("/usr/bin/msprof") == "/usr/bin/msprof");
}

TEST_CASE("captures with equal names in two folders have separate parts") {
  const TempFolder folder;
  const PartFolder parts(folder / "out");
  CHECK(parts.part_path({"/a/PROF_1", {}}) != parts.part_path({"/b/PROF_1", {}}));
}

TEST_CASE("a capture that cannot be opened has no fingerprint and is never current") {
  const TempFolder folder;
  fs::create_directories(folder / "PROF_x");
  CHECK(PartFolder::fingerprint({folder / "PROF_x", {}}).empty());
  const PartFolder parts(folder / "out");
  write_file(parts.part_path({folder / "PROF_x", {}}), "");
  CHECK_FALSE(parts.find_current({folder / "PROF_x", {}}, ""));
}

TEST_CASE("results and tasks survive writing to a file, with any bytes in paths") {
  const std::string odd = "/x/PROF_\xff\xc3\xa9 \"\n\\";
  ClusterTask task;
  task.kind = ClusterTaskKind::finish;
  task.output = odd;
  task.part = "/p";
  task.captures = {{odd, 7}, {"/y", {}}};
  task.inputs = {odd};
  task.folders = {"/z"};
  task.work.msprof = odd;
  task.work.jobs = 3;
  task.work.detail_rows = "9";
  const ClusterTask back = parse_task(task_text(task), "test");
  CHECK(task_text(back) == task_text(task));
  CHECK(back.output == task.output);
  CHECK(back.captures.at(0).folder == odd);
  CHECK(back.captures.at(0).rank == 7);
  CHECK_FALSE(back.captures.at(1).rank);

  TaskResult result;
  result.report.results = {
      {{odd, 7}, "/p/rank.part", PartOutcome::failed, Exit::cannot_write, "no space", "n1", ""}};
  result.report.problems = {{odd, "no"}};
  result.has_part = true;
  const TaskResult again = parse_task_result(task_result_text(result), "test");
  CHECK(task_result_text(again) == task_result_text(result));
  CHECK(again.report.results.at(0).exit == Exit::cannot_write);
  CHECK(again.report.results.at(0).outcome == PartOutcome::failed);
}

TEST_CASE("a task file that is damaged or of another version is refused by name") {
  for (const char* text : {"", "{", "[]", "{\"schema\": \"msprof.cluster-task/1\"}"})
    CHECK_THROWS_WITH(parse_task(text, "the file"), Catch::Contains("the file is damaged"));
  CHECK_THROWS_WITH(parse_task("{\"schema\": \"msprof.cluster-task/99\"}", "the file"),
                    Catch::Contains("another version"));
}

TEST_CASE("a folder is locked during a run and free after it") {
  const TempFolder folder;
  {
    const RunLock lock(folder.path(), kNoJobs);
    CHECK(says(refusal(folder.path(), kNoJobs),
               "is in use by process " + std::to_string(::getpid())));
  }
  CHECK(names_in(folder.path()).empty());
  CHECK(refusal(folder.path(), kNoJobs).empty());
}

TEST_CASE("the lock of a killed program is taken over, but not while its jobs exist") {
  const TempFolder folder;
  leave_lock(folder.path(), {"17", "18"});
  REQUIRE(fs::exists(folder / "run.lock"));
  const std::string why = refusal(folder.path(), kAllJobs);
  CHECK(says(why, "17 and 18"));
  CHECK(says(why, "--attach"));
  { const RunLock attached(folder.path(), kAllJobs, true); }
  leave_lock(folder.path(), {"17"});
  CHECK(refusal(folder.path(), kNoJobs).empty());
}

TEST_CASE("a lock left to jobs belongs only to them, even without visible locks") {
  const TempFolder folder;
  {
    RunLock lock(folder.path(), kNoJobs);
    lock.set_jobs({"17"});
    lock.leave();
  }
  CHECK(says(refusal(folder.path(), kAllJobs), "its jobs 17 have not ended"));
  CHECK(says(read_file(folder / "run.lock"), "\"pid\": 0"));
  CHECK(refusal(folder.path(), kNoJobs).empty());
}

TEST_CASE("a lock of another host is kept for a day, and an invalid one is ignored") {
  const TempFolder folder;
  write_file(folder / "run.lock", R"({"host": "elsewhere", "pid": 1, "start": "1", "jobs": []})");
  const std::string why = refusal(folder.path(), kNoJobs);
  CHECK(says(why, "process 1 on elsewhere"));
  CHECK(says(why, "run.lock"));
  fs::last_write_time(folder / "run.lock",
                      fs::file_time_type::clock::now() - std::chrono::hours(25));
  CHECK(refusal(folder.path(), kNoJobs).empty());
  for (const char* text : {"", "{", "[1]"}) {
    write_file(folder / "run.lock", text);
    CHECK(refusal(folder.path(), kNoJobs).empty());
  }
}
