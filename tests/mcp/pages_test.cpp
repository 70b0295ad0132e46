// Pages of a document: nothing is lost, no page is too large, and each makes progress.
#include "mcp/pages.hpp"

#include <catch2/catch.hpp>

using msprof::mcp::cut_page;
using nlohmann::ordered_json;

namespace {

std::size_t bytes_of(const ordered_json& document) {
  return msprof::mcp::answer_bytes(document.dump());
}

std::vector<ordered_json> all_pages(const ordered_json& document, std::size_t bytes) {
  std::vector<ordered_json> pages;
  std::optional<std::size_t> from = 0;
  while (from) {
    const auto page = cut_page(document, *from, bytes);
    CHECK(bytes_of(page.document) <= bytes);
    pages.push_back(page.document);
    REQUIRE(pages.size() < 5000);
    if (page.next) REQUIRE(*page.next > *from);
    from = page.next;
  }
  return pages;
}

ordered_json sample() {
  ordered_json rows = ordered_json::array();
  for (int i = 0; i < 300; ++i) rows.push_back({i, "row \"" + std::to_string(i) + "\""});
  const ordered_json table = {{"name", "op_summary"},
                              {"columns", {"number", "text"}},
                              {"rows", rows},
                              {"after", "the rows"}};
  return {{"schema", "test/1"},
          {"captures", ordered_json::array({{{"folder", "/data/JOBA"},
                                             {"tables", ordered_json::array({table, table})}}})},
          {"exit_code", 0}};
}

}  // namespace

TEST_CASE("a document that fits is one page") {
  const ordered_json document = sample();
  const auto page = cut_page(document, 0, 1'000'000);
  CHECK(page.document == document);
  CHECK_FALSE(page.next);
}

TEST_CASE("pages contain each row once, in order, with the names of what continues") {
  const auto pages = all_pages(sample(), 3000);
  REQUIRE(pages.size() > 4);
  std::vector<int> seen;
  for (const ordered_json& page : pages) {
    if (!page.contains("captures")) continue;
    const ordered_json& capture = page["captures"][0];
    CHECK(capture["folder"] == "/data/JOBA");
    for (const ordered_json& table : capture["tables"]) {
      CHECK(table["name"] == "op_summary");
      if (!table.contains("rows")) continue;
      CHECK(table["columns"] == ordered_json::array({"number", "text"}));
      for (const ordered_json& row : table["rows"]) seen.push_back(row[0]);
    }
  }
  REQUIRE(seen.size() == 600);
  for (int i = 0; i < 600; ++i) REQUIRE(seen[static_cast<std::size_t>(i)] == i % 300);
  CHECK(pages.back()["exit_code"] == 0);
}

TEST_CASE("a text that is longer than a page is cut at a character") {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "ä\"";
  const auto pages = all_pages({{"before", 1}, {"text", text}, {"after", 2}}, 2000);
  std::string shown;
  for (const ordered_json& page : pages)
    if (page.contains("text")) shown = page["text"];
  CHECK(shown.starts_with("ä\"ä\""));
  CHECK(shown.ends_with("…"));
  CHECK(shown.size() > 500);
  CHECK(pages.back()["after"] == 2);
}

TEST_CASE("members with very long names are left out") {
  const ordered_json document = {{std::string(5000, 'n'), {{"x", std::string(500, 'x')}}},
                                 {"after", 2}};
  const auto pages = all_pages(document, 1500);
  CHECK(pages.size() == 1);
  CHECK(pages.back()["after"] == 2);
}

TEST_CASE("a position behind the end gives an empty last page") {
  const auto page = cut_page(sample(), 1'000'000, 3000);
  CHECK(page.document.empty());
  CHECK_FALSE(page.next);
}
