// Slow ranks and hosts: finds stragglers and the cause of their delay from collectives and steps.
#include "cluster/stragglers.hpp"

#include <catch2/catch.hpp>

#include <functional>

#include "cluster/collective_scene.hpp"

using namespace msprof;
using namespace msprof::cluster;
using test::Arrival;

namespace {

constexpr std::int64_t kUs = 1000;

// By default eight ranks on two hosts, in one group, for ten steps of four collectives. Each rank
// computes for 100 us before each collective; `late` is the additional time of a rank.
struct StragglerScene {
  using Late = std::function<std::int64_t(std::int64_t step, std::int64_t rank, std::int64_t at)>;

  test::SceneNames names;
  std::vector<std::string> hosts = {"host_a", "host_a", "host_a", "host_a",
                                    "host_b", "host_b", "host_b", "host_b"};
  // The ranks in the collectives of each group.
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> groups = {
      {"g1", {0, 1, 2, 3, 4, 5, 6, 7}}};
  Late late = [](std::int64_t, std::int64_t, std::int64_t) { return 0; };
  std::string operation = "hcom_allReduce_";
  bool late_is_free = false;  // the delay is free time, not computing
  bool has_steps = true;

  // Shifts each rank by up to a few us, differently in each collective.
  static std::int64_t noise(std::int64_t step, std::int64_t rank, std::int64_t at) {
    return (step * 7 + rank * 5 + at * 11 + rank * at) % 8 * 400;
  }

  Stragglers found() const {
    const auto members = test::members_on(names, hosts);
    std::vector<GroupMemberRow> rows;
    for (const auto& [group, ranks] : groups)
      for (const GroupMemberRow& row : test::make_group(names, group, ranks)) rows.push_back(row);
    StragglerFinder finder(names.texts, members, rows);
    std::vector<std::vector<RankStepRow>> steps;
    std::vector<std::int64_t> ready(members.size(), 0);
    for (std::int64_t step = 1; step <= 10; ++step) {
      steps.emplace_back(members.size());
      for (std::int64_t at = 0; at < 4; ++at) {
        for (const auto& [group, ranks] : groups)
          meet(finder, members, step, at, group, ranks, ready, steps.back());
      }
    }
    for (auto& step : steps)
      if (has_steps) finder.add_step(step);
    return finder.finish();
  }

 private:
  void meet(StragglerFinder& finder, const std::vector<MemberRow>& members, std::int64_t step,
            std::int64_t at, const std::string& group, const std::vector<std::int64_t>& ranks,
            std::vector<std::int64_t>& ready, std::vector<RankStepRow>& rows) const {
    std::int64_t last = 0;
    for (const std::int64_t rank : ranks) {
      const auto place = static_cast<std::size_t>(rank);
      const std::int64_t extra = late(step, rank, at);
      const std::int64_t computing = 100 * kUs + noise(step, rank, at) + (late_is_free ? 0 : extra);
      ready[place] += computing + (late_is_free ? extra : 0);
      rows[place].step = step;
      rows[place].member_id = rank + 1;
      rows[place].computing_ns += computing;
      rows[place].free_ns += late_is_free ? extra : 0;
      last = std::max(last, ready[place]);
    }
    std::vector<Arrival> arrivals;
    for (const std::int64_t rank : ranks) {
      const auto place = static_cast<std::size_t>(rank);
      arrivals.push_back({rank, ready[place], last + 20 * kUs});
      rows[place].not_overlapped_ns += last + 20 * kUs - ready[place];
      rows[place].duration_ns =
          rows[place].computing_ns + rows[place].free_ns + rows[place].not_overlapped_ns;
      ready[place] = last + 20 * kUs;
    }
    finder.add(test::collective(names, members, step, at, arrivals, group, operation));
  }
};

std::vector<std::int64_t> ranks_in(const Stragglers& found) {
  std::vector<std::int64_t> ranks;
  for (const Straggler& one : found.ranks) ranks.push_back(one.id - 1);
  return ranks;
}

StragglerScene::Late always(std::int64_t slow, std::int64_t ns) {
  return [=](std::int64_t, std::int64_t rank, std::int64_t) { return rank == slow ? ns : 0; };
}

}  // namespace

TEST_CASE("Ranks that are late by chance are not reported") {
  const Stragglers found = StragglerScene().found();
  CHECK(found.ranks.empty());
  CHECK(found.hosts.empty());
}

TEST_CASE("The rank that computes longer is reported, with the waiting time of the others") {
  StragglerScene scene;
  scene.late = always(5, 30 * kUs);
  const Stragglers found = scene.found();
  REQUIRE(ranks_in(found) == std::vector<std::int64_t>{5});
  CHECK(found.hosts.empty());
  const Straggler& rank = found.ranks.front();
  CHECK(rank.cause == LateCause::computing);
  CHECK(rank.votes == 40);
  CHECK(rank.collective_count == 40);
  CHECK(rank.group_name_id == scene.names.id("g1"));
  CHECK(rank.operation_name_id == scene.names.id("hcom_allReduce_"));
  // 30 us in each of 40 collectives, less the random delay of the second-last rank.
  CHECK(rank.delay_ns > 40 * 26 * kUs);
  CHECK(rank.delay_ns <= 40 * 33 * kUs);
  CHECK(rank.wait_ns > 7 * rank.delay_ns);
  CHECK(rank.computing_ns == Approx(40 * 30 * kUs).epsilon(0.1));
  CHECK(rank.free_ns == 0);
}

TEST_CASE("A rank that gets its work late is reported as such") {
  StragglerScene scene;
  scene.late = always(2, 30 * kUs);
  scene.late_is_free = true;
  const Stragglers found = scene.found();
  REQUIRE(ranks_in(found) == std::vector<std::int64_t>{2});
  CHECK(found.ranks.front().cause == LateCause::starting);
  CHECK(found.ranks.front().free_ns == 40 * 30 * kUs);
}

TEST_CASE("Ranks that are only late because of a slow rank are not reported") {
  StragglerScene scene;
  scene.hosts = {"host_a", "host_a", "host_a", "host_b", "host_b",
                 "host_b", "host_c", "host_c", "host_c"};
  scene.groups = {{"g1", {0, 1, 2}}, {"g2", {3, 4, 5}}, {"g3", {6, 7, 8}}};
  for (std::int64_t i = 0; i < 3; ++i) {
    const std::string across = "across_" + std::to_string(i);
    scene.names.texts.add(across);
    scene.groups.push_back({across, {i, i + 3, i + 6}});
  }
  scene.late = always(4, 40 * kUs);
  const Stragglers found = scene.found();
  CHECK(ranks_in(found) == std::vector<std::int64_t>{4});
  CHECK(found.hosts.empty());
}

TEST_CASE("A host with only slow ranks is reported instead of its ranks") {
  const auto on = [](std::int64_t first, std::int64_t last) {
    return [=](std::int64_t, std::int64_t rank, std::int64_t) {
      return rank >= first && rank <= last ? 30 * kUs : 0;
    };
  };
  StragglerScene scene;
  SECTION("of two hosts") {
    scene.late = on(4, 7);
    const Stragglers found = scene.found();
    CHECK(found.ranks.empty());
    REQUIRE(found.hosts.size() == 1);
    CHECK(found.hosts.front().id == scene.names.id("host_b"));
    CHECK(found.hosts.front().votes == 40);
    CHECK(found.hosts.front().cause == LateCause::computing);
  }
  SECTION("of four hosts") {
    scene.hosts = {"host_a", "host_a", "host_b", "host_b", "host_c", "host_c", "host_d", "host_d"};
    scene.late = on(2, 3);
    const Stragglers found = scene.found();
    CHECK(found.ranks.empty());
    REQUIRE(found.hosts.size() == 1);
    CHECK(found.hosts.front().id == scene.names.id("host_b"));
  }
  SECTION("with one group per rank across hosts") {
    scene.hosts = {"host_a", "host_a", "host_b", "host_b", "host_c", "host_c"};
    scene.groups = {{"g1", {0, 2, 4}}, {"g2", {1, 3, 5}}};
    scene.late = on(2, 3);
    const Stragglers found = scene.found();
    CHECK(found.ranks.empty());
    REQUIRE(found.hosts.size() == 1);
    CHECK(found.hosts.front().id == scene.names.id("host_b"));
  }
}

TEST_CASE("One slow rank does not make its host slow") {
  StragglerScene scene;
  scene.groups = {{"g1", {0, 4}}, {"g2", {1, 5}}, {"g3", {0, 1, 2, 3, 4, 5, 6, 7}}};
  scene.late = always(5, 30 * kUs);
  const Stragglers found = scene.found();
  CHECK(ranks_in(found) == std::vector<std::int64_t>{5});
  CHECK(found.hosts.empty());
}

TEST_CASE("Of two ranks the one that is nearly always last is reported if it computes longer") {
  StragglerScene scene;
  scene.hosts = {"host_a", "host_b"};
  scene.groups = {{"g1", {0, 1}}};
  CHECK(ranks_in(scene.found()).empty());
  scene.late = always(1, 20 * kUs);
  CHECK(ranks_in(scene.found()) == std::vector<std::int64_t>{1});
}

TEST_CASE("A rank that is very late in only one step is not a slow rank") {
  StragglerScene scene;
  scene.late = [](std::int64_t step, std::int64_t rank, std::int64_t) {
    return rank == 3 && step == 4 ? 500 * kUs : 0;
  };
  CHECK(scene.found().ranks.empty());
}

TEST_CASE("A delay below 1 % of the steps or caused by others is not reported") {
  StragglerScene scene;
  scene.late = always(5, 3 * kUs);
  CHECK(scene.found().ranks.empty());
  // Late in each collective; without step data the cause is unknown.
  scene.late = always(5, 30 * kUs);
  scene.has_steps = false;
  const Stragglers found = scene.found();
  REQUIRE(ranks_in(found) == std::vector<std::int64_t>{5});
  CHECK(found.ranks.front().cause == LateCause::unknown);
  CHECK(found.ranks.front().computing_ns == kNull);
}

TEST_CASE("Send, receive and broadcast are not counted as votes") {
  StragglerScene scene;
  scene.late = always(5, 30 * kUs);
  for (const char* operation : {"hcom_send_", "hcom_broadcast_"}) {
    scene.operation = operation;
    CHECK(scene.found().ranks.empty());
  }
}

TEST_CASE("Rows that contradict each other do no harm") {
  const test::SceneNames names;
  const auto members = test::members_on(names, {"host_a", "host_b", "host_c"});
  auto groups = test::make_group(names, "g1", {0, 1, 2});
  groups.front().member_id = 99;
  groups.back().member_id = -7;
  StragglerFinder finder(names.texts, members, groups);
  for (std::int64_t i = 0; i < 9; ++i) {
    cluster::Collective one =
        test::collective(names, members, i, 0, {{0, 0, 900}, {1, 0, 900}, {2, 0, 1}});
    one.total.shortest_member[0] = i % 2 == 0 ? 3 : 4000;
    one.total.duration_ns = INT64_MIN;
    for (CollectiveHostRow& host : one.hosts) host.first_start_ns = INT64_MIN + 1;
    finder.add(one);
  }
  RankStepRow row;
  row.member_id = -1;
  row.duration_ns = INT64_MAX;
  finder.add_step(std::vector{row, row});
  row.member_id = 3;
  row.computing_ns = INT64_MAX;
  row.free_ns = INT64_MAX;
  finder.add_step(std::vector{row, row});
  CHECK_NOTHROW(finder.finish());
}
