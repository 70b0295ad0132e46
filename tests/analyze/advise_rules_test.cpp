// Each built-in rule fires in a scene made for it, and does not fire just below its threshold.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <set>

#include "analyze/advise/advice.hpp"
#include "analyze/advise/rule_file.hpp"
#include "analyze/advise_counter_scenes.hpp"
#include "analyze/advise_scenes.hpp"
#include "base/text.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

using Layers = std::vector<LayerScene::Layer>;
using Loads = std::map<std::string, double>;

// Makes the scene in which the rule fires (`is_met`), or one just below its threshold.
struct Case {
  std::string rule;
  std::function<ScenePtr(bool is_met)> scene;
};

ScenePtr of_layers(Layers layers) {
  return std::make_unique<LayerScene>(std::move(layers));
}

// A 100 us convolution with these loads in a 1000 us model.
ScenePtr of_conv(const Loads& loads) {
  return of_layers({{"conv", "Conv2D", 100, loads}, {"rest", "Pool", 900}});
}

ScenePtr of_operators(const std::vector<OperatorScene::Operator>& operators,
                      const std::string& metrics = "PipeUtilization") {
  auto scene = std::make_unique<OperatorScene>(metrics);
  for (const auto& op : operators) scene->add(op);
  return scene;
}

ScenePtr of_executions(std::int64_t first) {
  auto scene = std::make_unique<LayerScene>(Layers{{"conv", "Conv2D", 1500}});
  scene->executions = {first, 1, 2, 1, 1, 1};
  return scene;
}

ScenePtr of_gaps(std::int64_t gap_us) {
  auto scene = std::make_unique<LayerScene>(Layers{{"conv", "Conv2D"}});
  for (std::int64_t i = 0; i < 12; ++i) {
    const std::int64_t start = i * (1000 + gap_us);
    scene->add_call("svp_acl_mdl_execute", start, start + 1000);
  }
  return scene;
}

ScenePtr of_icache(std::int64_t miss) {
  auto scene = std::make_unique<LayerScene>(Layers{{"conv", "Conv2D"}});
  scene->icache_hit = 1000 - miss;
  scene->icache_miss = miss;
  return scene;
}

ScenePtr of_communication(std::int64_t alone_us) {
  auto scene = std::make_unique<OperatorScene>();
  scene->add_overlap(0, 0, 1000 - alone_us);
  scene->add_overlap(1, 900 - alone_us, 1000);
  scene->add_overlap(2, 1000 - alone_us, 1000);
  return scene;
}

ScenePtr of_frequency(std::int64_t mhz) {
  auto scene = std::make_unique<OperatorScene>();
  const auto track = scene->add_track({"lpm_freq", "AI Core", "AI Core Freq", "MHz"});
  scene->add_sample(track, 0, 1000);
  scene->add_sample(track, 500, mhz);
  scene->add_sample(track, 600, 1000);
  scene->add_overlap(0, 0, 1000);
  return scene;
}

ScenePtr of_tiny(double us) {
  auto scene = std::make_unique<OperatorScene>();
  for (int i = 0; i < 1001; ++i) scene->add({"add", "Add", "AI_CORE", us, 1});
  return scene;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"decomposed_activation",
       [](bool met) {
         return of_layers(
             {{"soft", "Softplus"}, {"tanh", met ? "Tanh" : "Sigmoid"}, {"mul", "Mul"}});
       }},
      {"unfused_conv_bn_relu",
       [](bool met) {
         return of_layers(
             {{"conv", "Conv2D", 1000}, {"bn", "BN", met ? 30 : 20}, {"relu", "Relu", 30}});
       }},
      {"memory_bound_layer",
       [](bool met) {
         return of_conv({{"dstr", met ? 60 : 50}, {"mac_busy", 50}});
       }},
      {"cpu_layer_between",
       [](bool met) {
         return of_layers({{"conv", "Conv2D"},
                           {"nms", "Nms", 100, {}, met},
                           {"conv2", "Conv2D"},
                           {"softmax", "Softmax", 100, {}, true}});
       }},
      {"ai_cpu_operators",
       [](bool met) {
         return of_operators({{"conv", "Conv2D"}, {"nonzero", "NonZero", "AI_CPU", met ? 3. : 1.}});
       }},
      {"communication_not_overlapped", [](bool met) { return of_communication(met ? 210 : 200); }},
      {"load_unit_limit",
       [](bool met) {
         return of_conv({{"dld", met ? 71 : 70}, {"mac_busy", 80}});
       }},
      {"weight_unit_limit",
       [](bool met) {
         return of_conv({{"wld", met ? 81 : 80}, {"mac_busy", 90}});
       }},
      {"store_unit_limit",
       [](bool met) {
         return of_conv({{"dstr", met ? 71 : 70}, {"mac_busy", 80}});
       }},
      {"hot_layer",
       [](bool met) {
         return of_layers({{"a", "Conv2D", met ? 210 : 200},
                           {"b", "Conv2D"},
                           {"c", "Conv2D"},
                           {"d", "Conv2D", 50},
                           {"e", "Conv2D", 50}});
       }},
      {"icache_misses", [](bool met) { return of_icache(met ? 51 : 50); }},
      {"first_execution", [](bool met) { return of_executions(met ? 4 : 3); }},
      {"host_between_executions", [](bool met) { return of_gaps(met ? 260 : 240); }},
      {"device_waits",
       [](bool met) {
         return of_operators({{"a", "Add"}, {"b", "Add", "AI_CORE", 100, met ? 51. : 49.}});
       }},
      {"tiny_operators", [](bool met) { return of_tiny(met ? 4.9 : 5); }},
      {"conversions",
       [](bool met) {
         return of_operators({{"conv", "Conv2D", "AI_CORE", 900},
                              {"trans", "TransData", "AI_CORE", met ? 101. : 99.}});
       }},
      {"few_cores",
       [](bool met) {
         return of_operators({{"conv", "Conv2D", "AI_CORE", 100, 0, met ? 3 : 4}});
       }},
      {"memory_bound_cube",
       [](bool met) {
         return of_operators({{"mm",
                               "MatMulV2",
                               "AI_CORE",
                               100,
                               0,
                               8,
                               {{"mac", 0.5}, {"vec", 0.1}, {"mte2", met ? 0.51 : 0.5}}}});
       }},
      {"scalar_bound",
       [](bool met) {
         return of_operators(
             {{"a", "Add", "AI_CORE", 100, 0, 8, {{"scalar", met ? 0.81 : 0.8}, {"vec", 0.5}}}});
       }},
      {"bank_conflicts",
       [](bool met) {
         return of_operators({{"a", "Add", "AI_CORE", 100, 0, 8, {{"bank", met ? 0.05 : 0.04}}}},
                             "ResourceConflictRatio");
       }},
      {"frequency_drop", [](bool met) { return of_frequency(met ? 890 : 900); }},
      {"bandwidth_at_peak", of_bandwidth},
      {"llc_hit_rate", of_cache},
      {"host_cpu_busy", of_host_cpu},
      {"disk_waits", of_disk},
      {"memory_grows", of_growing_memory},
      {"network_errors", of_network_errors},
      {"network_pressure", of_network_pressure},
      {"frequency_with_voltage", of_voltage},
      {"cube_array_padding",
       [](bool met) {
         return of_conv({{"mac_busy", met ? 71 : 70}, {"mac_ppen", 30}});
       }},
      {"units_idle",
       [](bool met) {
         return of_conv({{"mac_busy", met ? 49 : 50}});
       }},
      {"vector_layer_use",
       [](bool met) {
         return of_layers({{"pool", "Pool", 100, {{"mac_busy", 0}, {"vec_busy", met ? 51 : 50}}}});
       }},
      {"rule_aicpu_2",
       [](bool met) {
         return of_operators({{"where", "Where", "AI_CPU", met ? 21. : 20., 0, 1, {}, "INT64"}});
       }},
      {"rule_aicpu_3",
       [](bool met) {
         return of_operators(
             {{"grad/StridedSliceGrad", "StridedSliceGrad", "AI_CPU", met ? 21. : 20.}});
       }},
      {"rule_ai_core_and_ai_cpu_parallelism_1",
       [](bool met) {
         return of_operators(
             {{"conv", "Conv2D", "AI_CORE", 94}, {"where", "Where", "AI_CPU", met ? 6. : 4.}});
       }},
      {"rule_model_bottleneck_1",
       [](bool met) {
         return of_operators({{"mm", "MatMul", "AI_CORE", met ? 50. : 49., 0, 8, {{"mac", 0.5}}},
                              {"add", "Add", "AI_CORE", 50, 0, 8, {{"vec", 0.5}}}});
       }},
      {"rule_model_bottleneck_2",
       [](bool met) {
         return of_operators({{"mm", "MatMul", "AI_CORE", met ? 49. : 50., 0, 8, {{"mac", 0.5}}},
                              {"add", "Add", "AI_CORE", 50, 0, 8, {{"vec", 0.5}}}});
       }},
  };
  return all;
}

const AdviceFinding* find(const Advice& advice, const std::string& id) {
  const auto at =
      std::find_if(advice.findings.begin(), advice.findings.end(),
                   [&](const AdviceFinding& finding) { return finding.rule->id == id; });
  return at == advice.findings.end() ? nullptr : &*at;
}

bool is_not_met(const Advice& advice, const std::string& id) {
  return std::any_of(advice.not_met.begin(), advice.not_met.end(),
                     [&](const Rule* rule) { return rule->id == id; });
}

}  // namespace

TEST_CASE("Each rule reports its case, and nothing just below its threshold") {
  for (const Case& one : cases()) {
    INFO(one.rule);
    const ScenePtr scene = one.scene(true);
    const Advice advice = advise(scene->db(), builtin_rules());
    const AdviceFinding* finding = find(advice, one.rule);
    REQUIRE(finding != nullptr);
    CHECK_FALSE(finding->evidence.empty());
    CHECK(finding->evidence_count >= finding->evidence.size());
    // No {placeholder} is left unfilled.
    for (const Language language : {Language::en, Language::zh}) {
      CHECK(finding->title.in(language).find('{') == std::string::npos);
      CHECK(finding->advice.in(language).find('{') == std::string::npos);
    }
    const ScenePtr neighbour = one.scene(false);
    CHECK(is_not_met(advise(neighbour->db(), builtin_rules()), one.rule));
  }
}

TEST_CASE("Every rule with advice has a test case and all texts in both languages") {
  std::set<std::string> ids;
  for (const Rule& rule : builtin_rules()) {
    INFO(rule.id);
    CHECK(ids.insert(rule.id).second);
    CHECK_FALSE(rule.source.empty());
    for (const Bilingual* text : {&rule.title, &rule.advice, &rule.missing}) {
      CHECK(text->en.empty() == text->zh.empty());
      CHECK(is_valid_utf8(text->zh));
      // The Chinese text must not be a copy of the English one.
      if (!text->zh.empty()) CHECK(text->zh != text->en);
    }
    const bool has_case = std::any_of(cases().begin(), cases().end(),
                                      [&](const Case& one) { return one.rule == rule.id; });
    // Cluster rules are covered by tests/cluster/cluster_advice_test.cpp.
    CHECK(has_case == (rule.is_advice && !rule.is_about_cluster));
    CHECK((rule.is_advice || rule.prof_rule));
  }
}

TEST_CASE("A rule without data is reported as such, and counts neither as met nor as not met") {
  OperatorScene scene;
  const Advice advice = advise(scene.db(), builtin_rules());
  CHECK(advice.findings.empty());
  CHECK(advice.not_met.empty());
  REQUIRE_FALSE(advice.without_data.empty());
  for (const RuleWithoutData& rule : advice.without_data) {
    INFO(rule.rule->id);
    CHECK_FALSE(rule.reason.en.empty());
    CHECK_FALSE(rule.reason.zh.empty());
    CHECK(rule.reason.en.find('{') == std::string::npos);
  }
  CHECK(advice.checked() == cases().size());
}

TEST_CASE("A finding contains the values of the counters") {
  const auto find_values = [](const ScenePtr& scene, const std::string& rule) {
    const Advice advice = advise(scene->db(), builtin_rules());
    const AdviceFinding* finding = find(advice, rule);
    REQUIRE(finding != nullptr);
    std::map<std::string, double> values;
    for (const EvidenceValue& value : finding->evidence.front().values)
      values[value.name] = value.number.value_or(0);
    values["time_us"] = finding->evidence.front().time_us.value_or(0);
    return values;
  };
  auto values = find_values(of_bandwidth(true), "bandwidth_at_peak");
  CHECK(values["bandwidth_mb_s"] == Approx(36'250));
  CHECK(values["bandwidth_percent"] == Approx(90.625));
  CHECK(values["data_bound"] == Approx(2));
  values = find_values(of_host_cpu(true), "host_cpu_busy");
  CHECK(values["time_us"] == Approx(400'000));
  CHECK(values["of_device_percent"] == Approx(40));
  CHECK(values["of_free_percent"] == Approx(80));
  values = find_values(of_disk(true), "disk_waits");
  CHECK(values["time_us"] == Approx(400'000));
  values = find_values(of_growing_memory(true), "memory_grows");
  CHECK(values["grown_mb"] == Approx(17));
  CHECK(values["first_mb"] == Approx(259));
  CHECK(values["rises"] == 17);
  CHECK(find_values(of_network_errors(true), "network_errors")["lost"] == 2);
  CHECK(find_values(of_network_pressure(true), "network_pressure")["packets"] == 3);
  values = find_values(of_voltage(true), "frequency_with_voltage");
  CHECK(values["falls"] == 3);
  CHECK(values["lowest_mv"] == 850);
}

TEST_CASE("A rule that combines counters and tasks is silent if one of them is missing") {
  OperatorScene tasks;
  tasks.add({"load", "Add", "AI_CORE", 100, 0, 8, {{"vec", 0.3}, {"mte2", 0.6}}});
  tasks.add_overlap(0, 0, 500);
  tasks.add_overlap(3, 500, 1000);
  for (std::int64_t i = 1; i <= 20; ++i) tasks.add_iteration(i, 10 * i, 10 * i + 9);
  OperatorScene counters;
  for (const char* const kind : {"hbm", "host_cpu", "host_disk", "npu_mem"}) {
    const auto track = counters.add_track({kind, "CPU 0", "HBM", "%"});
    counters.add_interval(track, 0, 1000, 100);
  }
  const auto mhz = counters.add_track({"lpm_freq", "AI Core", "AI Core Freq", "MHz"});
  counters.add_sample(mhz, 0, 1000);
  for (Scene* const scene : std::initializer_list<Scene*>{&tasks, &counters}) {
    const Advice advice = advise(scene->db(), builtin_rules());
    for (const char* const id : {"bandwidth_at_peak", "host_cpu_busy", "disk_waits", "memory_grows",
                                 "frequency_with_voltage"}) {
      CAPTURE(id);
      CHECK(find(advice, id) == nullptr);
      CHECK_FALSE(is_not_met(advice, id));
    }
  }
}

TEST_CASE("A finding has the number of its operators and their share of the total time") {
  LayerScene scene({{"a_soft", "Softplus", 100},
                    {"a_tanh", "Tanh", 50},
                    {"a_mul", "Mul", 50},
                    {"b_soft", "softplus", 200},
                    {"b_tanh", "tanh", 100},
                    {"b_mul", "mul", 100},
                    {"conv", "Conv2D", 400}});
  scene.executions = {1, 3};
  const Advice advice = advise(scene.db(), builtin_rules());
  REQUIRE_FALSE(advice.findings.empty());
  const AdviceFinding& mish = advice.findings.front();
  CHECK(mish.rule->id == "decomposed_activation");
  CHECK(mish.title.en == "Mish runs as several consecutive layers, 2 times: 60.0 % of the time");
  CHECK(mish.count == 2);
  CHECK(mish.is_per_execution);
  CHECK(mish.time_us.value() == Approx(1200));  // mean of 600 and 1800
  CHECK(mish.share_percent.value() == Approx(60));
  REQUIRE(mish.evidence.size() == 2);
  CHECK(mish.evidence[0].name == "b_soft + b_tanh + b_mul");
  CHECK(mish.evidence[0].time_us.value() == Approx(800));
}

TEST_CASE("Layers count as unfused only if they follow each other directly") {
  LayerScene single({{"conv", "Conv2D", 100}, {"bn", "BN", 50}, {"relu", "Relu", 50}});
  CHECK(find(advise(single.db(), builtin_rules()), "unfused_conv_bn_relu") != nullptr);
  LayerScene apart(
      {{"conv", "Conv2D", 100}, {"bn", "BN", 50}, {"pool", "Pool", 1}, {"relu", "Relu", 50}});
  CHECK(find(advise(apart.db(), builtin_rules()), "unfused_conv_bn_relu") == nullptr);
}

TEST_CASE("A CPU layer at the start or the end of the model is not reported") {
  LayerScene scene({{"resize", "Resize", 100, {}, true},
                    {"conv", "Conv2D"},
                    {"softmax", "Softmax", 100, {}, true}});
  CHECK(is_not_met(advise(scene.db(), builtin_rules()), "cpu_layer_between"));
}
