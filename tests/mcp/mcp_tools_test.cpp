// Each tool of msprof mcp on real captures: the documents of the verbs, pages, limits, and answers
// about data that a capture does not have.
#include <catch2/catch.hpp>
#include <set>

#include "cli/cli_fixture.hpp"
#include "mcp/mcp_client.hpp"
#include "support/prof/prof_run.hpp"
#include "support/ranks/rank_folder.hpp"

using namespace msprof::test;
using nlohmann::json;

namespace {

// A board's capture, and one of an Atlas machine with about 2,000 tasks.
struct McpCaptures {
  TempFolder folder;
  JobBuilder job = make_face(folder.path(), "JOBA");
  std::filesystem::path prof;

  McpCaptures() {
    prof::RunShape shape;
    shape.tasks = 2000;
    prof = prof::make_run(folder.path(), {}, shape).folder;
  }
};

json verb(Words words) {
  words.insert(words.end(), {"--json", "-q"});
  return json::parse(run_msprof(words).out);
}

}  // namespace

TEST_CASE("list and open describe captures as list and query do, and import them") {
  const McpCaptures captures;
  McpClient client({captures.folder.path()});
  CHECK_FALSE(std::filesystem::exists(captures.job.store()));
  const json opened = client.ask("open", {{"path", "JOBA"}, {"max_bytes", 60'000}});
  CHECK(std::filesystem::exists(captures.job.store()));
  CHECK(opened == verb({"query", "-dir", captures.job.folder().string()}));
  client.ask("open", {{"path", captures.prof.string()}});
  std::set<std::string> folders;
  for (const json& page : client.ask_all("list", json::object()))
    for (const json& one : page.value("captures", json::array())) folders.insert(one["folder"]);
  CHECK(folders == std::set{captures.job.folder().string(), captures.prof.string()});
  CHECK(client.ask("list", {{"folder", "JOBA"}, {"max_bytes", 30'000}})["captures"].size() == 1);
}

TEST_CASE("summary, advise and doctor pass on the documents of their verbs") {
  const McpCaptures captures;
  McpClient client({captures.folder.path()});
  const std::string dir = captures.job.folder().string();
  const json summary = client.ask("summary", {{"path", "JOBA"}, {"top", 2}});
  CHECK(summary["schema"] == "msprof.show/2");
  const json& table = summary["captures"][0]["tables"][0];
  CHECK(table["columns"].size() == table["rows"][0].size());
  const json big = {{"path", "JOBA"}, {"max_bytes", 100'000}};
  CHECK(client.ask("advise", big) == verb({"advise", "--lang", "en", "-dir", dir}));
  CHECK(client.ask("doctor", big) == verb({"doctor", "-dir", dir}));
}

TEST_CASE("table gives all rows of a table, with units in the names of its columns") {
  const McpCaptures captures;
  McpClient client({captures.folder.path()});
  json arguments = {
      {"path", captures.prof.filename().string()}, {"name", "task_time"}, {"max_bytes", 60'000}};
  std::vector<json> rows;
  for (const json& page : client.ask_all("table", arguments)) {
    if (!page.contains("captures")) continue;
    const json& tables = page["captures"][0].value("tables", json::array());
    for (const json& table : tables) {
      CHECK(table["name"] == "task_time");
      CHECK_FALSE(table.contains("is_cut"));
      const std::string columns = table["columns"].dump();
      CHECK(contains(columns, "(us)"));
      for (const json& row : table.value("rows", json::array())) rows.push_back(row);
    }
  }
  const json shown = verb({"show", "-dir", captures.prof.string(), "--table", "task_time"});
  const json& expected = shown["captures"][0]["tables"][0];
  REQUIRE(rows.size() == expected["rows"].size());
  CHECK(rows.size() > 1000);
  for (std::size_t i = 0; i < rows.size(); i += 97)
    for (std::size_t column = 0; column < rows[i].size(); ++column)
      REQUIRE(rows[i][column] ==
              expected["rows"][i][expected["columns"][column].get<std::string>()]);
  const json hot = client.ask(
      "table", {{"path", captures.prof.filename().string()}, {"name", "op_statistic"}, {"top", 1}});
  CHECK(hot["captures"][0]["tables"][0]["rows"].size() == 1);
}

TEST_CASE("data that a capture does not have is an answer, a wrong name is an error") {
  const McpCaptures captures;
  McpClient client({captures.folder.path()});
  const json missing = client.ask("table", {{"path", "JOBA"}, {"name", "communication_statistic"}});
  CHECK(contains(missing["cannot_be_answered"], "no data for communication_statistic"));
  CHECK(contains(missing["cannot_be_answered"], "op_summary"));
  CHECK(client.ask("open", {{"path", "JOBX"}}).contains("cannot_be_answered"));
  CHECK(contains(client.ask("cluster", {{"path", "JOBA"}})["cannot_be_answered"], "cluster.db"));
  CHECK(client.ask("layout", {{"paths", {captures.prof.filename().string()}}})
            .contains("cannot_be_answered"));
  std::filesystem::create_directories(captures.folder / "empty");
  CHECK(client.ask("advise", {{"path", "empty"}}).contains("cannot_be_answered"));
  const json wrong = client.call("table", {{"path", "JOBA"}, {"name", "op_sumary"}});
  CHECK(wrong["isError"] == true);
  CHECK(contains(wrong["structuredContent"]["error"], "op_sumary"));
}

TEST_CASE("query answers SQL page by page, without repeating or losing a row") {
  const McpCaptures captures;
  McpClient client({captures.folder.path()});
  const std::string path = captures.prof.filename().string();
  const json one = client.ask("query", {{"path", path}, {"sql", "-- a comment\nSELECT 1 AS one"}});
  CHECK(one["captures"][0]["rows"] == json::parse("[[1]]"));
  CHECK(one["captures"][0]["columns"] == json::array({"one"}));
  const json arguments = {{"path", path},
                          {"sql", "SELECT task_id, op_name FROM v_tasks ORDER BY task_id"},
                          {"max_bytes", 30'000}};
  std::vector<std::int64_t> ids;
  for (const json& page : client.ask_all("query", arguments)) {
    if (!page.contains("captures")) continue;
    for (const json& row : page["captures"][0].value("rows", json::array())) ids.push_back(row[0]);
  }
  const json counted =
      client.ask("query", {{"path", path}, {"sql", "SELECT count(*) FROM v_tasks"}});
  REQUIRE(ids.size() == counted["captures"][0]["rows"][0][0]);
  CHECK(ids.size() > 1000);
  CHECK(std::is_sorted(ids.begin(), ids.end()));
  CHECK(std::adjacent_find(ids.begin(), ids.end()) == ids.end());
  // A long text is cut, and the answers stay small.
  const auto cut = client.ask_all(
      "query", {{"path", path}, {"sql", "SELECT printf('%.*c', 100000, 'x') AS text"}});
  CHECK(std::any_of(cut.begin(), cut.end(),
                    [](const json& page) { return contains(page.dump(), "xxx…"); }));
  const json schema = client.ask("query", {{"path", path}, {"schema", true}});
  CHECK(schema["views"][0]["name"] == "v_ops");
  CHECK(schema.contains("next_cursor"));
}

TEST_CASE("timeline lists what ran in a window, in order") {
  const McpCaptures captures;
  McpClient client({captures.folder.path()});
  const std::string path = captures.prof.filename().string();
  const auto rows_of = [&](json arguments) {
    arguments["path"] = path;
    arguments["max_bytes"] = 100'000;
    std::vector<json> rows;
    for (const json& page : client.ask_all("timeline", arguments))
      if (page.contains("captures"))
        for (const json& row : page["captures"][0].value("rows", json::array()))
          rows.push_back(row);
    return rows;
  };
  const auto all = rows_of(json::object());
  REQUIRE(all.size() > 2000);
  CHECK(all.front()[0].get<double>() >= 0);
  const double middle = all[all.size() / 2][0];
  const auto window = rows_of({{"from_us", middle}, {"to_us", middle + 50}});
  CHECK_FALSE(window.empty());
  CHECK(window.size() < all.size());
  double last = 0;
  for (const json& row : window) {
    CHECK(row[0].get<double>() >= last);
    last = row[0];
    CHECK(row[0].get<double>() < middle + 50);
    if (row[1].is_number()) CHECK(row[0].get<double>() + row[1].get<double>() >= middle - 0.001);
  }
  const auto expected = std::count_if(all.begin(), all.end(), [&](const json& row) {
    const double end = row[0].get<double>() + (row[1].is_number() ? row[1].get<double>() : 0);
    return row[0].get<double>() < middle + 50 && end >= middle;
  });
  CHECK(static_cast<std::ptrdiff_t>(window.size()) == expected);
  for (const json& row : rows_of({{"min_us", 20}})) CHECK(row[1].get<double>() >= 20);
  CHECK(client.call("timeline", {{"path", path}, {"from_us", 5}, {"to_us", 1}})["isError"] == true);
}

TEST_CASE("compare reports changes between captures and between several runs each") {
  const McpCaptures captures;
  make_face(captures.folder.path(), "JOBB");
  McpClient client({captures.folder.path()});
  const json compared = client.ask("compare", {{"base", {"JOBA"}}, {"new", {"JOBB"}}});
  CHECK(compared["schema"] == "msprof.compare/2");
  CHECK(compared["verdict"].is_string());
  CHECK(client.ask("compare", {{"base", {"JOBA", "JOBB"}}, {"new", {"JOBB", "JOBA"}}})["schema"] ==
        "msprof.compare/2");
  CHECK(client.call("compare", {{"base", "JOBA"}, {"new", {"JOBB"}}})["isError"] == true);
  CHECK(client.call("compare", {{"base", json::array()}, {"new", {"JOBB"}}})["isError"] == true);
}

TEST_CASE("cluster finds the slow rank of a job") {
  const TempFolder folder;
  ranks::ClusterShape shape;
  shape.ranks = 4;
  shape.tasks = 300;
  shape.faults.slow_rank = 2;
  const ranks::ClusterRun run(shape);
  for (std::int64_t rank = 0; rank < shape.ranks; ++rank)
    ranks::write_rank_folder(folder.path(), run, rank);
  REQUIRE(run_msprof({"cluster", folder.path().string(), "--output", folder.path().string(), "-q"})
              .exit_code == 0);
  McpClient client({folder.path()});
  const json shown = client.ask("cluster", {{"path", "."}});
  CHECK(shown["clusters"][0]["findings"].dump().find("rank 2") != std::string::npos);
  const json slow = client.ask(
      "query",
      {{"path", "cluster.db"}, {"sql", "SELECT rank FROM v_slow_ranks ORDER BY delay_us DESC"}});
  CHECK(slow["captures"][0]["rows"][0][0] == 2);
}

TEST_CASE("layout infers the records of a board, or says that they are known") {
  const McpCaptures captures;
  McpClient client({captures.folder.path()});
  const json known = client.ask("layout", {{"paths", {"JOBA"}}});
  CHECK(known["schema"] == "msprof.layout/1");
}
