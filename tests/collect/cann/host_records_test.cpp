// What the host runtime puts into the folder of a process beside its tasks. By the real command.
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

// Where applications are recorded into.
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
  // The recording begins with the first of them, and ends with aclFinalize.
  CHECK(capture.text("SELECT group_concat(text) FROM (SELECT text FROM user_range JOIN name ON "
                     "name.id = message_name_id ORDER BY start_ns)") == "before,add,between");
}

TEST_CASE("without --msproftx ranges bring no folder, and are in none") {
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
TEST_CASE("a program that only marks ranges leaves one folder, too") {
  const Collection scene;
  const RunResult run = scene.collect({"-m", MSTX_CALLS, "--cann", "--msproftx", "on"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  REQUIRE(scene.captures().size() == 1);
  const ImportedCapture capture(scene.out() / scene.captures().front());
  CHECK_THAT(capture.import().err, Contains("verdict: complete"));
  CHECK(capture.number("SELECT count(*) FROM user_range JOIN name ON name.id = message_name_id "
                       "WHERE text = 'range in net'") == 1);
  // Domains are chosen as before.
  const Collection chosen;
  const RunResult less = chosen.collect(
      {"-m", MSTX_CALLS, "--cann", "--msproftx", "on", "--mstx-domain-include", "net"});
  INFO(less.err);
  REQUIRE(chosen.captures().size() == 1);
  CHECK(ImportedCapture(chosen.out() / chosen.captures().front())
            .number("SELECT count(DISTINCT domain_name_id) FROM user_range") == 1);
}
#endif
