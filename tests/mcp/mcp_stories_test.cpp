// An agent finds the causes of the examples of the manual with msprof mcp, in at most eight calls
// each: README's demo, and docs/case_study.md.
#include <algorithm>
#include <catch2/catch.hpp>

#include "cli/cli_fixture.hpp"
#include "mcp/mcp_client.hpp"

using namespace msprof::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

void collect_demo(const fs::path& out, const std::string& model) {
  const RunResult run = run_msprof({"collect", "-m", "main", "--project", DEMO_FOLDER, "--output",
                                    out.string(), "-q", "--", "--model", model, "--images", "3"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
}

// Records the sample application for CANN.
void collect_acl(const fs::path& out, const std::string& arguments) {
  fs::create_directories(out);
  const RunResult run = run_msprof(
      {"--application=" + std::string(DEMO_ACL_FOLDER) + "/main --images 12 " + arguments,
       "--msproftx=on", "--runtime-api=on", "--output=" + out.string()});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
}

// The finding of a rule; null if the rule found nothing.
json finding_of(const json& advice, const std::string& rule) {
  for (const json& finding : advice["captures"][0].value("findings", json::array()))
    if (finding["rule"] == rule) return finding;
  return nullptr;
}

// The cells of a column of the first row whose cell in another column is `name`.
json cell_of(const json& table, const std::string& name, const std::string& column) {
  const json& columns = table["columns"];
  const auto at = std::find(columns.begin(), columns.end(), column) - columns.begin();
  for (const json& row : table["rows"])
    if (std::find(row.begin(), row.end(), name) != row.end())
      return row[static_cast<std::size_t>(at)];
  return nullptr;
}

}  // namespace

TEST_CASE("an agent finds the split activation and the unfused layers of README's demo") {
  const TempFolder folder;
  collect_demo(folder / "base", "face_mask");
  collect_demo(folder / "fused", "face_mask_fused");
  collect_demo(folder / "mish", "mish");
  McpClient client({folder.path()});
  CHECK(client.ask("list", {{"max_bytes", 30'000}})["captures"].size() == 3);
  const json summary = client.ask("summary", {{"path", "base"}, {"top", 3}});
  CHECK_FALSE(summary["captures"][0]["tables"][0]["rows"].empty());
  const json unfused = client.ask("advise", {{"path", "base"}});
  const json& first = unfused["captures"][0]["findings"][0];
  CAPTURE(first.dump());
  CHECK(first["rule"] == "unfused_conv_bn_relu");
  CHECK(first["advice"].is_string());
  CHECK(first["evidence"].size() > 0);
  const json decomposed = client.ask("advise", {{"path", "mish"}});
  CHECK(contains(finding_of(decomposed, "decomposed_activation")["title"], "Mish"));
  const json change =
      client.ask("compare", {{"base", {"base"}}, {"new", {"fused"}}, {"max_bytes", 60'000}});
  CHECK(change["matches"]["by_fusion"].get<int>() > 0);
  CHECK(client.calls() <= 8);
}

TEST_CASE("an agent walks the case study: the sleep, the call, the operators, what fusing saves") {
  const TempFolder folder;
  collect_acl(folder / "slow", "--slow-start 1");
  collect_acl(folder / "quick", "");
  collect_acl(folder / "fused", "--model face_mask_fused");
  McpClient client({folder.path()});
  // Which range takes longest?
  const json ranges = client.ask("timeline", {{"path", "slow"}, {"min_us", 900'000}});
  CHECK(contains(ranges.dump(), "CreateMultipleStreamsFromFile"));
  const json advice = client.ask("advise", {{"path", "slow"}, {"max_bytes", 30'000}});
  CHECK(contains(advice.dump(), "conv1"));
  // The sleep is gone.
  const json start = client.ask(
      "compare", {{"base", {"slow"}}, {"new", {"quick"}}, {"top", 3}, {"max_bytes", 30'000}});
  CHECK(start["ranges"][0]["name"] == "CreateMultipleStreamsFromFile");
  CHECK(start["ranges"][0]["delta_us"].get<double>() < -800'000);
  // The next cost: which call, which operators?
  const json calls = client.ask(
      "query", {{"path", "quick"},
                {"sql",
                 "SELECT name, count(*) AS calls, total(duration_us) AS us FROM v_api_calls WHERE "
                 "name LIKE 'aclmdl%' GROUP BY name ORDER BY us DESC"}});
  CHECK(contains(calls["captures"][0].dump(), "aclmdlExecute"));
  const json types = client.ask("table", {{"path", "quick"}, {"name", "op_statistic"}});
  const json& table = types["captures"][0]["tables"][0];
  for (const char* type : {"Conv2D", "BNInferenceD", "Relu"})
    CHECK_FALSE(cell_of(table, type, "Total Time(us)").is_null());
  const json saved = client.ask(
      "compare", {{"base", {"quick"}}, {"new", {"fused"}}, {"top", 12}, {"max_bytes", 60'000}});
  CHECK(saved["matches"]["by_fusion"] == 11);
  CHECK(client.calls() <= 8);
}
