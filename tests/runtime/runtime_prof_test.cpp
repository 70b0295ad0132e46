// Profiling through calls, by an application linked with the shared library.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "runtime/runtime_fixture.hpp"
#include "runtime/svp/include/svp_acl_prof.h"
#include "runtime/svp/profile/model_profile.hpp"
#include "support/run_program.hpp"

using namespace msprof::runtime;
using namespace msprof::runtime::test;

namespace {

// Runs the application in a folder that also receives the profile, and keeps its output.
struct ProfRun {
  TempFolder folder;
  ProcessResult result;

  explicit ProfRun(const std::string& mode, const std::map<std::string, std::string>& more = {}) {
    const std::string model = folder.write("model.json", tiny_model());
    result = run_process({MSPROF_PROF_APPLICATION, mode, model, folder.path()}, more);
    INFO(result.out << result.err);
    REQUIRE(result.exit_code == 0);
  }
  std::vector<std::string> jobs() const { return jobs_in(folder.path()); }
  std::string only_data() const {
    REQUIRE(jobs().size() == 1);
    return jobs()[0] + "/data/";
  }
  // Return codes of the application's calls, from its lines "name(…) code".
  std::vector<std::string> codes() const {
    std::vector<std::string> codes;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("svp_acl_")) codes.push_back(line.substr(line.rfind(' ') + 1));
    return codes;
  }
};

struct PipeRecord {
  std::string name, type;
  std::uint64_t start = 0, end = 0, duration = 0;
  std::uint32_t model = 0;
};

std::vector<PipeRecord> pipe_records(const std::string& out) {
  std::vector<PipeRecord> records;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    PipeRecord record;
    words >> first;
    if (first == "record" && words >> record.name >> record.type >> record.start >> record.end >>
                                 record.duration >> record.model)
      records.push_back(record);
  }
  return records;
}

// Returns the word after `key` at the start of a line.
std::uint64_t find_value(const std::string& out, const std::string& key) {
  const std::size_t place = out.find("\n" + key + " ");
  REQUIRE(place != std::string::npos);
  return std::stoull(out.substr(place + key.size() + 2));
}

const std::vector<std::string> kNoError(6, "0");

}  // namespace

TEST_CASE("profiling by calls gives a complete JOB that msprof imports") {
  const ProfRun run("files");
  CHECK(run.codes() == kNoError);
  CHECK(run.result.err.empty());
  const std::string data = run.only_data();
  CHECK(names_in(data) ==
        std::vector<std::string>{"acl_api.0.tiny.1", "acl_api.0.tiny.1.done",
                                 "aicore.0.tiny.1.0.1.1.0", "aicore.0.tiny.1.0.1.1.0.done",
                                 "aicpu.0.tiny.1.0.1.1.0", "aicpu.0.tiny.1.0.1.1.0.done",
                                 "tiny.1.layer.info", "tiny.1.net.info"});
  const auto core =
      read_records<SvpAicoreRecord>(data + "aicore.0.tiny.1.0.1.1.0", RecordKind::kAicore);
  REQUIRE(core.size() == 9);
  CHECK(core[8].execution == 2);
  std::vector<std::uint32_t> calls;
  for (const auto& call :
       read_records<AclApiRecord>(data + "acl_api.0.tiny.1", RecordKind::kAclApi))
    if (call.api_id < 6) calls.push_back(call.api_id);
  CHECK(calls == std::vector<std::uint32_t>{1, 3, 3, 3, 5});

  const std::string job = run.jobs()[0];
  const auto imported = msprof::test::run_program(MSPROF_PROGRAM, {"import", "-dir", job});
  INFO(imported.out << imported.err);
  CHECK(imported.exit_code == 0);
  CHECK((imported.out + imported.err).find("verdict: complete") != std::string::npos);
  const auto asked = msprof::test::run_program(
      MSPROF_PROGRAM, {"query", "-dir", job, "--format", "csv",
                       "SELECT count(*), count(DISTINCT op_name) FROM v_tasks"});
  INFO(asked.out << asked.err);
  CHECK(asked.exit_code == 0);
  CHECK(asked.out.find("12,4") != std::string::npos);
}

TEST_CASE("only data selected by the bits is recorded") {
  const ProfRun run("calls");
  CHECK(run.codes() == kNoError);
  CHECK(names_in(run.only_data()) ==
        std::vector<std::string>{"acl_api.0.tiny.1", "acl_api.0.tiny.1.done", "tiny.1.layer.info",
                                 "tiny.1.net.info"});
}

TEST_CASE("each start creates a JOB, also for a loaded model") {
  const ProfRun run("twice");
  CHECK(run.codes() == kNoError);
  std::vector<std::size_t> executions;
  for (const std::string& job : run.jobs()) {
    const std::string core = job + "/data/aicore.0.tiny.1.0.1.1.0";
    CHECK(exists(core + ".done"));
    const auto records = read_records<SvpAicoreRecord>(core, RecordKind::kAicore);
    REQUIRE_FALSE(records.empty());
    CHECK(records.front().execution == 0);
    executions.push_back(records.size() / 3);
  }
  std::sort(executions.begin(), executions.end());
  CHECK(executions == std::vector<std::size_t>{1, 2});
  CHECK(run.result.err.empty());
}

TEST_CASE("a subscribed model sends each layer through the pipe, as files have it") {
  const ProfRun run("both");
  CHECK(run.result.err.empty());
  CHECK(run.codes() == std::vector<std::string>(10, "0"));
  const auto records = pipe_records(run.result.out);
  REQUIRE(records.size() == 12);
  // From the layers of the JOB: "0\t0\tConv2D\tAA_CORE\tconv1\tconv1".
  std::vector<std::pair<std::string, std::string>> layers;
  std::istringstream lines(read_file(run.only_data() + "tiny.1.layer.info"));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string id, net, type, unit, name;
    words >> id >> net >> type >> unit >> name;
    layers.emplace_back(name, type);
  }
  REQUIRE(layers.size() == 4);
  std::uint64_t before = find_value(run.result.out, "begin");
  for (std::size_t i = 0; i < records.size(); ++i) {
    INFO(i);
    const PipeRecord& record = records[i];
    CHECK(std::pair(record.name, record.type) == layers[i % 4]);
    CHECK(record.model == 2);
    CHECK(record.start >= before);
    CHECK(record.end >= record.start);
    CHECK(record.duration == record.end - record.start);
    before = record.end;
  }
  CHECK(before <= find_value(run.result.out, "end"));
}

TEST_CASE("a call at the wrong time or with invalid arguments returns its code") {
  const ProfRun run("rules");
  const std::vector<std::string> expected = {
      // before svp_acl_init; without init
      "100001", "100043", "100043", "100043",
      // init: NULL, no length, wrong length, relative, a forbidden character; valid; again
      "100000", "100000", "100000", "100000", "100000", "0", "100002",
      // start: NULL, no bits, unknown bits, nothing to collect; stop without start
      "100000", "100000", "200007", "100010", "100043",
      // start; again; with another configuration of the device; stop: NULL, another configuration
      "0", "100042", "100042", "100000", "100010",
      // subscriptions in file mode; stop, finalize and start, once and again
      "148047", "148047", "0", "100043", "0", "100043", "100043",
      // subscribe: NULL, no such model, nothing to report; unsubscribe without subscription; valid;
      // again
      "100000", "100011", "100000", "100011", "0", "148046",
      // files while subscribed; unsubscribe, again
      "148047", "148047", "148047", "0", "100011",
      // handles that are destroyed or NULL
      "0", "100000", "100000", "100000", "0", "100000", "100000",
      // reading records
      "100000", "100000", "100000", "100000", "100000", "100000", "100000", "100000",
      // a missing folder; state cleared by svp_acl_finalize
      "0", "500005", "0", "100043"};
  INFO(run.result.out);
  CHECK(run.codes() == expected);
  CHECK(run.result.out.find("configs 1\n") != std::string::npos);
  CHECK(run.result.out.find("zeros 1\n") != std::string::npos);
  CHECK(run.result.err.find("/nowhere/at/all/JOB") != std::string::npos);
}

TEST_CASE("executions of threads during start and stop are complete in each JOB") {
  constexpr int kRounds = 10;
  const TempFolder folder;
  const CapturedStderr captured;
  {
    const Initialised runtime;
    Runner one(tiny_model("one")), two(tiny_model("two"));
    std::atomic<bool> over{false};
    std::atomic<std::uint64_t> executions{0};
    std::vector<std::thread> threads;
    for (Runner* const runner : {&one, &one, &two}) {
      threads.emplace_back([&, runner] {
        while (!over.load()) {
          runner->run({std::vector<float>(32, 0.5F)});
          ++executions;
        }
      });
    }
    const std::uint32_t device = 0;
    svp_acl_prof_config* const config = svp_acl_prof_create_config(
        &device, 1, SVP_ACL_AICORE_NONE, nullptr, SVP_ACL_PROF_ACL_API | SVP_ACL_PROF_TASK_TIME);
    CHECK(svp_acl_prof_init(folder.path().c_str(), folder.path().size()) == SVP_ACL_SUCCESS);
    for (int round = 0; round < kRounds; ++round) {
      CHECK(svp_acl_prof_start(config) == SVP_ACL_SUCCESS);
      for (const std::uint64_t before = executions; executions < before + 6;)
        std::this_thread::yield();
      CHECK(svp_acl_prof_stop(config) == SVP_ACL_SUCCESS);
    }
    over.store(true);
    for (std::thread& thread : threads) thread.join();
    CHECK(svp_acl_prof_finalize() == SVP_ACL_SUCCESS);
    CHECK(svp_acl_prof_destroy_config(config) == SVP_ACL_SUCCESS);
  }
  CHECK(captured.text().empty());
  const std::vector<std::string> jobs = jobs_in(folder.path());
  REQUIRE(jobs.size() == kRounds);
  for (const std::string& job : jobs) {
    std::size_t records = 0, executed = 0;
    for (const std::string& name : names_in(job + "/data")) {
      const std::string path = job + "/data/" + name;
      if (name.ends_with(".done") || name.ends_with(".info")) continue;
      INFO(path);
      CHECK(exists(path + ".done"));
      if (name.starts_with("aicore"))
        records += read_records<SvpAicoreRecord>(path, RecordKind::kAicore).size();
      if (!name.starts_with("acl_api")) continue;
      for (const auto& call : read_records<AclApiRecord>(path, RecordKind::kAclApi))
        executed += call.api_id == static_cast<std::uint32_t>(ApiId::kExecute) ? 1 : 0;
    }
    // Each execution has three layers on the core.
    CHECK(executed > 0);
    CHECK(records == 3 * executed);
  }
}

TEST_CASE("acl.json's profiler continues if an application tries to profile itself") {
  const TempFolder other;
  const ProfRun run("acl_json",
                    {{"MSPROF_ACL_JSON", other.write("acl.json", acl_json(other.path()))}});
  CHECK(run.codes() == std::vector<std::string>(8, "100042"));
  CHECK(run.jobs().empty());
  const std::vector<std::string> jobs = jobs_in(other.path());
  REQUIRE(jobs.size() == 1);
  const std::string core = jobs[0] + "/data/aicore.0.tiny.1.0.1.1.0";
  CHECK(exists(core + ".done"));
  CHECK(read_records<SvpAicoreRecord>(core, RecordKind::kAicore).size() == 9);
  CHECK(run.result.err.empty());
}

TEST_CASE("a forked child starts its own JOB, and svp_acl_finalize completes its parent's") {
  const ProfRun run("fork");
  // Calls of the parent, the child, the parent.
  CHECK(run.codes() == std::vector<std::string>{"0", "0", "100043", "0", "0", "0", "0"});
  std::vector<std::size_t> executions;
  for (const std::string& job : run.jobs()) {
    const std::string core = job + "/data/aicore.0.tiny.1.0.1.1.0";
    CHECK(exists(core + ".done"));
    executions.push_back(read_records<SvpAicoreRecord>(core, RecordKind::kAicore).size() / 3);
  }
  std::sort(executions.begin(), executions.end());
  CHECK(executions == std::vector<std::size_t>{2, 4});
}

TEST_CASE("every call fits on the smallest possible thread stack") {
  const TempFolder folder;
  std::vector<std::string> command = {MSPROF_SMALL_STACK, folder.write("model.json", tiny_model()),
                                      folder.path()};
  if (GENERATE(true, false))
    command.push_back(folder.write(
        "acl.json", R"({"profiler": {"switch": "on", "output": ")" + folder.path() + R"("}})"));
  const ProcessResult result = run_process(command);
  INFO(result.out << result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.out.empty());
  CHECK(jobs_in(folder.path()).size() == 1);
}
