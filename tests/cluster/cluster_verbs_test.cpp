// query and advise on clusters, as a user runs them.
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <sstream>

#include "cluster/cluster_file.hpp"
#include "cluster/part_files.hpp"
#include "query/cluster_views.hpp"
#include "support/files.hpp"
#include "support/run_program.hpp"
#include "support/sample.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using Catch::Contains;
using nlohmann::json;
using test::run_msprof;
using test::ranks::ClusterShape;

namespace {

using Words = std::vector<std::string>;

// A cluster in a folder, with rank 2 slow.
struct ClusterFolder {
  explicit ClusterFolder(std::set<std::int64_t> missing = {}) {
    ClusterShape shape;
    shape.steps = 5;
    shape.faults.slow_rank = 2;
    shape.faults.missing = std::move(missing);
    test::make_cluster(folder.path(), shape);
  }
  std::string dir() const { return folder.path().string(); }
  std::string file() const { return (folder.path() / "cluster.db").string(); }
  test::TempFolder folder;
};

}  // namespace

TEST_CASE("query and advise accept the file of a cluster or its folder") {
  const ClusterFolder cluster;
  for (const std::string& dir : {cluster.dir(), cluster.file()}) {
    const auto asked = run_msprof(
        {"query", "-dir", dir, "SELECT rank FROM v_slow_ranks", "--format", "csv", "-q"});
    CHECK(asked.exit_code == 0);
    CHECK(asked.out == "rank\n2\n");
    const auto advised = run_msprof({"advise", "-dir", dir, "--lang", "en"});
    CHECK(advised.exit_code == 0);
    CHECK_THAT(advised.out, Contains("8 ranks on 1 hosts"));
    CHECK_THAT(advised.out, Contains("problem  The other ranks wait for rank 2 on node-0000"));
  }
  const auto chinese = run_msprof({"advise", "-dir", cluster.dir(), "--lang", "zh"});
  CHECK_THAT(chinese.out, Contains("问题"));
  // A rank summary may have any name.
  const std::string part = (cluster.folder.path() / "node.part").string();
  std::filesystem::rename(cluster.file(), part);
  CHECK(run_msprof({"advise", "-dir", part}).exit_code == 0);
}

TEST_CASE("Documents of a cluster list its ranks; missing ranks give exit code 3") {
  const ClusterFolder cluster({5});
  const auto advised = run_msprof({"advise", "-dir", cluster.dir(), "--json", "-q"});
  CHECK(advised.exit_code == 3);
  const json advice = json::parse(advised.out);
  CHECK(advice["exit_code"] == 3);
  REQUIRE(advice["captures"].size() == 1);
  CHECK(advice["captures"][0]["verdict"] == "partial");
  CHECK(advice["captures"][0]["missing_ranks"] == "5");
  CHECK(advice["captures"][0]["ranks"] == "0-4,6-7");
  const auto& found = advice["captures"][0]["findings"];
  REQUIRE(found.size() == 2);
  CHECK(found[0]["rule"] == "cluster_slow_rank");
  CHECK(found[0]["evidence"][0]["values"]["rank"] == 2);
  CHECK(found[1]["rule"] == "cluster_missing_ranks");

  const auto asked = run_msprof({"query", "-dir", cluster.file(), "--json", "-q"});
  CHECK(asked.exit_code == 3);
  const json info = json::parse(asked.out).at("captures").at(0);
  CHECK(info["dialect"] == "cluster");
  CHECK(info["hosts"] == 1);
  CHECK(info["steps"] == 5);
  CHECK(info["has_detail"] == true);
  const auto text = run_msprof({"query", "-dir", cluster.file()});
  CHECK(text.exit_code == 3);
  CHECK_THAT(text.out, Contains("MISSING      1 rank (5)"));
  const json rows = json::parse(
      run_msprof({"query", "-dir", cluster.dir(), "SELECT count(*) FROM v_ranks", "--json"}).out);
  CHECK(rows["captures"][0]["rows"] == json::parse("[[7]]"));
  CHECK(rows["captures"][0]["verdict"] == "partial");
}

TEST_CASE("Several clusters are queried one after the other; captures among them are refused") {
  const ClusterFolder one;
  const ClusterFolder other;
  const auto both = run_msprof({"query", "-dir", one.dir(), other.dir(), "--format", "csv", "-q",
                                "SELECT max(rank) AS rank FROM v_ranks"});
  CHECK(both.exit_code == 0);
  CHECK(both.out == "capture,rank\ncluster.db,7\ncluster.db,7\n");
  std::filesystem::create_directory(one.folder.path() / "PROF_1");
  const auto mixed = run_msprof({"advise", "-dir", one.dir(), one.dir() + "/PROF_1"});
  CHECK(mixed.exit_code == 2);
  CHECK_THAT(mixed.err, Contains("give one kind"));
}

TEST_CASE("Missing, damaged and other files are reported without any result") {
  const ClusterFolder cluster;
  std::string bytes = test::read_file(cluster.file());
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  const auto path = [&](const char* name) { return (cluster.folder.path() / name).string(); };
  test::write_file(path("damaged.part"), bytes);
  test::write_file(path("text.part"), "no database");
  for (const char* verb : {"query", "advise"}) {
    const auto damaged = run_msprof({verb, "-dir", path("damaged.part")});
    CHECK(damaged.exit_code == 3);
    CHECK(damaged.out.empty());
    CHECK_THAT(damaged.err, Contains("damaged.part is damaged"));
    CHECK_THAT(run_msprof({verb, "-dir", path("text.part")}).err,
               Contains("is not a rank summary of msprof"));
    CHECK_THAT(run_msprof({verb, "-dir", path("none.part")}).err, Contains("does not exist"));
  }
}

TEST_CASE("Unknown rank numbers and texts end every verb with a message") {
  ClusterShape shape;
  shape.steps = 5;
  shape.faults.slow_rank = 2;
  const test::TempFolder folder;
  const bool has_detail = GENERATE(true, false);
  test::make_cluster(folder.path(), shape, has_detail ? 1'000'000 : 0);
  const std::string file = folder / "cluster.db";
  const std::string good = test::read_file(file);
  std::string all_views;
  for (const View& view : cluster_views())
    all_views +=
        fmt::format("{}(SELECT count(*) FROM {})", all_views.empty() ? "SELECT " : ", ", view.name);
  const auto columns = test::query(
      file,
      "SELECT 'UPDATE ' || t.name || ' SET ' || c.name || ' = ' FROM sqlite_schema AS t,"
      " pragma_table_info(t.name) AS c WHERE t.type = 'table' AND c.pk = 0 AND (c.name LIKE '%_id'"
      " OR c.name LIKE '%member%' OR c.name LIKE '%_rank') ORDER BY 1");
  REQUIRE(columns.size() > 30);
  for (const std::string& column : test::sample(columns, 6)) {
    for (const char* id : {"-1", "1 << 40", "9223372036854775807"}) {
      INFO(column << id);
      test::write_file(file, good);
      test::change_part(file, column + id);
      for (const Words& words :
           {Words{"query", "-dir", file, all_views}, Words{"show", "-dir", file},
            Words{"advise", "-dir", file}, Words{"compare", file, file},
            Words{"export", "cluster", "-dir", file, "--output", folder / "out"},
            Words{"merge", "--output", folder / "merged.part", file}}) {
        const auto result = run_msprof(words);
        INFO(words.front() << ": exit code " << result.exit_code << ", signal " << result.signal
                           << "\n"
                           << result.err);
        CHECK(result.signal == 0);
        CHECK((result.exit_code == 0 || result.exit_code == 3 || result.exit_code == 4));
        if (result.exit_code != 0) CHECK_FALSE((result.out + result.err).empty());
      }
    }
  }
}

TEST_CASE("query --schema and the manual list all views of a cluster") {
  const ClusterFolder cluster;
  const auto text = run_msprof({"query", "--schema", "-dir", cluster.dir()});
  const auto csv = run_msprof({"query", "--schema", "-dir", cluster.dir(), "--format", "csv"});
  const json document =
      json::parse(run_msprof({"query", "--schema", "-dir", cluster.dir(), "--json"}).out);
  CHECK(document["views"].size() == cluster_views().size());
  const std::string page = test::read_file(MSPROF_PAGES "/docs/query.md");
  for (const View& view : cluster_views()) {
    CAPTURE(view.name);
    CHECK_THAT(text.out, Contains("\n" + std::string(view.name) + ": "));
    CHECK_THAT(csv.out, Contains("view," + std::string(view.name) + ","));
    CHECK_THAT(page, Contains("`" + std::string(view.name) + "`"));
  }
}

TEST_CASE("The manual's SQL about clusters runs and returns rows") {
  const ClusterFolder cluster;
  std::istringstream page(test::read_file(MSPROF_PAGES "/docs/query.md"));
  std::string sql;
  bool is_about_clusters = false;
  int questions = 0;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) is_about_clusters = line == "## Clusters";
    if (!is_about_clusters || (sql.empty() && !line.starts_with("SELECT "))) continue;
    sql += line + " ";
    if (!line.ends_with(";")) continue;
    CAPTURE(sql);
    const auto answer = run_msprof({"query", "-dir", cluster.dir(), sql, "--format", "csv", "-q"});
    CHECK(answer.exit_code == 0);
    CHECK(std::count(answer.out.begin(), answer.out.end(), '\n') > 1);
    sql.clear();
    ++questions;
  }
  CHECK(questions == 3);
}
