// User rule files, and prof_rule_<device>.json.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "analyze/advise/advice.hpp"
#include "analyze/advise/prof_rule.hpp"
#include "analyze/advise/rule_file.hpp"
#include "analyze/advise_scenes.hpp"
#include "base/error.hpp"
#include "export/exporter.hpp"
#include "support/files.hpp"

using namespace msprof;
using namespace msprof::test;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

json rule(const std::string& id) {
  return {{"id", id},
          {"severity", "hint"},
          {"title", {{"en", "{count} found"}, {"zh", "发现 {count} 个"}}},
          {"advice", "both languages"},
          {"thresholds", {{"us", 5}}},
          {"where", {{"time", ">", "$us"}}}};
}

std::string make_rule_file(const std::vector<json>& rules) {
  json file = json::object();
  file["schema"] = "msprof.rules/1";
  file["rules"] = rules;
  return file.dump();
}

// Writes the rule files planned for `scene`, without op_summary itself.
std::vector<ExportedFile> write_rules(Scene& scene, const std::filesystem::path& out,
                                      const std::shared_ptr<TuningFiles>& found = nullptr,
                                      const SummaryOptions& options = {}) {
  const auto rules = ProfRules::plan(scene.db(), out, options, found);
  return rules ? run_export_jobs(scene.db(), {rules->job()}) : std::vector<ExportedFile>();
}

// Returns the error message for an invalid rule file.
std::string refusal(const std::string& text) {
  std::vector<Rule> rules = builtin_rules();
  try {
    add_rules(text, "mine.json", rules);
  } catch (const Error& error) {
    CHECK(error.code() == Exit::usage);
    return error.what();
  }
  return "";
}

// Returns the error message for a file whose only rule has `value` for `key`.
std::string value_refusal(const std::string& key, const json& value) {
  json one = rule("mine");
  one[key] = value;
  return refusal(make_rule_file({one}));
}

}  // namespace

TEST_CASE("An invalid rule file is refused with its name, the rule and the reason") {
  CHECK_THAT(refusal("no json"), Contains("mine.json: invalid JSON"));
  CHECK_THAT(refusal(std::string(1'000'000, '[')), Contains("invalid JSON"));
  CHECK_THAT(refusal("[]"), Contains("the file is not an object"));
  CHECK_THAT(refusal(R"({"schema": "other/1", "rules": []})"), Contains("msprof.rules/1"));
  CHECK_THAT(refusal(R"({"schema": "msprof.rules/1", "rules": [], "more": 1})"),
             Contains("unknown key 'more'"));
  CHECK_THAT(refusal(make_rule_file({1})), Contains("a rule is not an object"));
  CHECK_THAT(refusal(make_rule_file({rule("a"), rule("a")})),
             Contains("rule 'a': two rules have the same id"));
  CHECK_THAT(refusal(make_rule_file({json{{"id", "nowhere"}, {"thresholds", {{"us", 1}}}}})),
             Contains("rule 'nowhere': the rule has no condition, and no other rule has this id"));
  const auto mine = [](const std::string& reason) { return Contains("rule 'mine': " + reason); };
  CHECK_THAT(value_refusal("id", std::string(65, 'x')), Contains("is not a valid id"));
  CHECK_THAT(value_refusal("id", "a b"), Contains("is not a valid id"));
  CHECK_THAT(value_refusal("colour", "red"), mine("unknown key 'colour'"));
  CHECK_THAT(value_refusal("severity", "deadly"), mine("unknown severity 'deadly'"));
  CHECK_THAT(value_refusal("title", {{"en", "x"}}), mine("title has no 'zh'"));
  CHECK_THAT(value_refusal("title", std::string(10'000'000, 'x')), mine("'title' is longer than"));
  CHECK_THAT(value_refusal("thresholds", {{"us", "5"}}), mine("threshold 'us' is not a number"));
  CHECK_THAT(value_refusal("where", {{"time", "=~", 1}}), mine("unknown comparator '=~'"));
  CHECK_THAT(value_refusal("where", {{"time", ">", "$no"}}),
             mine("'$no' is not a threshold of this rule"));
  CHECK_THAT(value_refusal("where", {{"time", ">", "text"}}), mine("'\">\"' cannot be used with"));
  CHECK_THAT(value_refusal("where", {{"time", "in", 1}}), mine("'\"in\"' cannot be used with"));
  CHECK_THAT(value_refusal("where", json::array({json::array({"time", ">"})})),
             mine("a condition must be a list of three"));
  CHECK_THAT(value_refusal("sql", "SELECT 1"), mine("exactly one of 'where'"));
  CHECK_THAT(value_refusal("group", {{"share_of", json::object()}}),
             mine("'share_of' is not a string"));
  CHECK_THAT(value_refusal("needs", "SELECT 1"), mine("'needs' requires 'sql'"));
  json fact = rule("mine");
  fact.erase("where");
  fact["fact"] = {"phase_of_the_moon", ">", 1};
  CHECK_THAT(refusal(make_rule_file({fact})), mine("unknown fact 'phase_of_the_moon'"));
}

TEST_CASE("A user's rule adds, replaces, changes or disables a rule") {
  std::vector<Rule> rules = builtin_rules();
  const std::size_t before = rules.size();
  json replacing = rule("hot_layer");
  const auto notes =
      add_rules(make_rule_file({rule("mine"), replacing,
                                json{{"id", "units_idle"}, {"thresholds", {{"unit_percent", 1}}}},
                                json{{"id", "first_execution"}, {"enabled", false}}}),
                "mine.json", rules);
  CHECK(notes == std::vector<std::string>{"mine.json replaces rule hot_layer",
                                          "mine.json changes rule units_idle",
                                          "mine.json switches rule first_execution off"});
  CHECK(rules.size() == before);
  LayerScene scene({{"conv", "Conv2D", 6, {{"mac_busy", 40}}}, {"pool", "Pool", 4}});
  const Advice advice = advise(scene.db(), rules);
  REQUIRE(advice.findings.size() == 2);
  for (const AdviceFinding& finding : advice.findings) {
    CHECK(finding.rule->file == "mine.json");
    CHECK(finding.title.zh == "发现 1 个");
    CHECK(finding.advice.zh == "both languages");
  }
}

TEST_CASE("SQL of a user's rule receives its thresholds, and an SQL error is a usage error") {
  LayerScene scene({{"conv", "Conv2D", 6}, {"pool", "Pool", 4}});
  const auto advise_by = [&](const std::string& sql) {
    std::vector<Rule> rules;
    json one = rule("mine");
    one.erase("where");
    one["sql"] = sql;
    add_rules(make_rule_file({one}), "mine.json", rules);
    // The evidence values are pointers into the rules, so both must be alive.
    const Advice advice = advise(scene.db(), rules);
    return advice.findings.empty() ? std::string() : advice.findings.front().evidence.front().name;
  };
  CHECK(advise_by("SELECT name || ':us' AS name FROM v_ops WHERE mean_us > :us") == "conv:us");
  CHECK(advise_by("SELECT name FROM v_ops WHERE mean_us > 2 * :us").empty());
  CHECK_THROWS_WITH(advise_by("SELECT name FROM nothing"), Contains("mine.json: rule 'mine': "));
  CHECK_THROWS_WITH(advise_by("SELECT :more"),
                    Contains("':more', which is not a threshold of this rule"));
  CHECK_THROWS_WITH(advise_by("DELETE FROM op"), Contains("mine.json: rule 'mine': "));
}

TEST_CASE("Rules may read any table, and compare fields with each other") {
  OperatorScene scene;
  scene.add({"a", "Add", "AI_CORE", 100, 0, 8, {{"mte2", 0.6}, {"mte3", 0.5}}});
  scene.add({"b", "Add", "AI_CORE", 100, 0, 8, {{"mte2", 0.5}, {"mte3", 0.6}}});
  json by_field = rule("by_field");
  by_field["where"] = {{"mte2_ratio", ">", {{"field", "mte3_ratio"}}}};
  json by_table = rule("by_table");
  by_table["table"] = "op_statistic";
  by_table["name"] = "op_type";
  by_table["time"] = "total_time";
  by_table["where"] = {{"op_type", "not in", {"Mul"}}};
  std::vector<Rule> rules;
  add_rules(make_rule_file({by_field, by_table}), "mine.json", rules);
  const Advice advice = advise(scene.db(), rules);
  REQUIRE(advice.findings.size() == 2);
  CHECK(advice.findings[0].evidence.front().name == "Add");
  CHECK(advice.findings[0].time_us.value() == Approx(200));
  CHECK(advice.findings[1].evidence.front().name == "a");
}

TEST_CASE("A user's rule that reads unit loads has no data if the loads are modelled") {
  json by_where = rule("by_where");
  by_where["where"] = {{"mac_busy_ratio", ">", "$us"}};
  json by_field = rule("by_field");
  by_field["where"] = {{"time", ">", {{"field", "memory_bound"}}}};
  json by_time = rule("by_time");
  by_time["time"] = "dld_ratio";
  json by_group = rule("by_group");
  by_group["group"] = {{"share_above_percent", "$us"}, {"share_of", "wld_ratio"}};
  json by_text = rule("by_text");
  by_text["title"] = "loads {dld_ratio} %";
  by_text["evidence"] = {"dld_ratio"};
  json by_evidence = rule("by_evidence");
  by_evidence["evidence"] = {"time_ratio", "dld_ratio"};
  json of_frequency = rule("of_frequency");
  of_frequency["table"] = "frequency";
  of_frequency["name"] = "device_id";
  of_frequency["where"] = {{"frequency", ">", "$us"}};
  json by_sql = rule("by_sql");
  by_sql.erase("where");
  by_sql["sql"] = "SELECT 'all' AS name FROM task_pmu WHERE c2 > :us LIMIT 1";
  json by_needs = by_sql;
  by_needs["id"] = "by_needs";
  by_needs["needs"] = "SELECT 1 FROM v_devices WHERE frequency_mhz > 1";
  by_needs["sql"] = "SELECT name FROM v_ops";
  json of_time = by_sql;
  of_time["id"] = "of_time";
  of_time["sql"] = "SELECT name FROM v_ops WHERE mean_us > :us";
  std::vector<Rule> rules;
  add_rules(make_rule_file({by_where, by_field, by_time, by_group, by_text, by_evidence,
                            of_frequency, by_sql, by_needs, of_time}),
            "mine.json", rules);
  const auto ids = [](const auto& list) {
    std::set<std::string> found;
    for (const auto& one : list) found.insert(one.rule->id);
    return found;
  };
  using Ids = std::set<std::string>;
  const Ids resting_on_loads = {"by_where", "by_field",     "by_time", "by_group",
                                "by_text",  "of_frequency", "by_sql",  "by_needs"};

  LayerScene measured(std::vector<LayerScene::Layer>{{"conv", "Conv2D", 6000}});
  const Advice of_board = advise(measured.db(), rules);
  CHECK(of_board.without_data.empty());
  CHECK(of_board.findings.size() == rules.size());

  LayerScene modelled(std::vector<LayerScene::Layer>{{"conv", "Conv2D", 6000}});
  modelled.unit_loads = UnitLoads::modelled;
  const Advice of_host = advise(modelled.db(), rules);
  CHECK(ids(of_host.without_data) == resting_on_loads);
  for (const RuleWithoutData& one : of_host.without_data) {
    CHECK_THAT(one.reason.en, Contains("modelled by the host runtime, not measured"));
    CHECK_THAT(one.reason.zh, Contains("由主机运行时的模型给出,并非实测"));
  }
  CHECK(ids(of_host.findings) == Ids{"by_evidence", "of_time"});
  // The evidence contains only measured values.
  for (const AdviceFinding& finding : of_host.findings) {
    if (finding.rule->id != "by_evidence") continue;
    REQUIRE(finding.evidence.front().values.size() == 1);
    CHECK(finding.evidence.front().values.front().name == "time_ratio");
  }
}

TEST_CASE("prof_rule_0.json has the groups and suggestions that its consumers expect") {
  OperatorScene scene;
  scene.add({"mm", "MatMul", "AI_CORE", 100, 0, 8, {{"mac", 0.9}, {"vec", 0.9}, {"mte2", 0.5}}});
  scene.add({"t1", "TransData", "AI_CORE", 10, 20, 4, {{"vec", 0.1}, {"mte2", 0.9}}});
  scene.add(
      {"t2", "TransData", "AI_CORE", 10, 0, 8, {{"vec", 0.9}, {"mte2", 0.5}, {"scalar", 0.9}}});
  scene.add({"t3", "TransData", "AI_CORE", 10});
  scene.add({"where", "Where", "AI_CPU", 30, 0, 1, {}, "FLOAT;INT64"});
  scene.add({"StridedSliceGrad_1", "StridedSliceGrad", "AI_CPU", 10, 0, 1});
  scene.add_workspace("mm", 2048);
  const auto found = std::make_shared<TuningFiles>();
  const auto out = scene.folder() / "out";
  const auto files = write_rules(scene, out, found);
  REQUIRE(files.size() == 1);
  CHECK(files[0].path == out / "mindstudio_profiler_output" / "prof_rule_0.json");
  const json document = json::parse(read_file(files[0].path));
  CHECK(document["status"] == 0);
  const json& data = document["data"];
  CHECK(data["Op Summary"].size() == 5);
  CHECK(data["Op Parallel"].size() == 1);
  CHECK(data["Model Summary"].size() == 1);
  std::map<std::string, json> suggestions;
  for (const auto& groups : data) {
    for (const json& group : groups) {
      CHECK(group["Rule Description"].is_string());
      for (const json& result : group["result"]) {
        suggestions[group["Rule Type"].get<std::string>() + "/" +
                    result["Rule Subtype"].get<std::string>() + ": " +
                    result["Rule Suggestion"].get<std::string>()] = result["Tuning Data"];
      }
    }
  }
  const auto names = [&](const std::string& suggestion) {
    INFO(suggestion);
    REQUIRE(suggestions.contains(suggestion));
    return suggestions[suggestion].get<std::vector<std::string>>();
  };
  using Names = std::vector<std::string>;
  CHECK(names("Operator Processing/: Use multi-core") ==
        Names{"t1", "where", "StridedSliceGrad_1"});
  CHECK(names("Operator Processing/: Check and reduce the transData") == Names{"t1", "t2", "t3"});
  CHECK(names("Operator Metrics/Memory: Check and reduce the memory workspace") == Names{"mm"});
  CHECK(names("Operator Schedule/: Task waiting time has reached the upper limit") == Names{"t1"});
  CHECK(names("Operator Processing/: Check and reduce AI CPU operators") ==
        Names{"where", "StridedSliceGrad_1"});
  CHECK(names("Memory/: Check repeat counts and vector mask") == Names{"t2"});
  CHECK(names("Computation/Cube: Cube operators spend too much time on vector computing") ==
        Names{"mm"});
  CHECK(names("Computation/Vector: Low vector computing usage") == Names{"t1"});
  CHECK(names("Computation/Cube: Low cube computing usage") == Names{"t1", "t2"});
  CHECK(names("Computation/Scalar: High scalar computing usage") == Names{"t2"});
  CHECK(names("Operator Processing/: Try to cast the data type to INT32 for AI Core operators") ==
        Names{"where"});
  CHECK_FALSE(suggestions.contains("Operator Processing/: Try StridedSliceGrad on AI Cores"));
  CHECK_FALSE(suggestions.contains("Memory/: Low data memory handling efficiency"));
  const std::string cube =
      "Model Bottleneck Analysis/: The Model is Cube Affinity, as the cube utilization rate is "
      "high "
      "enough";
  REQUIRE(suggestions.contains(cube));
  CHECK(suggestions[cube]["Cube Time(us)"] == 100);
  CHECK(found->take().front().suggestions.size() == suggestions.size());
}

TEST_CASE("The tuning file suggests fusing consecutive Convolution, BN and Relu layers") {
  const auto suggested = [](double relu_us) {
    OperatorScene scene;
    scene.add({"conv1", "Conv2D", "AI_CORE", 900});
    scene.add({"conv1_bn", "BNInferenceD", "AI_CORE", 20});
    scene.add({"conv1_relu", "Relu", "AI_CORE", relu_us});
    const auto found = std::make_shared<TuningFiles>();
    write_rules(scene, scene.folder() / "out", found);
    std::vector<std::string> operators;
    const std::vector<TuningFile> files = found->take();
    REQUIRE(files.size() == 1);
    for (const TuningSuggestion& one : files.front().suggestions) {
      if (one.suggestion.starts_with("Fuse convolution, BN and Relu")) operators = one.operators;
    }
    return operators;
  };
  CHECK(suggested(80) == std::vector<std::string>{"conv1 + conv1_bn + conv1_relu"});
  CHECK(suggested(10).empty());  // 3 % of the time
}

TEST_CASE("A capture of layers has no prof_rule file, and neither has an export of named tables") {
  LayerScene layers(std::vector<LayerScene::Layer>{{"conv", "Conv2D"}});
  CHECK_FALSE(ProfRules::plan(layers.db(), layers.folder(), {}, nullptr));
  OperatorScene scene;
  scene.add({"a", "Add"});
  CHECK_FALSE(ProfRules::plan(scene.db(), scene.folder(), {.names = {"op_summary"}}, nullptr));
  CHECK(write_rules(scene, scene.folder(), nullptr, {.style = ExportStyle::cann5}).front().path ==
        scene.folder() / "device_0" / "summary" / "prof_rule_0.json");
}

TEST_CASE(
    "prof_rule_0.json does not depend on op_summary being exported with it, or on the format") {
  OperatorScene scene;
  scene.add({"mm", "MatMul", "AI_CORE", 100, 0, 8, {{"mac", 0.9}, {"vec", 0.9}, {"mte2", 0.5}}});
  scene.add({"where", "Where", "AI_CPU", 30, 0, 1, {}, "FLOAT;INT64"});
  for (int i = 0; i < 300; ++i)
    scene.add({"t" + std::to_string(i % 7),
               "TransData",
               "AI_CORE",
               10.0 + i,
               1.0 * i,
               4,
               {{"vec", 0.1}, {"mte2", 0.9}}});
  const auto alone = std::make_shared<TuningFiles>();
  const auto expected = write_rules(scene, scene.folder() / "alone", alone);
  REQUIRE(expected.size() == 1);
  const std::string document = read_file(expected.front().path);
  REQUIRE(json::parse(document)["data"]["Op Summary"][0]["result"].size() > 1);
  for (const auto format : {SummaryFormat::csv, SummaryFormat::json}) {
    const auto out = scene.folder() / (format == SummaryFormat::csv ? "csv" : "json");
    SummaryOptions options{.format = format};
    const auto found = std::make_shared<TuningFiles>();
    const auto rules = ProfRules::plan(scene.db(), out, options, found);
    REQUIRE(rules);
    const auto plain = export_summaries(scene.db(), scene.folder() / "plain", options);
    options.listener = rules->listener();
    auto jobs = plan_summaries(scene.db(), out, options);
    CHECK(rules->listener()->is_heard);
    jobs.insert(jobs.begin(), rules->job());
    CHECK_FALSE(jobs.front().write);
    const auto files = run_export_jobs(scene.db(), jobs);
    REQUIRE(files.size() == plain.size() + 1);
    CHECK(files.front().path.filename() == "prof_rule_0.json");
    CHECK(read_file(files.front().path) == document);
    CHECK(found->take().size() == 1);
    for (std::size_t i = 0; i < plain.size(); ++i)
      CHECK(read_file(files[i + 1].path) == read_file(plain[i].path));
  }
}
