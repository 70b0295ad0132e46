// Clusters of 8, 64 or 1,024 ranks with one planted fault: advise must report that fault and no
// other. One in six has no fault, and advise must report none.
#include <fmt/format.h>

#include <set>

#include "analyze/advise/advice.hpp"
#include "analyze/advise/rule_file.hpp"
#include "cluster/cluster_file.hpp"
#include "soak/soak.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;
using ranks::ClusterShape;

namespace {

// The planted fault: the rule that must find it, and the start of its evidence.
struct Planted {
  std::string rule;
  std::string evidence;
  std::set<std::string> besides;  // rules that may also report something
};

std::int64_t below(SoakRandom& random, std::int64_t limit) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
}

Planted plant(std::uint64_t number, SoakRandom& random, ClusterShape& shape) {
  const std::int64_t rank = below(random, shape.ranks);
  const std::int64_t host = below(random, shape.hosts());
  switch (number % 6) {
    case 1:
      shape.faults.slow_rank = rank;
      return {"cluster_slow_rank", fmt::format("rank {} (", rank), {}};
    case 2:
      shape.faults.slow_host = host;
      // A slow host's ranks also compute longer.
      return {"cluster_slow_host", fmt::format("node-{:04} (", host), {"cluster_uneven_compute"}};
    case 3: {
      // The slow link leads to the rank's neighbour on the same host.
      const std::int64_t first = shape.host_number(rank) * shape.ranks_per_host;
      const std::int64_t target = first + (rank - first + 1) % shape.ranks_per_host;
      shape.faults.slow_link = {rank, target};
      return {"cluster_slow_link", fmt::format("rank {} -> rank {} (", rank, target), {}};
    }
    case 4:
      // With two hosts it is unknown which clock is wrong: offsets are relative to the lowest host.
      shape.faults.late_host = 1 + below(random, shape.hosts() - 1);
      shape.faults.offset_us = (below(random, 2) == 0 ? 1 : -1) * (1500 + below(random, 500'000));
      return {"cluster_clock_offset", fmt::format("node-{:04}", shape.faults.late_host), {}};
    case 5:
      shape.faults.growing = true;
      return {"cluster_growing_step", "", {}};
    default:
      return {};
  }
}

void advise_once(std::uint64_t number, SoakRandom& random, SoakReport& report) {
  ClusterShape shape;
  const std::uint64_t round = number / 6;  // each round has all six kinds
  shape.ranks = round % 8 == 7 ? 1024 : round % 3 == 2 ? 64 : 8;
  shape.ranks_per_host = shape.ranks == 8 ? 4 : 8;
  shape.steps = 6 + below(random, 5);
  shape.seed = random();
  shape.is_parallel = below(random, 2) == 0;
  const Planted planted = plant(number, random, shape);
  const TempFolder folder;
  const std::int64_t detail_rows = below(random, 2) == 0 ? 50'000'000 : 0;
  const auto part = make_cluster(folder.path(), shape, detail_rows);
  const Advice advice = advise(part, builtin_rules());
  const std::string what =
      fmt::format("{} of {} ranks{}", planted.rule.empty() ? "no fault" : planted.rule, shape.ranks,
                  shape.is_parallel ? ", many groups" : "");
  report.count(what);
  bool is_found = planted.rule.empty();
  for (const AdviceFinding& finding : advice.findings) {
    const std::string& rule = finding.rule->id;
    if (rule == planted.rule) {
      const std::string& name = finding.evidence.front().name;
      is_found = finding.evidence_count == 1 && name.starts_with(planted.evidence);
      if (!is_found) report.fail(number, fmt::format("{}: {}", what, finding.title.en));
    } else if (!planted.besides.contains(rule)) {
      report.fail(number, fmt::format("{}: false alarm: {}", what, finding.title.en));
    }
  }
  if (!is_found) report.fail(number, what + ": not found");
  for (const RuleWithoutData& one : advice.without_data)
    report.fail(number, fmt::format("{}: {} has no data: {}", what, one.rule->id, one.reason.en));
}

}  // namespace

int main(int argc, char** argv) {
  return run_soak(argc, argv, "cluster_advice", 300, advise_once);
}
