// The tuning story of the face-mask recognizer from a user's view, with the real application on the
// host runtime: the sleep, the calls, the operators, the advice and the fused model.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "cli/cli_fixture.hpp"
#include "golden/csv_table.hpp"

using namespace msprof::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr double kSleepS = 3;

// Records the demo application in its own folder; returns its PROF_ folder.
fs::path profile(const fs::path& out, const Words& arguments) {
  fs::create_directories(out);
  std::string application = std::string(DEMO_ACL_FOLDER) + "/main --images 12";
  for (const std::string& word : arguments) application += " " + word;
  const RunResult run = run_msprof({"--application=" + application, "--msproftx=on",
                                    "--runtime-api=on", "--output=" + out.string()});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  for (const std::string& name : names_in(out)) {
    if (name.starts_with("PROF_")) return out / name;
  }
  FAIL("no PROF_ folder in " << out);
  return {};
}

RunResult done(const Words& words) {
  RunResult result = run_msprof(words);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return result;
}

json compared(const fs::path& base, const fs::path& now) {
  return json::parse(done({"compare", "-q", "--json", base.string(), now.string()}).out);
}

json row_named(const json& rows, const std::string& name) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const json& row) { return row["name"] == name; });
  REQUIRE(found != rows.end());
  return *found;
}

CsvTable export_acl_calls(const fs::path& capture) {
  done({"export", "summary", "acl_statistic", "--style", "cann5", "-q", "-dir", capture.string()});
  return parse_csv(read_file(capture / "device_0" / "summary" / "acl_statistic_0.csv"));
}

std::set<std::string> types_in(const fs::path& capture) {
  done({"export", "summary", "op_statistic", "-q", "-dir", capture.string()});
  const auto types =
      read_product(capture / "mindstudio_profiler_output", "op_statistic").column_cells("OP Type");
  return {types.begin(), types.end()};
}

}  // namespace

TEST_CASE(
    "the case study: a slow start, the call behind it, its operators, and what fusing saves") {
  const TempFolder folder;
  const fs::path slow = profile(folder / "slow", {"--slow-start", std::to_string(kSleepS)});

  // The timeline of the first iteration, with all host activity.
  done({"export", "timeline", "--style", "cann5", "--model-id", "1", "--iteration-id", "1", "-q",
        "-dir", slow.string()});
  const json timeline = json::parse(read_file(slow / "timeline" / "msprof_0_1_1.json"));
  std::map<std::int64_t, std::string> rows;
  for (const json& event : timeline) {
    if (event["name"] == "process_name") rows[event["pid"]] = event["args"]["name"];
  }
  // Name and duration (ms) of the longest slice of a row.
  const auto longest = [&](const std::string& row) {
    std::pair<std::string, double> most;
    for (const json& event : timeline) {
      if (event["ph"] != "X" || rows.at(event["pid"]) != row) continue;
      if (event["dur"].get<double>() > most.second)
        most = {event["name"], event["dur"].get<double>()};
    }
    return std::pair(most.first, most.second / 1000);
  };
  CHECK(longest("MsprofTx").first == "CreateMultipleStreamsFromFile");
  CHECK(longest("MsprofTx").second > 1000 * kSleepS);
  CHECK_FALSE(longest("AscendCL").first.empty());
  CHECK_FALSE(longest("Task Scheduler").first.empty());
  CHECK(fs::exists(slow / "host" / "timeline" / "msprof_tx_64_1.json"));

  // The advice is printed on stderr; stdout is reserved for data.
  const RunResult summary = done({"export", "summary", "--format", "csv", "-dir", slow.string()});
  CHECK(summary.out.empty());
  CHECK(contains(summary.err, "Check and reduce the transData: add3_trans_a"));
  CHECK(contains(summary.err, "Fuse convolution, BN and Relu"));
  CHECK(contains(summary.err, "conv1 + conv1_bn + conv1_relu"));

  // Without the sleep, the largest change is within the range.
  const fs::path quick = profile(folder / "quick", {});
  const json start = compared(slow, quick);
  CHECK(start["ranges"][0]["name"] == "CreateMultipleStreamsFromFile");
  CHECK(start["ranges"][0]["delta_us"].get<double>() < 0);
  CHECK(start["ranges"][0]["base_count"] == 1);
  CHECK(row_named(start["ranges"], "infer")["new_count"] == 12);

  // The next largest cost is the execution of the model, with these operators.
  const CsvTable calls = export_acl_calls(quick);
  const auto executions = calls.cells({"Name", "Count"});
  CHECK(std::count(executions.begin(), executions.end(), "aclmdlExecute|12") == 1);
  for (const char* type : {"Conv2D", "BNInferenceD", "Relu", "TransData"}) {
    INFO(type);
    CHECK(types_in(quick).contains(type));
  }

  // In the fused model, operators list the operators they replace.
  const fs::path fused = profile(folder / "fused", {"--model", "face_mask_fused"});
  CHECK(types_in(fused).contains("ConvBNRelu"));
  CHECK_FALSE(types_in(fused).contains("BNInferenceD"));
  CHECK_FALSE(types_in(fused).contains("TransData"));
  done({"export", "summary", "fusion_op", "-q", "-dir", fused.string()});
  const auto fusions = read_product(fused / "mindstudio_profiler_output", "fusion_op")
                           .cells({"Model Name", "Fusion Op", "Original Ops"});
  CHECK(fusions.size() == 11);
  CHECK(fusions.front() == "face_mask_fused|conv1_fused|conv1;conv1_bn;conv1_relu");

  const json saved = compared(quick, fused);
  CHECK(saved["matches"]["by_fusion"] == 11);
  std::set<std::string> joined;
  for (const json& op : saved["ops"]) {
    if (op["matched_by"] != "fusion") continue;
    joined.insert(op["new_names"][0].get<std::string>());
    CHECK(op["base_names"].size() == 3);
    CHECK(op["new_type"] == "ConvBNRelu");
  }
  CHECK(joined.contains("conv1_fused"));
  // scripts/case-study measures the speed-up; on a busy machine a test cannot.
  CHECK(row_named(saved["calls"], "aclmdlExecute")["new_count"] == 12);

  const RunResult text = done({"compare", "-q", quick.string(), fused.string(), "--top", "40"});
  CHECK(contains(text.out, "conv1+conv1_bn+conv1_relu"));
  CHECK(contains(text.out, "Application ranges, per range"));
}

TEST_CASE("scripts/case-study walks the story and names every finding") {
  const TempFolder folder;
  const RunResult walk =
      run_program(std::string(MSPROF_PAGES) + "/scripts/case-study",
                  {"--build", BUILD_FOLDER, "--output", (folder / "walk").string(), "--slow-start",
                   std::to_string(kSleepS), "--images", "12", "--c", "--busy"});
  INFO(walk.out);
  INFO(walk.err);
  REQUIRE(walk.exit_code == 0);
  for (const std::string finding :
       {"the rows MsprofTx, AscendCL and Task Scheduler",
        "CreateMultipleStreamsFromFile is the longest range", "check and reduce the transData",
        "fuse convolution, BN and Relu", "aclmdlExecute is the most expensive call",
        "Conv2D, BNInferenceD and Relu", "ConvBNRelu replaces", "11 operators replace three each",
        "ms, ratio "}) {
    INFO(finding);
    CHECK(contains(walk.out, finding));
  }
  CHECK(contains(walk.out, "5645.052"));

  const RunResult wrong =
      run_program(std::string(MSPROF_PAGES) + "/scripts/case-study", {"--what"});
  CHECK(wrong.exit_code == 2);
  CHECK(contains(wrong.err, "usage: scripts/case-study"));
}
