// Host clocks: computes offsets relative to the lowest host from collectives.
#include "cluster/clocks.hpp"

#include <catch2/catch.hpp>

#include "cluster/collective_scene.hpp"

using namespace msprof;
using namespace msprof::cluster;
using test::Arrival;

namespace {

// Four ranks, each on a separate host.
struct ClockScene {
  test::SceneNames names;
  std::vector<MemberRow> members =
      test::members_on(names, {"host_a", "host_b", "host_c", "host_d"});
  ClockEstimator estimator{names.texts};
  std::int64_t at = 1'700'000'000'000'000'000;

  // Adds a collective of ranks with these clock errors, which transfers for `transfer_ns`.
  void add(const std::vector<std::pair<std::int64_t, std::int64_t>>& rank_and_error,
           std::int64_t transfer_ns = 10'000, std::string_view operation = "hcom_allReduce_") {
    at += 1'000'000;
    std::vector<Arrival> ranks;
    for (const auto& [rank, error_ns] : rank_and_error)
      ranks.push_back({rank, at + error_ns, at + error_ns + transfer_ns});
    estimator.add(test::collective(names, members, 1, at, ranks, "g1", operation));
  }
  HostClock clock(std::string_view host) const {
    const HostClocks clocks = estimator.finish(members);
    for (const HostClock& one : clocks.hosts())
      if (one.host_name_id == names.id(host)) return one;
    FAIL("no such host");
    return {};
  }
};

}  // namespace

TEST_CASE("The offset of a host is the median difference of ends, with their spread") {
  ClockScene scene;
  for (const std::int64_t noise : {300, 100, 200, 500, 400})
    scene.add({{0, 0}, {1, 7'000'000 + noise}, {2, -250}});
  const HostClock a = scene.clock("host_a");
  CHECK(a.state == ClockState::reference);
  CHECK(a.offset_ns == 0);
  const HostClock b = scene.clock("host_b");
  CHECK(b.state == ClockState::aligned);
  CHECK(b.offset_ns == 7'000'300);
  CHECK(b.spread_ns == 400);
  CHECK(b.collective_count == 5);
  CHECK(b.over_host_name_id == a.host_name_id);
  CHECK(scene.clock("host_c").offset_ns == -250);
  CHECK(scene.clock("host_c").spread_ns == 0);

  const HostClocks clocks = scene.estimator.finish(scene.members);
  CHECK(clocks.aligned_ns(b.host_name_id, 1'000'000'000) == 992'999'700);
  CHECK(clocks.aligned_ns(b.host_name_id, kNull) == kNull);
  CHECK(clocks.aligned_ns(scene.names.id("host_d"), 1'000'000'000) == kNull);
  CHECK(clocks.aligned_ns(kNull, 1) == kNull);
}

TEST_CASE("A host without common collectives is aligned through another host") {
  ClockScene scene;
  for (int i = 0; i < 4; ++i) scene.add({{0, 0}, {2, 1000}});
  for (int i = 0; i < 4; ++i) scene.add({{2, 1000}, {3, -500}});
  const HostClock d = scene.clock("host_d");
  CHECK(d.state == ClockState::aligned);
  CHECK(d.offset_ns == -500);
  CHECK(d.over_host_name_id == scene.names.id("host_c"));
  CHECK(scene.clock("host_b").state == ClockState::apart);
  CHECK(scene.clock("host_b").offset_ns == kNull);
}

TEST_CASE("Too few common collectives give no alignment") {
  ClockScene scene;
  scene.add({{0, 0}, {1, 10}});
  scene.add({{0, 0}, {1, 10}});
  CHECK(scene.clock("host_b").state == ClockState::too_few);
  CHECK(scene.clock("host_b").collective_count == 2);
  scene.add({{0, 0}, {1, 10}});
  CHECK(scene.clock("host_b").state == ClockState::aligned);
}

TEST_CASE("Ends that vary by more than the duration of collectives are refused") {
  const auto state_at = [](std::int64_t transfer_ns) {
    ClockScene scene;
    for (std::int64_t i = 0; i < 20; ++i) scene.add({{0, 0}, {1, i * 20'000}}, transfer_ns);
    return scene.clock("host_b");
  };
  CHECK(state_at(10'000).state == ClockState::scattered);
  CHECK(state_at(10'000).offset_ns == kNull);
  CHECK(state_at(10'000).spread_ns == 360'000);
  CHECK(state_at(360'000).state == ClockState::aligned);
}

TEST_CASE("A host with contradicting paths to the reference is refused, with those after it") {
  ClockScene scene;
  for (int i = 0; i < 4; ++i) scene.add({{0, 0}, {1, 1000}});
  for (int i = 0; i < 4; ++i) scene.add({{0, 0}, {2, 1000}});
  for (int i = 0; i < 4; ++i) scene.add({{2, 0}, {3, 0}});
  CHECK(scene.clock("host_d").state == ClockState::aligned);
  // Hosts b and c have the same offset to a, yet differ from each other by a millisecond.
  for (int i = 0; i < 4; ++i) scene.add({{1, 0}, {2, 1'000'000}});
  CHECK(scene.clock("host_b").state == ClockState::aligned);
  CHECK(scene.clock("host_c").state == ClockState::contradicting);
  CHECK(scene.clock("host_d").state == ClockState::contradicting);
  CHECK(scene.clock("host_d").offset_ns == kNull);
}

TEST_CASE("Operations without a common end are not used to align clocks") {
  ClockScene scene;
  for (int i = 0; i < 9; ++i) {
    scene.add({{0, 0}, {1, 500}}, 10'000, "hcom_send_");
    scene.add({{0, 0}, {1, 500}}, 10'000, "hcom_broadcast_");
  }
  CHECK(scene.clock("host_b").state == ClockState::apart);
}

TEST_CASE("Many collectives are sampled evenly") {
  ClockScene scene;
  // The clock drifts, so the kept collectives must cover the whole run.
  for (std::int64_t i = 0; i < 20'000; ++i) scene.add({{0, 0}, {1, 2 * i}}, 10'000);
  const HostClock b = scene.clock("host_b");
  CHECK(b.collective_count == 20'000);
  CHECK(b.offset_ns == Approx(20'000).margin(400));
  CHECK(b.spread_ns == Approx(36'000).margin(800));
}

TEST_CASE("A single host is the reference; without hosts there is no clock") {
  const test::SceneNames names;
  const ClockEstimator estimator(names.texts);
  const auto one = estimator.finish(test::members_on(names, {"host_c", "host_c"}));
  REQUIRE(one.hosts().size() == 1);
  CHECK(one.offset_ns(names.id("host_c")) == 0);
  CHECK(estimator.finish({}).hosts().empty());
  CHECK(estimator.finish(test::members_on(names, {"no such text"})).hosts().empty());
}

TEST_CASE("Extreme times are handled") {
  ClockScene scene;
  for (int i = 0; i < 3; ++i) {
    Collective one = test::collective(scene.names, scene.members, 1, i, {{0, 0, 1}, {1, 0, 1}});
    one.hosts[0].last_end_ns = INT64_MIN + 1;
    one.hosts[1].last_end_ns = INT64_MAX;
    scene.estimator.add(one);
    one.total.operation_name_id = INT64_MAX;
    scene.estimator.add(one);
  }
  CHECK(scene.clock("host_b").offset_ns == INT64_MAX);
  CHECK(scene.estimator.finish(scene.members).aligned_ns(scene.names.id("host_b"), -5) ==
        INT64_MIN);
}
