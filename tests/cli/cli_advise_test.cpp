// msprof advise, and the suggestions printed after `export summary`, as a user sees them.
#include <catch2/catch.hpp>

#include "cli/cli_fixture.hpp"
#include "support/lines.hpp"
#include "support/prof/prof_run.hpp"

using namespace msprof::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// Runs a model of the demo and returns the output of advise for it.
json advice_on(const fs::path& out, const std::string& model) {
  const auto run =
      run_msprof({"collect", "-m", "main", "--project", DEMO_FOLDER, "--output",
                  (out / model).string(), "-q", "--", "--model", model, "--images", "3"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  const auto advised = run_msprof({"advise", "-dir", (out / model).string(), "--json", "-q"});
  INFO(advised.err);
  REQUIRE(advised.exit_code == 0);
  const json document = json::parse(advised.out);
  CHECK(document["schema"] == "msprof.advise/2");
  CHECK(document["exit_code"] == 0);
  REQUIRE(document["captures"].size() == 1);
  return document["captures"][0];
}

std::size_t count_problems(const json& capture) {
  std::size_t problems = 0;
  for (const json& finding : capture["findings"]) problems += finding["severity"] == "problem";
  return problems;
}

}  // namespace

TEST_CASE("advise reports the findings of the case studies, and none for the fixed models") {
  const TempFolder folder;
  const json mish = advice_on(folder.path(), "mish");
  REQUIRE_FALSE(mish["findings"].empty());
  const json& decomposed = mish["findings"][0];
  CHECK(decomposed["rule"] == "decomposed_activation");
  CHECK(contains(decomposed["title"], "Mish"));
  CHECK(contains(decomposed["evidence"][0]["name"], "softplus + "));
  CHECK(contains(decomposed["evidence"][0]["name"], "_tanh + "));
  CHECK(contains(decomposed["advice"], "Relu, LeakyRelu, PRelu or Elu"));
  // Six Mish; their cost is the sum over their layers.
  CHECK(decomposed["count"] == 6);
  double share = 0;
  for (const json& one : decomposed["evidence"]) share += one["share_percent"].get<double>();
  CHECK(decomposed["share_percent"].get<double>() == Approx(share));
  CHECK(share > 20);

  const json unfused = advice_on(folder.path(), "face_mask");
  REQUIRE_FALSE(unfused["findings"].empty());
  CHECK(unfused["findings"][0]["rule"] == "unfused_conv_bn_relu");
  CHECK(unfused["findings"][0]["count"] == 11);

  CHECK(count_problems(advice_on(folder.path(), "leaky_relu")) == 0);
  CHECK(count_problems(advice_on(folder.path(), "face_mask_fused")) == 0);
}

TEST_CASE("advise uses the language of the environment or of --lang") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
  const Words words = {"advise", "-dir", job.folder().string(), "-q"};
  const auto text = [&](const Words& more, const std::string& lang) {
    Words all = words;
    all.insert(all.end(), more.begin(), more.end());
    return run_msprof(all, {.variables = {{"LC_ALL", ""}, {"LC_MESSAGES", ""}, {"LANG", lang}}})
        .out;
  };
  CHECK(contains(text({}, "C"), "rules checked"));
  CHECK(contains(text({}, "zh_CN.UTF-8"), "条规则"));
  CHECK(contains(text({"--lang", "en"}, "zh_CN.UTF-8"), "rules checked"));
  CHECK(contains(text({"--lang", "zh"}, "C"), "条规则"));
  CHECK(contains(text({"--all"}, "C"), "no data: frequency_drop ("));
  CHECK(contains(text({}, "C"), "10 % of the instruction cache accesses miss"));
}

TEST_CASE("advise wraps at COLUMNS if there is no terminal") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
  const auto last_lines = [&](const std::string& columns) {
    const Words words = {"advise", "-dir", job.folder().string(), "-q", "--lang", "en"};
    const std::string out = run_msprof(words, {.variables = {{"COLUMNS", columns}}}).out;
    return split_lines(out.substr(out.rfind('\n', out.rfind("rules checked")) + 1));
  };
  REQUIRE(last_lines("").size() == 1);
  CHECK(contains(last_lines("").front(), "without data; --all lists them"));
  CHECK(last_lines("200") == last_lines(""));
  const auto narrow = last_lines("40");
  CHECK(narrow.size() > 1);
  for (const std::string& line : narrow) CHECK(line.size() <= 40);
}

TEST_CASE("An invalid rule file fails advise with a message and exit code 2") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
  const fs::path file = folder.path() / "rules.json";
  const auto advise_by = [&](const std::string& text) {
    write_file(file, text);
    return run_msprof({"advise", "-dir", job.folder().string(), "--rules", file.string()});
  };
  const auto broken = advise_by("{");
  CHECK(broken.exit_code == 2);
  CHECK(contains(broken.err, "rules.json: invalid JSON"));
  const std::string head =
      R"({"schema": "msprof.rules/1", "rules": [{"id": "mine", "severity": "problem",)"
      R"( "title": "{name}", "advice": "x", "sql": ")";
  const auto wrong_sql = advise_by(head + R"(SELECT nothing FROM v_ops"}]})");
  CHECK(wrong_sql.exit_code == 2);
  CHECK(contains(wrong_sql.err, "rules.json: rule 'mine': "));
  const auto good = advise_by(head + R"(SELECT 'my \u001b[31m finding' AS name"}]})");
  CHECK(good.exit_code == 0);
  CHECK(contains(good.out, "problem  my ?[31m finding\n"));
  const auto missing =
      run_msprof({"advise", "-dir", job.folder().string(), "--rules", "/nowhere.json"});
  CHECK(missing.exit_code == 2);
  CHECK(contains(missing.err, "/nowhere.json"));
}

TEST_CASE("export summary of a PROF folder prints the suggestions, except with -q") {
  const TempFolder folder;
  prof::RunShape shape;
  shape.tasks = 300;
  const auto run = prof::make_run(folder.path(), {}, shape);
  const auto loud = run_msprof({"export", "summary", "-dir", run.folder.string()});
  CHECK(loud.exit_code == 0);
  CHECK(loud.out.empty());
  CHECK(contains(loud.err, "tuning suggestions for device 0"));
  CHECK(contains(loud.err, "  Operator Processing: Check and reduce AI CPU operators: "));
  const fs::path file = run.folder / "mindstudio_profiler_output" / "prof_rule_0.json";
  CHECK(json::parse(read_file(file))["status"] == 0);
  const auto quiet = run_msprof({"export", "summary", "-dir", run.folder.string(), "-q"});
  CHECK(quiet.exit_code == 0);
  CHECK(quiet.err.empty());
  CHECK(run_msprof({"advise", "-dir", run.folder.string()}).exit_code == 0);
}
