// Output for a cluster: the tables of `show`, the page, and the changes between two clusters.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "analyze/cluster/cluster_compare.hpp"
#include "analyze/cluster/cluster_page.hpp"
#include "cluster/sketched_part.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

namespace msprof {

namespace {

using nlohmann::json;
using test::SketchedPart;
using test::TempFolder;

// An open rank summary and the views computed from it.
struct Asked {
  explicit Asked(const SketchedPart& sketch, cluster::ClockShifts shifts = {})
      : part(sketch.written(folder / "x.part")),
        view(part, std::move(shifts)),
        summary(cluster_summary(view)) {}
  // Cells of a table, separated by '|'.
  std::vector<std::string> rows(std::string_view name, std::size_t top = 10) const {
    std::vector<std::string> lines;
    for (const ClusterTable& table : cluster_tables(view, summary, top)) {
      if (table.name != name) continue;
      for (const auto& row : table.rows.rows) {
        std::string line;
        for (const Cell& cell : row.cells()) line += (line.empty() ? "" : "|") + cell_text(cell);
        lines.push_back(line);
      }
    }
    return lines;
  }
  std::string page(const std::vector<ClusterFinding>* findings = nullptr) const {
    return cluster_page(view, summary, findings);
  }
  json drawn() const {
    const std::string html = page();
    const std::string begin = "id=\"data\">";
    const std::size_t at = html.find(begin) + begin.size();
    return json::parse(html.substr(at, html.find("</script>", at) - at));
  }

  TempFolder folder;
  cluster::Part part;
  cluster::ClusterView view;
  ClusterSummary summary;
};

using AnswerLines = std::vector<std::string>;

SketchedPart with_op(SketchedPart part) {
  cluster::OpTotal op;
  op.name_id = part["MatMul"];
  op.unit_name_id = part["AI_CORE"];
  op.add(1'000, 1);
  op.add(1'000, 1);
  op.add(3'000, 2);
  part.ops = {op};
  return part;
}

// One rank that computes for the given microseconds per step.
SketchedPart make_steps(const std::vector<std::int64_t>& us, std::int64_t op_ns = 1'000) {
  SketchedPart part({"MatMul", "uid", "world", "hcom_allReduce_"});
  cluster::MemberRow member;
  member.rank = 0;
  member.host_name_id = part["uid"];
  part.members = {member};
  part.group_members = {{0, part["world"], 1, 0, 1}};
  for (std::size_t i = 0; i < us.size(); ++i) {
    const std::int64_t ns = us[i] * 1'000;
    const auto step = static_cast<std::int64_t>(i);
    part.steps.push_back({0, step, 1, 0, ns, ns - 4'000, 3'000, 3'000, 1'000, 0, 0, 0});
    part.collectives.push_back({0, step, part["world"], part["hcom_allReduce_"], 0, 1, 0, ns / 10,
                                ns / 20, 0, ns / 20, 9});
  }
  cluster::OpTotal op;
  op.name_id = part["MatMul"];
  op.add(op_ns, 1);
  part.ops = {op};
  return part;
}

ClusterComparison compared(const SketchedPart& base, const SketchedPart& now) {
  const Asked before(base);
  const Asked after(now);
  return compare_clusters({"before", &before.view}, {"after", &after.view});
}

const ClusterChange& find_change(const ClusterComparison& comparison, std::string_view section,
                                 std::string_view name) {
  for (const ClusterChanges& changes : comparison.sections) {
    if (changes.id != section) continue;
    for (const ClusterChange& row : changes.rows) {
      if (row.name == name) return row;
    }
  }
  throw std::runtime_error("no such row: " + std::string(name));
}

}  // namespace

TEST_CASE("a summary has the ranks, the mean step and the slowest ranks of steps") {
  const Asked asked(with_op(test::two_ranks()));
  CHECK(cluster_line(asked.summary) == "2 ranks on 2 hosts, 2 steps");
  CHECK(lacking_lines(asked.summary).empty());
  CHECK(mean_line(asked.summary) ==
        "mean step 0.009 ms: computing 70.3 %, not overlapped 10.8 %, free 18.9 %");
  CHECK(asked.rows("steps") ==
        AnswerLines{"1|0.010|0|0.010|50.0|20.0|30.0", "2|0.009|1|0.009|94.1|0.0|5.9"});
  CHECK(asked.rows("operators") == AnswerLines{"MatMul|3|0.005|1.667|2.976|3.000|1"});
  CHECK(asked.rows("collectives") == AnswerLines{"hcom_allReduce_|1234567855|2|3|1.500|33.3|69.0",
                                                 "hcom_send_|1234567855|2|1|0.000|0.0|2.0"});
  CHECK(asked.rows("steps", 1).size() == 1);
}

TEST_CASE("a summary without steps covers whole runs, and an empty one is reported") {
  SketchedPart part = test::two_ranks();
  part.steps = {{0, kNull, 1, 0, 500'000, 300'000, 0, 0, 200'000, 0, 0, 0}};
  const Asked asked(part);
  CHECK(cluster_line(asked.summary) == "2 ranks on 2 hosts, no steps recorded");
  CHECK(mean_line(asked.summary) ==
        "mean run 0.500 ms: computing 60.0 %, not overlapped 0.0 %, free 40.0 %");
  CHECK(asked.rows("steps") == AnswerLines{"-|0.500|0|0.500|60.0|0.0|40.0"});
  const Asked nothing(SketchedPart({}));
  CHECK(mean_line(nothing.summary) == "no work recorded");
  CHECK(nothing.page().find("<canvas") == std::string::npos);
}

TEST_CASE("missing, partial and unknown ranks and missing collectives are listed") {
  SketchedPart part = test::two_ranks();
  part.members[0].verdict = 2;
  part.members[1].rank = kNull;
  part.facts.expected_ranks = "0-3";
  part.facts.has_detail = false;
  part.collectives.clear();
  part.packets.clear();
  const AnswerLines lines = lacking_lines(Asked(part).summary);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0] == "MISSING: 3 ranks (1-3)");
  CHECK(lines[1] == "PARTIAL DATA: 1 rank (0)");
  CHECK(lines[2] == "1 capture does not know its rank");
  CHECK(lines[3].find("--detail-rows") != std::string::npos);
}

TEST_CASE("the page draws every rank in every step") {
  SketchedPart part = test::two_ranks();
  part.steps[1].begin_ns = 3'000;
  const Asked asked(part);
  const json drawn = asked.drawn();
  CHECK(drawn["steps"] == json({"1", "2"}));
  CHECK(drawn["ranks"] == json({"0", "1"}));
  CHECK(drawn["hosts"] == json({"host-a", "host-b"}));
  // Rank, start within the step, duration, computing, not overlapped, free; microseconds.
  CHECK(drawn["cells"] == json({{{0, 0, 10, 4, 3, 3}, {0, 0, 8, 8, 0, 0}},
                                {{1, 2, 10, 6, 1, 3}, {1, 0, 9, 8, 0, 1}}}));
  CHECK(asked.page().find("id=\"binned\"") == std::string::npos);
  cluster::ClockShifts shifts;
  shifts[part["uid-b"]] = 2'000;
  CHECK(Asked(part, shifts).drawn()["cells"][1][0][1] == 0);
}

TEST_CASE("a rank without a step has an empty cell") {
  SketchedPart part = test::two_ranks();
  part.steps.pop_back();
  CHECK(Asked(part).drawn()["cells"][1][1].is_null());
}

TEST_CASE("above two thousand ranks share rows that show the longest steps, with a note") {
  SketchedPart part({"uid"});
  for (std::int64_t i = 0; i < 4'100; ++i) {
    cluster::MemberRow member;
    member.rank = i;
    member.host_name_id = part["uid"];
    part.members.push_back(member);
    const std::int64_t ns = i == 4 ? 9'000 : 5'000;
    part.steps.push_back({0, 1, i + 1, 0, ns, ns, 0, 0, 0, 0, 0, 0});
  }
  const Asked asked(part);
  const json drawn = asked.drawn();
  REQUIRE(drawn["ranks"].size() == 1'367);
  CHECK(drawn["ranks"][1] == "3–5");
  CHECK(drawn["ranks"].back() == "4098–4099");
  CHECK(drawn["cells"][1][0] == json({4, 0, 9, 9, 0, 0}));
  CHECK(asked.page().find("3 neighbouring ranks in 1 step") != std::string::npos);
}

TEST_CASE("names cannot become markup of the page") {
  const std::string odd = "</script><script>alert(1)</script>";
  SketchedPart part({odd});
  cluster::MemberRow member;
  member.rank = 0;
  member.host_name_id = part[odd];
  part.members = {member};
  part.steps = {{0, 1, 1, 0, 5, 5, 0, 0, 0, 0, 0, 0}};
  cluster::OpTotal op;
  op.name_id = part[odd];
  op.add(1'000, 1);
  part.ops = {op};
  const Asked asked(part);
  const std::vector<ClusterFinding> findings = {{"hint", odd, {odd}, odd}};
  const std::string html = asked.page(&findings);
  CHECK(html.find("alert(1)</script>") == std::string::npos);
  CHECK(html.find("<script>alert") == std::string::npos);
  CHECK(html.find("&lt;script&gt;alert") != std::string::npos);
  CHECK(asked.drawn()["hosts"][0] == odd);
}

TEST_CASE("the page has the findings, or that there are none, or neither if not checked") {
  const Asked asked(test::two_ranks());
  const std::vector<ClusterFinding> findings = {
      {"problem", "Rank 1 is slow", {"computes 3 ms longer"}, "Look at its frequency."}};
  const std::string html = asked.page(&findings);
  CHECK(html.find("<strong>Rank 1 is slow</strong>") != std::string::npos);
  CHECK(html.find("computes 3 ms longer") != std::string::npos);
  CHECK(html.find("Look at its frequency.") != std::string::npos);
  const std::vector<ClusterFinding> none;
  CHECK(asked.page(&none).find("No slow rank") != std::string::npos);
  CHECK(asked.page().find("h-findings") == std::string::npos);
}

TEST_CASE("the products of a cluster have aligned clocks and the findings of the rules") {
  SketchedPart part = test::two_ranks();
  part.collectives.clear();
  part.packets.clear();
  // Five collectives end at the same time on both hosts; the second host's clock is 400 us ahead.
  for (std::int64_t i = 0; i < 5; ++i) {
    for (std::int64_t member = 1; member <= 2; ++member) {
      const std::int64_t start = 1'700'000'000'000'000'000 + i * 10'000'000;
      part.collectives.push_back({0, 1, part["1234567855"], part["hcom_allReduce_"], i, member,
                                  start + (member == 2 ? 400'000 : 0), 2'000'000, 0, 0, 2'000'000,
                                  9});
    }
  }
  part.facts.expected_ranks = "0-2";
  const TempFolder folder;
  const auto products = write_cluster_outputs(part.written(folder / "cluster.db"), folder.path());
  CHECK(products.files.size() == 6);
  const json document = json::parse(
      test::read_file(folder / "cluster_analysis_output" / "cluster_communication.json"));
  const json& ranks = document["collective"]["step1"]["hcom_allReduce__855_4_1@1234567855"];
  CHECK(ranks["0"]["Communication Time Info"]["Start Timestamp(us)"] == 1700000000040000.0);
  CHECK(ranks["1"]["Communication Time Info"]["Start Timestamp(us)"] == 1700000000040000.0);
  const std::string page = test::read_file(folder / "cluster.html");
  CHECK(page.find("<li class=\"problem\"><strong>Ranks are missing (1): 2</strong>") !=
        std::string::npos);
}

TEST_CASE("hosts without alignable clocks keep their times, with a message") {
  const TempFolder folder;
  const auto products =
      write_cluster_outputs(test::two_ranks().written(folder / "cluster.db"), folder.path());
  REQUIRE_FALSE(products.notes.empty());
  CHECK(products.notes.back().find("the clocks of 1 of 2 hosts") == 0);
}

TEST_CASE("a slower step is distinguished from noise by the spread of the steps") {
  const auto slower =
      compared(make_steps({99, 100, 100, 100, 101}), make_steps({119, 120, 120, 120, 121}));
  CHECK(slower.verdict == Verdict::slower);
  CHECK(slower.total.base == 100.0);
  CHECK(slower.total.now == 120.0);
  CHECK(slower.noise_percent == 1.0);
  const ClusterChange& time = find_change(slower, "steps", "step time");
  CHECK(time.mean.delta() == Approx(20));
  CHECK(time.median->percent() == Approx(20));
  CHECK(time.p95->base == Approx(100.8));
  CHECK(time.base_count == 5);
  CHECK(find_change(slower, "steps", "computing").mean.base == Approx(96));
  CHECK(find_change(slower, "steps", "free").mean.is_noise());

  // Quartiles 90 and 110 around 100: half the interquartile range is 10 %.
  const auto noisy =
      compared(make_steps({80, 90, 100, 110, 120}), make_steps({108, 108, 108, 108}));
  CHECK(noisy.noise_percent == Approx(10));
  CHECK(noisy.verdict == Verdict::noise);

  const auto few = compared(make_steps({100, 100, 100}), make_steps({104, 104, 104}));
  CHECK(few.noise_percent == 5.0);
  CHECK(few.verdict == Verdict::noise);
}

TEST_CASE("ranks, collectives and operators of two clusters are matched") {
  const auto changes =
      compared(make_steps({100, 100, 100, 100}), make_steps({200, 200, 200, 200}, 1'500));
  const ClusterChange& rank = find_change(changes, "ranks", "0");
  CHECK(rank.mean.base == Approx(97));
  CHECK(rank.mean.now == Approx(197));
  const ClusterChange& wait =
      find_change(changes, "collectives", "hcom_allReduce_ of 1 rank, waiting");
  CHECK(wait.mean.base == Approx(5));
  CHECK(wait.mean.now == Approx(10));
  CHECK(wait.base_count == 4);
  CHECK_FALSE(wait.mean.is_noise());
  const ClusterChange& op = find_change(changes, "operators", "MatMul");
  CHECK(op.mean.percent() == Approx(50));
  CHECK(op.median->base == Approx(1));
  CHECK(op.p95->now == Approx(1.488));  // lower bound of the bin of 1500 ns
}

TEST_CASE("rows of only one side have no change") {
  SketchedPart other = make_steps({100, 100, 100, 100});
  other.members[0].rank = 3;
  const auto changes = compared(make_steps({100, 100, 100, 100}), other);
  CHECK_FALSE(find_change(changes, "ranks", "0").mean.now);
  CHECK_FALSE(find_change(changes, "ranks", "3").mean.base);
  REQUIRE(changes.warnings.size() == 1);
  CHECK(changes.warnings[0] == "after: MISSING: 3 ranks (0-2)");
}

TEST_CASE("one changed rank among many is beyond noise, the others are not") {
  const auto ranks = [](std::int64_t slow_us) {
    SketchedPart part({"uid"});
    for (std::int64_t i = 0; i < 10; ++i) {
      cluster::MemberRow member;
      member.rank = i;
      member.host_name_id = part["uid"];
      part.members.push_back(member);
      // Each operator varies by up to 1 % from run to run.
      const std::int64_t ns = i == 7 ? slow_us * 1'000 : 100'000 + (i % 3 - 1) * (slow_us * 10);
      part.steps.push_back({0, 1, i + 1, 0, ns, ns, 0, 0, 0, 0, 0, 0});
    }
    return part;
  };
  const auto changes = compared(ranks(100), ranks(150));
  CHECK(changes.sections[1].rows[0].name == "7");
  CHECK_FALSE(changes.sections[1].rows[0].mean.is_noise());
  for (std::size_t i = 1; i < 10; ++i) CHECK(changes.sections[1].rows[i].mean.is_noise());
}

TEST_CASE("a comparison is printed as text, CSV and page") {
  const auto changes = compared(make_steps({100, 100, 100, 100}), make_steps({200, 200, 200, 200}));
  const std::string text = cluster_comparison_text(changes, 5, 80, false);
  CHECK(text.find("median step 0.100 → 0.200 ms, 100.0 % slower\n") == 0);
  CHECK(text.find("Operators, mean per execution: no change beyond noise") != std::string::npos);
  const std::string csv = cluster_comparison_csv(changes, false);
  CHECK(csv.find("steps,step time,mean,4,4,100.000,200.000,100.000,100.000,1.000,no\n") !=
        std::string::npos);
  CHECK(csv.find("ranks,0,mean,4,4,97.000,197.000,") != std::string::npos);
  const std::string html = cluster_comparison_page(changes);
  CHECK(html.find("<tr class=\"slower\"><th scope=\"row\"><bdi>step time</bdi></th>") !=
        std::string::npos);
}

}  // namespace msprof
