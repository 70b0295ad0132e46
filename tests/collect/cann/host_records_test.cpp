// Host data that the runtime writes next to the tasks: ranges and host load. Uses the real command.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "acl/capture.hpp"
#include "support/files.hpp"

using namespace msprof::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

// An output folder and the runs recorded in it.
class Collection {
 public:
  RunResult collect(const Words& words) const {
    Words all = {"collect", "--output", out().string()};
    all.insert(all.end(), words.begin(), words.end());
    RunOptions options;
    options.folder = folder_.path();
    return run_msprof(all, options);
  }
  fs::path out() const { return folder_ / "out"; }
  Words captures() const {
    Words names;
    for (const fs::path& path : prof_folders(out())) names.push_back(path.filename().string());
    return names;
  }

 private:
  TempFolder folder_;
};

}  // namespace

TEST_CASE("tasks and ranges of one process are in one folder") {
  const Collection scene;
  const RunResult run = scene.collect({"-m", acl_program("ranges"), "--msproftx", "on"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  REQUIRE(scene.captures().size() == 1);
  const ImportedCapture capture(scene.out() / scene.captures().front());
  CHECK_THAT(capture.import().err, Contains("verdict: complete"));
  CHECK(operator_tasks(capture) == 1);
  // The recording starts with the first range and ends with aclFinalize.
  CHECK(capture.text("SELECT group_concat(text) FROM (SELECT text FROM user_range JOIN name ON "
                     "name.id = message_name_id ORDER BY start_ns)") == "before,add,between");
}

TEST_CASE("without --msproftx ranges are not recorded and create no folder") {
  const Collection scene;
  const RunResult run = scene.collect({"-m", acl_program("ranges")});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  REQUIRE(scene.captures().size() == 1);
  const ImportedCapture capture(scene.out() / scene.captures().front());
  CHECK(operator_tasks(capture) == 1);
  CHECK(capture.number("SELECT count(*) FROM user_range") == 0);
}

#ifdef MSTX_CALLS
TEST_CASE("a program that only marks ranges also creates one folder") {
  const Collection scene;
  const RunResult run = scene.collect({"-m", MSTX_CALLS, "--cann", "--msproftx", "on"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  REQUIRE(scene.captures().size() == 1);
  const ImportedCapture capture(scene.out() / scene.captures().front());
  CHECK_THAT(capture.import().err, Contains("verdict: complete"));
  CHECK(capture.number("SELECT count(*) FROM user_range JOIN name ON name.id = message_name_id "
                       "WHERE text = 'range in net'") == 1);
  // Domains can still be selected.
  const Collection chosen;
  const RunResult less = chosen.collect(
      {"-m", MSTX_CALLS, "--cann", "--msproftx", "on", "--mstx-domain-include", "net"});
  INFO(less.err);
  REQUIRE(chosen.captures().size() == 1);
  CHECK(ImportedCapture(chosen.out() / chosen.captures().front())
            .number("SELECT count(DISTINCT domain_name_id) FROM user_range") == 1);
}
#endif

TEST_CASE("the load of the host is recorded with the application") {
  const Collection scene;
  const RunResult run =
      scene.collect({"-m", DEMO_ACL, "--host-sys", "cpu,mem", "--host-sys-usage", "cpu,mem",
                     "--host-sys-usage-freq", "50", "--all", "--", "--images", "4"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(run.err, Contains("verdict: complete"));
  REQUIRE(scene.captures().size() == 1);
  const fs::path capture = scene.out() / scene.captures().front();
  const Words products = names_in(capture / "mindstudio_profiler_output");
  for (const std::string table : {"host_cpu_usage", "host_mem_usage", "cpu_usage", "sys_mem",
                                  "process_cpu_usage", "process_mem"}) {
    INFO(table);
    CHECK(std::any_of(products.begin(), products.end(), [&](const std::string& name) {
      return name.starts_with(table + "_2") && name.ends_with(".csv");
    }));
  }
  // Samples another process than the application: this test.
  const Collection other;
  const std::string self = std::to_string(getpid());
  REQUIRE(other
              .collect({"-m", DEMO_ACL, "--host-sys-usage", "mem", "--host-sys-pid", self, "--",
                        "--images", "1"})
              .exit_code == 0);
  CHECK(fs::exists(other.out() / other.captures().front() / "host" / "data" /
                   (self + "-Memory.data.slice_0")));
  const RunResult refused = scene.collect({"-m", DEMO_ACL, "--host-sys", "cpu,disk,osrt"});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("remove disk,osrt"));
}

TEST_CASE("metrics that the recorded chip does not have are refused before the start") {
  const Collection scene;
  const RunResult refused =
      scene.collect({"-m", DEMO_ACL, "--aic-metrics", "PipelineExecuteUtilization"});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("MSPROF_HOST_CHIP=4"));
  CHECK(scene.captures().empty());
}
