// Sets of ranks as written in manifests.
#include "cluster/rank_set.hpp"

#include <catch2/catch.hpp>

namespace msprof::cluster {

namespace {

std::string parsed_text(std::string_view text) {
  const auto set = RankSet::parse(text);
  return set ? set->text() : "refused";
}

}  // namespace

TEST_CASE("a manifest lists ranks by numbers and ranges, in any order") {
  CHECK(parsed_text("") == "");
  CHECK(parsed_text("5") == "5");
  CHECK(parsed_text("0-3,4") == "0-4");
  CHECK(parsed_text(" 8-9\t1,\r\n0 # the host\n\n10") == "0-1,8-10");
  CHECK(parsed_text("3-5,4-9,20,0-100") == "0-100");
  CHECK(parsed_text("9999999") == "9999999");
  CHECK(parsed_text("# 0-63") == "");
}

TEST_CASE("a manifest with other content is refused") {
  for (const char* text : {"x", "-1", "1-", "-", "3-2", "1-2-3", "0x10", "10000000", "1.5", "1;2",
                           "99999999999999999999", "0-10000000", "+1"}) {
    INFO(text);
    CHECK(parsed_text(text) == "refused");
  }
}

TEST_CASE("ranks are added, removed and counted") {
  RankSet set;
  CHECK(set.empty());
  set.add(10, 20);
  set.add(22);
  set.add(21);
  CHECK(set.text() == "10-22");
  set.remove(15);
  set.remove(10);
  set.remove(22);
  set.remove(15);
  set.remove(100);
  CHECK(set.text() == "11-14,16-21");
  CHECK(set.count() == 10);
  set.add(-5, 2);
  set.add(RankSet::kMaxRank, INT64_MAX);
  CHECK(set.text() == "0-2,11-14,16-21,9999999");
  set.add(5, 4);
  CHECK(set.count() == 14);
  CHECK(set.text(2) == "0-2,11-14 and 7 more");
  RankSet other;
  other.add(15);
  set.add(other);
  CHECK(set.text() == "0-2,11-21,9999999");
}

}  // namespace msprof::cluster
