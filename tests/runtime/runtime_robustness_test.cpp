#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "runtime/runtime_fixture.hpp"
#include "support/variable.hpp"

using namespace msprof::runtime;
using namespace msprof::runtime::test;

namespace {

// Runs probe MODE with everything profiled into `folder`.
ProcessResult probe(const std::string& mode, const TempFolder& folder,
                    const std::string& output = "") {
  const std::string json =
      folder.write("acl.json", acl_json(output.empty() ? folder.path() : output));
  return run_process({MSPROF_PROBE, mode}, {{"MSPROF_ACL_JSON", json}});
}

std::string data_of_only_job(const TempFolder& folder) {
  const std::vector<std::string> jobs = jobs_in(folder.path());
  REQUIRE(jobs.size() == 1);
  return jobs[0] + "/data/";
}

}  // namespace

TEST_CASE("an application that forgets svp_acl_finalize still leaves a complete JOB") {
  const TempFolder folder;
  const ProcessResult result = probe("forget", folder);
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  const std::string data = data_of_only_job(folder);
  CHECK(
      read_records<SvpAicoreRecord>(data + "aicore.0.tiny.1.0.1.1.0", RecordKind::kAicore).size() ==
      9);
  CHECK(read_done(data + "aicore.0.tiny.1.0.1.1.0").at("file_len") == std::to_string(16 + 9 * 112));
  CHECK(read_done(data + "aicpu.0.tiny.1.0.1.1.0").at("file_len") == std::to_string(16 + 3 * 32));
  CHECK(exists(data + "acl_api.0.tiny.1.done"));
}

TEST_CASE("an application that exits without cleanup leaves every record and no .done") {
  const TempFolder folder;
  CHECK(probe("vanish", folder).exit_code == 0);
  const std::string data = data_of_only_job(folder);
  CHECK(
      read_records<SvpAicoreRecord>(data + "aicore.0.tiny.1.0.1.1.0", RecordKind::kAicore).size() ==
      9);
  for (const std::string& name : names_in(data)) CHECK_FALSE(name.ends_with(".done"));
}

TEST_CASE("a forked child does not write into its parent's files") {
  const TempFolder folder;
  const ProcessResult result = probe("fork_and_go_on", folder);
  CHECK(result.exit_code == 0);
  CHECK(result.err.find("forked after svp_acl_init") != std::string::npos);
  const std::string core = data_of_only_job(folder) + "aicore.0.tiny.1.0.1.1.0";
  const auto records = read_records<SvpAicoreRecord>(core, RecordKind::kAicore);
  REQUIRE(records.size() == 12);
  CHECK(records.back().execution == 3);
  CHECK(read_done(core).at("file_len") == std::to_string(16 + 12 * 112));
}

TEST_CASE("a child that initialises for itself has a JOB of its own") {
  const TempFolder folder;
  const ProcessResult result = probe("fork_and_start_over", folder);
  INFO(result.err);
  CHECK(result.exit_code == 0);
  std::set<std::string> complete;
  REQUIRE(jobs_in(folder.path()).size() == 2);
  for (const std::string& job : jobs_in(folder.path())) {
    for (const std::string& name : names_in(job + "/data")) {
      if (!name.starts_with("acl_api") || !name.ends_with(".done")) continue;
      complete.insert(name);
      // The only thread of a process has the id of the process, also after a fork.
      const auto done = read_done(job + "/data/" + name.substr(0, name.size() - 5));
      CHECK(done.at("pid") == done.at("tid"));
    }
  }
  CHECK(complete == std::set<std::string>{"acl_api.0.child.2.done", "acl_api.0.tiny.1.done"});
}

TEST_CASE("an application without stdin, stdout and stderr does not print into the records") {
  const TempFolder folder;
  CHECK(probe("close_stdio", folder).exit_code == 0);
  const std::string data = data_of_only_job(folder);
  CHECK(
      read_records<SvpAicoreRecord>(data + "aicore.0.tiny.1.0.1.1.0", RecordKind::kAicore).size() ==
      3);
  for (const std::string& name : names_in(data)) {
    CHECK(read_file(data + name).find("text of the application") == std::string::npos);
  }
}

TEST_CASE("a message to a closed stderr does not end the application") {
  const TempFolder folder;
  CHECK(probe("nobody_reads_stderr", folder).exit_code == 0);
}

TEST_CASE("a limit on file sizes stops the recording, not the application") {
  const TempFolder folder;
  const ProcessResult result = probe("small_file_limit", folder);
  CHECK(result.signal == 0);
  CHECK(result.exit_code == 0);
  const std::string core = data_of_only_job(folder) + "aicore.0.tiny.1.0.1.1.0";
  CHECK(read_records<SvpAicoreRecord>(core, RecordKind::kAicore).size() == 5);
  CHECK_FALSE(exists(core + ".done"));
  CHECK(result.err.find("cannot be written (File too large)") != std::string::npos);
  // 4 of 9 core records, and 2 of 19 calls.
  CHECK(result.err.find("6 records were dropped, the profile is partial") != std::string::npos);
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 2);
}

TEST_CASE(
    "an unwritable output folder disables profiling, with a message, and the application runs") {
  const TempFolder folder;
  const ProcessResult result = probe("forget", folder, "/proc");
  CHECK(result.exit_code == 0);
  CHECK(result.err.find("/proc/JOB") != std::string::npos);
  CHECK(result.err.find("no profiling") != std::string::npos);
}

TEST_CASE("a JOB folder removed during the run is reported once, and the application continues") {
  const TempFolder folder;
  const std::string json = folder.write("acl.json", acl_json("."));
  const ProcessResult result = run_process(
      {"/bin/sh", "-c", "cd " + folder.path() + " && exec " MSPROF_PROBE " folder_goes_away"},
      {{"MSPROF_ACL_JSON", json}});
  CHECK(result.exit_code == 0);
  CHECK(result.err.find(".done cannot be written") != std::string::npos);
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
  CHECK(jobs_in(folder.path()).empty());
}

TEST_CASE("an application that changes its folder keeps writing to the original one") {
  const TempFolder folder;
  const std::string json = folder.write("acl.json", acl_json("."));
  const ProcessResult result = run_process(
      {"/bin/sh", "-c", "cd " + folder.path() + " && exec " MSPROF_PROBE " change_folder"},
      {{"MSPROF_ACL_JSON", json}});
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK(exists(data_of_only_job(folder) + "aicore.0.tiny.1.0.1.1.0.done"));
}

TEST_CASE("MSPROF_ACL_JSON replaces the path, even a null one") {
  const TempFolder named, ignored;
  const std::string json = named.write("acl.json", acl_json(named.path()));
  const msprof::test::Variable named_json("MSPROF_ACL_JSON", json);
  { const Initialised runtime; }
  { const Initialised runtime(ignored.write("acl.json", acl_json(ignored.path()))); }
  CHECK(jobs_in(named.path()).size() == 2);
  CHECK(jobs_in(ignored.path()).empty());
}

TEST_CASE("threads that execute two models at once number and record every execution") {
  constexpr int kThreads = 4, kRuns = 25;
  const TempFolder folder;
  Initialised runtime(folder.write("acl.json", acl_json(folder.path())));
  Runner a(tiny_model("a")), b(tiny_model("b"));
  const std::vector<float> wanted = a.run(kOneImage);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRuns; ++i) {
        if (a.run(kOneImage) != wanted || b.run(kOneImage) != wanted) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  const std::string ids[] = {"a." + std::to_string(a.id()), "b." + std::to_string(b.id())};
  a.unload();
  b.unload();
  runtime.finalize();

  const std::string data = data_of_only_job(folder);
  for (const std::string& id : ids) {
    const std::size_t executions = kThreads * kRuns + (id[0] == 'a' ? 1 : 0);
    std::map<uint64_t, std::vector<uint32_t>> layers;
    for (const auto& r :
         read_records<SvpAicoreRecord>(data + "aicore.0." + id + ".0.1.1.0", RecordKind::kAicore)) {
      layers[r.execution].push_back(r.layer_id);
    }
    REQUIRE(layers.size() == executions);
    CHECK(layers.rbegin()->first == executions - 1);
    for (const auto& [execution, seen] : layers) CHECK(seen == std::vector<uint32_t>{0, 1, 2});
    std::set<uint32_t> thread_ids;
    for (const auto& r :
         read_records<AicpuRecord>(data + "aicpu.0." + id + ".0.1.1.0", RecordKind::kAicpu)) {
      thread_ids.insert(r.thread_id);
    }
    CHECK(thread_ids.size() >= kThreads);
    for (const char* type : {"aicore.0.", "aicpu.0."})
      CHECK(exists(data + type + id + ".0.1.1.0.done"));
  }
}

TEST_CASE("unload waits for running executions") {
  const TempFolder folder;
  for (int round = 0; round < 20; ++round) {
    Initialised runtime(folder.write("acl.json", acl_json(folder.path())));
    Runner runner(tiny_model());
    std::thread other([&] {
      try {
        for (;;) runner.run(kOneImage);
      } catch (const std::runtime_error&) {
        // The model was unloaded: every execution before that was complete.
      }
    });
    runner.run(kOneImage);
    svp_acl_mdl_unload(runner.id());
    other.join();
  }
  for (const std::string& job : jobs_in(folder.path())) {
    for (const std::string& name : names_in(job + "/data")) {
      if (!name.starts_with("aicore") || name.ends_with(".done")) continue;
      const std::string path = job + "/data/" + name;
      CHECK(read_records<SvpAicoreRecord>(path, RecordKind::kAicore).size() % 3 == 0);
      CHECK(read_done(path).at("file_len") == std::to_string(read_file(path).size()));
    }
  }
}
