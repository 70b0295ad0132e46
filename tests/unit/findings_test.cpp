#include "base/findings.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <string>

using namespace msprof;

TEST_CASE(
    "every finding has an id of its own, a meaning, and an exit code that fits its severity") {
  std::set<std::string_view> ids;
  for (int i = 0; i < static_cast<int>(FindingId::count_); ++i) {
    const FindingInfo& info = finding_info(static_cast<FindingId>(i));
    CAPTURE(info.id);
    CHECK(ids.insert(info.id).second);
    CHECK_FALSE(info.meaning.empty());
    if (info.severity == Severity::partial) CHECK(info.exit == Exit::partial_data);
    if (info.severity == Severity::error) CHECK(info.exit != Exit::ok);
    if (info.severity < Severity::partial) CHECK(info.exit == Exit::ok);
  }
}

TEST_CASE("an error with an id keeps it and its exit code in every context") {
  if constexpr (static_cast<int>(FindingId::count_) > 0) {
    const auto id = static_cast<FindingId>(0);
    const Error error = Error(id, "why").with_context("where");
    CHECK(error.what() == std::string("where: why"));
    REQUIRE(error.id());
    CHECK(*error.id() == id);
    CHECK(error.code() == finding_info(id).exit);
  }
}
