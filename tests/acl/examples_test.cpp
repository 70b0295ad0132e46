// Runs the vendor's four profiling examples on this host, and checks the imported data.
#include <catch2/catch.hpp>
#include <map>
#include <sstream>
#include <string>

#include "acl/capture.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

// Runs acl_program_example_<name>, which must print exactly `said` on stderr; returns its output
// lines `name value`.
std::map<std::string, long> run_example(const std::string& name, const std::string& argument,
                                        const std::string& said = "") {
  const RunResult result = run_program(acl_program("example_" + name), {argument});
  INFO(result.out << result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err == said);
  std::map<std::string, long> counts;
  std::istringstream lines(result.out);
  std::string word;
  for (long value = 0; lines >> word >> value;) counts[word] = value;
  return counts;
}

// Returns the only folder of an example; import must report it as complete.
ImportedCapture only_capture(const fs::path& output) {
  const std::vector<fs::path> folders = prof_folders(output);
  REQUIRE(folders.size() == 1);
  ImportedCapture capture(folders.front());
  INFO(capture.import().err);
  CHECK(capture.import().exit_code == 0);
  CHECK(capture.import().err.find("verdict: complete (") != std::string::npos);
  return capture;
}

long count_ranges(const ImportedCapture& capture, const std::string& message, int event) {
  return capture.number(
      "SELECT count(*) FROM user_range JOIN name ON name.id = message_name_id WHERE text = '" +
      message + "' AND event_type = " + std::to_string(event));
}

}  // namespace

TEST_CASE("the example create_config records its one operator with its calls") {
  const TempFolder folder;
  const auto counts =
      run_example("create_config", (folder / "out").string(),
                  "msprof runtime: aclprofSetConfig: ACL_PROF_SYS_HARDWARE_MEM_FREQ requires "
                  "counters of a card, which a host does not have: remove it\n");
  REQUIRE(counts.at("adds") == 1);
  const ImportedCapture capture = only_capture(folder / "out");
  CHECK(operator_tasks(capture) == 1);
  CHECK(count_calls(capture, "aclnnAddGetWorkspaceSize") == 1);
  CHECK(count_calls(capture, "aclnnAdd") == 1);
  CHECK(count_calls(capture, "aclrtSynchronizeStream") == 1);
}

TEST_CASE("the example msproftx records every stamp and step") {
  const TempFolder folder;
  const auto counts = run_example("msproftx", (folder / "out").string());
  const long steps = counts.at("steps");
  REQUIRE(steps == 3);
  const ImportedCapture capture = only_capture(folder / "out");
  CHECK(operator_tasks(capture) == counts.at("adds"));
  CHECK(capture.number("SELECT count(*) FROM iteration") == steps);
  CHECK(capture.number("SELECT count(*) FROM user_range") == 4 * steps);
  CHECK(count_ranges(capture, "step begins", 0) == steps);
  CHECK(count_ranges(capture, "add", 1) == steps);
  CHECK(count_ranges(capture, "add again", 2) == steps);
  CHECK(count_ranges(capture, "on the stream", 3) == steps);
  // Each step contains its two additions on the device.
  CHECK(capture.number("SELECT count(*) FROM task JOIN iteration ON task.start_ns >= "
                       "iteration.start_ns AND task.start_ns <= iteration.end_ns WHERE "
                       "op_id IS NOT NULL") == counts.at("adds"));
}

TEST_CASE("the example subscribe_model reads every operator of its model out of the pipe") {
  const TempFolder folder;
  const auto counts = run_example("subscribe_model", small_model(folder.path()));
  REQUIRE(counts.at("executions") == 5);
  // The count includes the key points of each execution.
  CHECK(counts.at("records") == 5 * (kSmallModelLayers + 1));
  CHECK(counts.at("named") == 5 * (kSmallModelLayers + 1));
}

TEST_CASE("the example mstx_with_domain records marks and ranges, with the domain's name") {
  const TempFolder folder;
  const auto counts = run_example("mstx_with_domain", (folder / "out").string());
  const long rounds = counts.at("rounds");
  REQUIRE(rounds == 4);
  const ImportedCapture capture = only_capture(folder / "out");
  CHECK(operator_tasks(capture) == counts.at("adds"));
  CHECK(count_ranges(capture, "round", 2) == rounds);
  CHECK(count_ranges(capture, "next", 0) == rounds);
  CHECK(count_ranges(capture, "add", 2) == rounds);
  CHECK(count_ranges(capture, "added", 0) == rounds);
  CHECK(capture.number("SELECT count(*) FROM user_range") == 4 * rounds);
  CHECK(
      capture.number("SELECT count(*) FROM user_range JOIN name ON name.id = domain_name_id WHERE "
                     "text = 'operators'") == 2 * rounds);
}
