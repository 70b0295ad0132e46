// advise on clusters: each rule names the planted fault, and finds nothing without a fault.
#include <catch2/catch.hpp>

#include <functional>
#include <set>

#include "analyze/advise/advice.hpp"
#include "analyze/advise/rule_file.hpp"
#include "cluster/cluster_file.hpp"
#include "cluster/part_files.hpp"
#include "store/trace_db_writer.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using test::ranks::ClusterShape;

namespace {

ClusterShape usual_shape() {
  ClusterShape shape;
  shape.ranks = 16;
  shape.ranks_per_host = 4;
  shape.steps = 6;
  return shape;
}

// A fault for a rule: planted in the run, or created in the merged file by SQL.
struct AdviceCase {
  std::string rule;
  std::function<void(ClusterShape&)> plant;
  std::string sql;
  std::string name;  // start of the name of the first evidence
};

const std::vector<AdviceCase>& advice_cases() {
  static const std::vector<AdviceCase> cases = {
      {"cluster_slow_rank", [](ClusterShape& shape) { shape.faults.slow_rank = 6; }, "",
       "rank 6 (node-0001, device 2)"},
      {"cluster_slow_host", [](ClusterShape& shape) { shape.faults.slow_host = 2; }, "",
       "node-0002 (4 ranks from 8)"},
      {"cluster_slow_link",
       [](ClusterShape& shape) {
         shape.faults.slow_link = {1, 2};
       },
       "", "rank 1 -> rank 2 (HCCS)"},
      {"cluster_growing_step", [](ClusterShape& shape) { shape.faults.growing = true; }, "",
       "6 steps"},
      {"cluster_frequency",
       {},
       "UPDATE member SET max_frequency_mhz = 1500 WHERE rank = 3",
       "rank 3 (node-0000, device 3)"},
      {"cluster_missing_ranks",
       [](ClusterShape& shape) {
         shape.faults.missing = {5, 9};
       },
       "", "5,9"},
      {"cluster_uneven_compute",
       {},
       "UPDATE rank_step SET computing_ns = computing_ns * (10 + member_id % 4) / 10",
       "rank "},
      {"cluster_partial_ranks",
       {},
       "UPDATE member SET verdict = 2 WHERE rank = 11",
       "rank 11 (node-0002)"},
      {"cluster_clock_unknown",
       {},
       "UPDATE rank_collective SET start_ns = start_ns + sequence * 10000000 WHERE member_id > 12",
       "node-0003"},
      {"cluster_clock_offset",
       [](ClusterShape& shape) {
         shape.faults.late_host = 1;
         shape.faults.offset_us = -3000;
       },
       "", "node-0001"}};
  return cases;
}

Advice advice_on(const AdviceCase& planted, std::int64_t detail_rows = 50'000'000) {
  const test::TempFolder folder;
  ClusterShape shape = usual_shape();
  if (planted.plant) planted.plant(shape);
  test::make_cluster(folder.path(), shape, detail_rows);
  const auto path = folder.path() / "cluster.db";
  if (!planted.sql.empty()) test::change_part(path, planted.sql);
  return advise(cluster::Part::open(path), builtin_rules());
}

const AdviceFinding* find_advice(const Advice& advice, std::string_view rule) {
  for (const AdviceFinding& finding : advice.findings)
    if (finding.rule->id == rule) return &finding;
  return nullptr;
}

}  // namespace

TEST_CASE("A cluster without a fault has no findings, and all rules about clusters have data") {
  const Advice advice = advice_on({});
  CHECK(advice.findings.empty());
  CHECK(advice.without_data.empty());
  CHECK(advice.not_met.size() == advice_cases().size());
}

TEST_CASE("Each cluster rule reports the injected fault and no other rank, host or link") {
  std::set<std::string> cases;
  for (const AdviceCase& planted : advice_cases()) {
    CAPTURE(planted.rule);
    cases.insert(planted.rule);
    const Advice advice = advice_on(planted);
    const AdviceFinding* finding = find_advice(advice, planted.rule);
    REQUIRE(finding != nullptr);
    REQUIRE_FALSE(finding->evidence.empty());
    CHECK(finding->evidence.front().name.substr(0, planted.name.size()) == planted.name);
    for (const std::string& text : {finding->title.en, finding->title.zh, finding->advice.en})
      CHECK(text.find('{') == std::string::npos);
    // A slow host also computes longer than the others, which is a separate finding.
    for (const AdviceFinding& other : advice.findings) {
      const bool is_same =
          other.rule->id == planted.rule ||
          (planted.rule == "cluster_slow_host" && other.rule->id == "cluster_uneven_compute");
      CHECK((is_same ? "" : other.rule->id).empty());
    }
    if (planted.rule != "cluster_uneven_compute") CHECK(finding->evidence_count == 1);
  }
  for (const Rule& rule : builtin_rules())
    if (rule.is_about_cluster) CHECK(cases.contains(rule.id));
}

TEST_CASE("A merged file with only totals gives the same findings") {
  for (const AdviceCase& planted : advice_cases()) {
    // Totals keep end times per host in another table, which this case does not change.
    if (planted.rule == "cluster_clock_unknown") continue;
    CAPTURE(planted.rule);
    const Advice whole = advice_on(planted);
    const Advice totals = advice_on(planted, 0);
    REQUIRE(totals.findings.size() == whole.findings.size());
    for (std::size_t i = 0; i < whole.findings.size(); ++i)
      CHECK(totals.findings[i].title.en == whole.findings[i].title.en);
  }
}

TEST_CASE("A summary of one rank cannot be compared, with a message") {
  const test::TempFolder folder;
  ClusterShape shape = usual_shape();
  shape.ranks = 1;
  const Advice advice = advise(test::make_cluster(folder.path(), shape), builtin_rules());
  CHECK(advice.findings.empty());
  std::set<std::string> without;
  for (const RuleWithoutData& one : advice.without_data) without.insert(one.rule->id);
  CHECK(without.contains("cluster_slow_rank"));
  CHECK(without.contains("cluster_slow_host"));
  CHECK(without.contains("cluster_clock_offset"));
  CHECK(without.contains("cluster_uneven_compute"));
}

TEST_CASE("Capture rules are not run on clusters, and cluster rules not on captures") {
  const test::TempFolder folder;
  const Advice advice = advise(test::make_cluster(folder.path(), usual_shape()), builtin_rules());
  CHECK(advice.checked() == advice_cases().size());
  TraceDbWriter(folder.path() / "msprof.db").publish();
  const auto store = TraceDb::open(folder.path() / "msprof.db");
  REQUIRE(store);
  const Advice of_capture = advise(*store, builtin_rules());
  for (const RuleWithoutData& one : of_capture.without_data)
    CHECK_FALSE(one.rule->is_about_cluster);
  for (const Rule* rule : of_capture.not_met) CHECK_FALSE(rule->is_about_cluster);
}

TEST_CASE("A user's SQL rule can be about clusters") {
  std::vector<Rule> rules;
  add_rules(R"({"schema": "msprof.rules/1", "rules": [{"id": "long_wait", "scope": "cluster",
    "severity": "hint", "title": "{name} waits {us} us", "advice": "See why.",
    "thresholds": {"us": 0},
    "sql": "SELECT operation AS name, total(wait_us) AS us FROM v_collectives GROUP BY operation HAVING us > :us ORDER BY us DESC"}]})",
            "mine.json", rules);
  const test::TempFolder folder;
  const Advice advice = advise(test::make_cluster(folder.path(), usual_shape()), rules);
  REQUIRE(advice.findings.size() == 1);
  CHECK(advice.findings.front().title.en.starts_with("hcom_"));
  const auto add = [&](const char* text) { add_rules(text, "bad.json", rules); };
  CHECK_THROWS_WITH(add(R"({"schema": "msprof.rules/1", "rules": [{"id": "x", "scope": "rack",
        "severity": "hint", "title": "t", "advice": "a", "sql": "SELECT 1"}]})"),
                    Catch::Contains("'scope' is neither"));
  CHECK_THROWS_WITH(add(R"({"schema": "msprof.rules/1", "rules": [{"id": "x", "scope": "cluster",
        "severity": "hint", "title": "t", "advice": "a", "where": [["time", ">", 1]]}]})"),
                    Catch::Contains("requires 'sql'"));
}
