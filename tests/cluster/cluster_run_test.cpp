// The generator of ranks: planted faults are visible at the planted place, and only there.
#include "support/ranks/cluster_run.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <map>

using namespace msprof::test::ranks;

namespace {

ClusterShape played_shape(std::int64_t ranks = 16) {
  ClusterShape shape;
  shape.ranks = ranks;
  shape.steps = 6;
  shape.collectives = 8;
  shape.seed = 5;
  return shape;
}

using EachPart = std::function<void(std::int64_t rank, std::int64_t step, std::int64_t at,
                                    const RankCollective& part)>;
void for_each_part(const ClusterRun& run, const EachPart& each) {
  const ClusterShape& shape = run.shape();
  for (std::int64_t step = 0; step < shape.steps; ++step) {
    for (std::int64_t at = 0; at < shape.collectives; ++at) {
      for (std::int64_t rank = 0; rank < shape.ranks; ++rank)
        if (run.takes_part(rank, at)) each(rank, step, at, run.collective(rank, step, at));
    }
  }
}

// Counts how often each rank arrived last at a collective of all ranks.
std::map<std::int64_t, int> last_ones(const ClusterRun& run) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<std::int64_t, std::int64_t>> last;
  for_each_part(
      run, [&](std::int64_t rank, std::int64_t step, std::int64_t at, const RankCollective& part) {
        if (part.group != "group_world") return;
        auto& latest = last[{step, at}];
        latest = std::max(latest, {part.arrive, rank});
      });
  std::map<std::int64_t, int> counts;
  for (const auto& [key, latest] : last) ++counts[latest.second];
  return counts;
}

}  // namespace

TEST_CASE("ranks of a collective wait for the last, transfer, and end together") {
  for (const bool is_parallel : {false, true}) {
    ClusterShape shape = played_shape();
    shape.is_parallel = is_parallel;
    const ClusterRun run(shape);
    std::map<std::tuple<std::int64_t, std::int64_t, std::string>, std::vector<RankCollective>> all;
    std::map<std::int64_t, std::int64_t> before;
    for_each_part(run, [&](std::int64_t rank, std::int64_t step, std::int64_t at,
                           const RankCollective& part) {
      REQUIRE(part.arrive > before[rank]);
      REQUIRE(part.arrive + 1000 <= part.all_there);
      REQUIRE(part.all_there + part.transit_ns() + 1000 <= part.end);
      before[rank] = part.end;
      if (!part.is_point_to_point()) all[{step, at, part.group}].push_back(part);
    });
    for (const auto& [key, parts] : all) {
      REQUIRE(static_cast<std::int64_t>(parts.size()) == parts.front().rank_count);
      const auto [first, last] = std::minmax_element(
          parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.end < b.end; });
      REQUIRE(last->end - first->end < 2000);
      REQUIRE(std::all_of(
          parts.begin(), parts.end(), [&front = parts.front()](const RankCollective& part) {
            return part.all_there == front.all_there && part.arrive < part.all_there;
          }));
    }
    CHECK(all.size() == (is_parallel ? std::size_t{6 * (5 * 2 + 1 * 8 + 1)} : std::size_t{6 * 7}));
  }
}

TEST_CASE("without a fault ranks come last in turn; a slow one always does") {
  ClusterShape shape = played_shape();
  const auto clean = last_ones(ClusterRun(shape));
  CHECK(clean.size() > 8);
  for (const auto& [rank, count] : clean) CHECK(count < 42 / 3);
  shape.faults.slow_rank = 11;
  CHECK(last_ones(ClusterRun(shape)) == std::map<std::int64_t, int>{{11, 42}});
  shape.faults = {};
  shape.faults.slow_host = 1;
  for (const auto& [rank, count] : last_ones(ClusterRun(shape))) CHECK(rank >= 8);
  shape.faults = {};
  shape.faults.low_frequency_rank = 3;
  const ClusterRun low(shape);
  CHECK(last_ones(low) == std::map<std::int64_t, int>{{3, 42}});
  CHECK(low.frequency_mhz(3) < low.frequency_mhz(4));
}

TEST_CASE("a slow link takes longer in its direction alone") {
  ClusterShape shape = played_shape();
  shape.faults.slow_link = {2, 10};  // a link across hosts
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<std::int64_t, std::int64_t>> links;
  for_each_part(ClusterRun(shape),
                [&](std::int64_t rank, std::int64_t, std::int64_t, const RankCollective& part) {
                  for (const Transfer& one : part.transfers) {
                    auto& [bytes, ns] = links[{rank, one.peer}];
                    bytes += one.size;
                    ns += one.duration_ns;
                    CHECK((one.link == kRoceLink) == (rank / 8 != one.peer / 8));
                  }
                });
  const auto rate = [&](std::int64_t from, std::int64_t to) {
    const auto& [bytes, ns] = links.at({from, to});
    return static_cast<double>(bytes) / static_cast<double>(ns);
  };
  CHECK(rate(2, 10) * 4 < rate(3, 11));
  CHECK(rate(10, 2) == Approx(rate(3, 11)).epsilon(0.1));
  CHECK(rate(2, 3) > rate(3, 11));  // HCCS is faster
  shape.faults.slow_link = {2, 11};
  CHECK_THROWS(ClusterRun(shape));
}

TEST_CASE("growing steps, clock offsets and the seed only apply if requested") {
  ClusterShape shape = played_shape();
  const auto step_ns = [&](std::int64_t step) {
    const ClusterRun run(shape);
    return run.step_end(0, step) - run.step_begin(0, step);
  };
  CHECK(step_ns(5) < step_ns(0) * 105 / 100);
  shape.faults.growing = true;
  CHECK(step_ns(5) > step_ns(0) * 110 / 100);
  shape.faults.late_host = 1;
  shape.faults.offset_us = 250;
  CHECK(shape.clock_error_ns(7) == 0);
  CHECK(shape.clock_error_ns(8) == 250'000);
  const auto seeded_end = [&](std::uint64_t seed) {
    shape.seed = seed;
    return ClusterRun(shape).step_end(3, 5);
  };
  CHECK(seeded_end(7) == seeded_end(7));
  CHECK(seeded_end(7) != seeded_end(8));
}
