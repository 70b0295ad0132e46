#include "base/findings.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <string>

using namespace msprof;

TEST_CASE("every finding has a unique id, a meaning, and an exit code that fits its severity") {
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

TEST_CASE("exactly the findings that make a profile incomplete state what is missing") {
  for (int i = 0; i < static_cast<int>(FindingId::count_); ++i) {
    const auto id = static_cast<FindingId>(i);
    const FindingInfo& info = finding_info(id);
    CAPTURE(info.id);
    // For unread files and records the kind of the finding already names what is missing.
    const bool is_unread = id == FindingId::unread_kind || id == FindingId::unread_records;
    CHECK(info.lacks.empty() == (info.severity != Severity::without || is_unread));
  }
}

TEST_CASE("the doctor has a remedy for all damage, but not for findings of commands") {
  for (int i = 0; i < static_cast<int>(FindingId::count_); ++i) {
    const FindingInfo& info = finding_info(static_cast<FindingId>(i));
    CAPTURE(info.id);
    if (info.severity == Severity::partial) CHECK(info.remedy);
    if (info.severity > Severity::partial) CHECK_FALSE(info.remedy);
    if (!info.cause.empty()) CHECK(info.remedy);
    if (info.severity > Severity::partial) CHECK(info.category == Category::other);
  }
}

TEST_CASE("a finding can be looked up by its id") {
  for (int i = 0; i < static_cast<int>(FindingId::count_); ++i) {
    const auto id = static_cast<FindingId>(i);
    CHECK(find_finding(finding_info(id).id) == id);
  }
  CHECK_FALSE(find_finding(""));
  CHECK_FALSE(find_finding("no_such_finding"));
}

TEST_CASE("an error keeps its id and exit code when context is added") {
  if constexpr (static_cast<int>(FindingId::count_) > 0) {
    const auto id = static_cast<FindingId>(0);
    const Error error = Error(id, "why").with_context("where");
    CHECK(error.what() == std::string("where: why"));
    REQUIRE(error.id());
    CHECK(*error.id() == id);
    CHECK(error.code() == finding_info(id).exit);
  }
}
