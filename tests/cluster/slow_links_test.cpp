// Slow links: finds links that are slower than comparable ones, from sums of transfers.
#include "cluster/slow_links.hpp"

#include <catch2/catch.hpp>

#include "cluster/collective_scene.hpp"

using namespace msprof;
using namespace msprof::cluster;

namespace {

constexpr std::int64_t kMebi = 1 << 20;

// A link of a group that transfers 16 MiB at `bytes_per_us`.
LinkRow link_row(const test::SceneNames& names, std::int64_t source, std::int64_t target,
                 std::int64_t bytes_per_us) {
  LinkRow row;
  row.step = 1;
  row.group_name_id = names.id("g1");
  row.operation_name_id = names.id("hcom_allReduce_");
  row.member_id = source + 1;
  row.source_rank = source;
  row.target_rank = target;
  row.link_type = 1;
  row.transport_type = 0;
  row.size_class = 20;
  row.count = 16;
  row.size_bytes = 16 * kMebi;
  row.duration_ns = row.size_bytes * 1000 / bytes_per_us;
  return row;
}

struct LinkScene {
  test::SceneNames names;
  SlowLinkFinder finder{test::make_group(names, "g1", {7, 6, 5, 4})};  // local rank 0 is rank 7

  // Adds links between all four ranks at about 20 GB/s, except the link from 0 to 2.
  void add_others() {
    for (std::int64_t a = 0; a < 4; ++a) {
      for (std::int64_t b = 0; b < 4; ++b) {
        if (a != b && (a != 0 || b != 2)) finder.add(link_row(names, a, b, 20'000 + 100 * (a + b)));
      }
    }
  }
};

}  // namespace

TEST_CASE("A link much slower than others of its kind is reported with its ranks") {
  LinkScene scene;
  scene.add_others();
  scene.finder.add(link_row(scene.names, 0, 2, 5'000));
  const auto slow = scene.finder.finish();
  REQUIRE(slow.size() == 1);
  CHECK(slow[0].source.member_id == 8);
  CHECK(slow[0].target.member_id == 6);
  CHECK(slow[0].link_type == 1);
  CHECK(slow[0].size_class == 20);
  CHECK(slow[0].bytes_per_s == Approx(5e9));
  CHECK(slow[0].median_bytes_per_s == Approx(20.3e9).epsilon(0.01));
  CHECK(slow[0].link_count == 12);
  CHECK(slow[0].count == 16);
  CHECK(slow[0].size_bytes == 16 * kMebi);
  // 16 MiB take 3355 us at 5 GB/s, and 826 us at 20.3 GB/s.
  CHECK(slow[0].lost_ns == Approx(3'355'443 - 826'464).epsilon(0.01));
}

TEST_CASE("A slightly slower link is not reported, nor are links that all differ") {
  LinkScene scene;
  scene.add_others();
  scene.finder.add(link_row(scene.names, 0, 2, 14'000));
  CHECK(scene.finder.finish().empty());
  SlowLinkFinder varied(test::make_group(scene.names, "g1", {0, 1, 2, 3}));
  std::int64_t rate = 4'000;
  for (std::int64_t a = 0; a < 4; ++a)
    for (std::int64_t b = 0; b < 4; ++b)
      if (a != b) varied.add(link_row(scene.names, a, b, rate += 3'000));
  CHECK(varied.finish().empty());
}

TEST_CASE("Links are only compared with links of the same type, transport and size") {
  LinkScene scene;
  scene.add_others();
  LinkRow other = link_row(scene.names, 0, 2, 5'000);
  SECTION("link type") {
    other.link_type = 3;
  }
  SECTION("transport") {
    other.transport_type = 1;
  }
  SECTION("size") {
    other.size_class = 21;
  }
  scene.finder.add(other);
  CHECK(scene.finder.finish().empty());
}

TEST_CASE("Few bytes, transfers and links give no result") {
  LinkScene scene;
  scene.add_others();
  LinkRow slow = link_row(scene.names, 0, 2, 1'000);
  SECTION("bytes") {
    slow.size_bytes = kMebi - 1;
  }
  SECTION("transfers") {
    slow.count = 2;
  }
  SECTION("to itself") {
    slow.target_rank = 0;
  }
  SECTION("no time") {
    slow.duration_ns = 0;
  }
  SECTION("no peer") {
    slow.target_rank = kNull;
  }
  scene.finder.add(slow);
  CHECK(scene.finder.finish().empty());
  SlowLinkFinder three(test::make_group(scene.names, "g1", {0, 1, 2, 3}));
  three.add(link_row(scene.names, 0, 1, 20'000));
  three.add(link_row(scene.names, 1, 2, 20'000));
  three.add(link_row(scene.names, 2, 3, 1'000));
  CHECK(three.finish().empty());
  three.add(link_row(scene.names, 3, 0, 20'000));
  CHECK(three.finish().size() == 1);
}

TEST_CASE("A link that is slow in one size, but usually not, is not reported") {
  LinkScene scene;
  scene.add_others();
  scene.finder.add(link_row(scene.names, 0, 2, 5'000));
  for (std::int64_t a = 0; a < 4; ++a) {
    for (std::int64_t b = 0; b < 4; ++b) {
      LinkRow large = link_row(scene.names, a, b, 20'000);
      large.size_class = 26;
      large.size_bytes *= 8;
      large.duration_ns *= 8;
      if (a != b) scene.finder.add(large);
    }
  }
  CHECK(scene.finder.finish().empty());
}

TEST_CASE("An unknown rank of the group is reported by its number in the group") {
  test::SceneNames names;
  SlowLinkFinder finder(test::make_group(names, "g1", {0, 1, 2}));  // the fourth is missing
  for (std::int64_t a = 0; a < 3; ++a)
    for (std::int64_t b = 0; b < 4; ++b)
      if (a != b) finder.add(link_row(names, a, b, a == 1 && b == 3 ? 4'000 : 20'000));
  const auto slow = finder.finish();
  REQUIRE(slow.size() == 1);
  CHECK(slow[0].source.member_id == 2);
  CHECK(slow[0].target.member_id == kNull);
  CHECK(slow[0].target.group_name_id == names.id("g1"));
  CHECK(slow[0].target.local_rank == 3);
}

TEST_CASE("Extreme numbers are handled") {
  test::SceneNames names;
  auto groups = test::make_group(names, "g1", {0, 1, 2, 3});
  groups[1].member_id = INT64_MIN + 1;
  SlowLinkFinder finder(groups);
  for (std::int64_t a = 0; a < 4; ++a) {
    for (std::int64_t b = 0; b < 4; ++b) {
      LinkRow row = link_row(names, a, b, 20'000);
      row.size_bytes = INT64_MAX;
      row.count = INT64_MAX;
      row.duration_ns = a == 1 ? INT64_MAX : 1;
      finder.add(row);
      finder.add(row);
    }
  }
  CHECK(finder.finish().size() == 3);
}
