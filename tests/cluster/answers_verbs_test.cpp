// show, export and compare of clusters, run with the real program.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cluster/sketched_part.hpp"
#include "support/files.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

namespace msprof {

namespace {

using nlohmann::json;
using test::run_msprof;
using test::TempFolder;

std::string cluster_file(const TempFolder& folder, const std::string& name,
                         const test::SketchedPart& sketch) {
  std::filesystem::create_directory(folder / name);
  sketch.written(folder / name / "cluster.db");
  return (folder / name).string();
}

}  // namespace

TEST_CASE("show accepts the file of a cluster or its folder") {
  const TempFolder folder;
  const std::string dir = cluster_file(folder, "out", test::two_ranks());
  const auto shown = run_msprof({"show", "-dir", dir});
  CHECK(shown.exit_code == 0);
  CHECK(shown.out.find("2 ranks on 2 hosts, 2 steps\nmean step 0.009 ms") != std::string::npos);
  CHECK(run_msprof({"show", "-dir", dir + "/cluster.db"}).out == shown.out);
  const auto one = run_msprof({"show", "-dir", dir, "--json", "--top", "1"});
  const json cluster = json::parse(one.out)["clusters"][0];
  CHECK(cluster["ranks"] == "0-1");
  CHECK(cluster["steps"] == 2);
  CHECK(cluster["mean"]["computing_percent"] == Approx(70.27).epsilon(0.001));
  CHECK(cluster["tables"][0]["rows"].size() == 1);
  CHECK(cluster["tables"][0]["rows"][0]["Slowest Rank"] == 0);
  CHECK(run_msprof({"show", "-dir", dir, "--capture", "1"}).exit_code == 2);
}

TEST_CASE("list shows the results of clusters with the captures") {
  const TempFolder folder;
  auto sketch = test::two_ranks();
  sketch.facts.expected_ranks = "0-4";
  cluster_file(folder, "job", sketch);
  test::write_file(folder / "broken/cluster.db",
                   test::read_file(folder / "job/cluster.db").substr(0, 5000));
  test::write_file(folder / "other/cluster.db", "of another program");
  const auto listed = run_msprof({"list", folder.path().string()});
  INFO(listed.err);
  CHECK(listed.exit_code == 0);
  CHECK(listed.out.find("job/cluster.db") != std::string::npos);
  CHECK(listed.out.find("2 ranks on 2 hosts, MISSING: 3 ranks (2-4)") != std::string::npos);
  CHECK(listed.out.find("cannot be read") != std::string::npos);
  CHECK(listed.out.find("other/cluster.db") == std::string::npos);
  const auto document = json::parse(run_msprof({"list", folder.path().string(), "--json"}).out);
  CHECK(document.at("captures").empty());
  REQUIRE(document.at("clusters").size() == 2);
  const json& whole = document.at("clusters").at(0).contains("problem")
                          ? document.at("clusters").at(1)
                          : document.at("clusters").at(0);
  CHECK(whole.at("ranks").at("present") == "0-1");
  CHECK(whole.at("ranks").at("missing") == "2-4");
}

TEST_CASE("show of a cluster fits a terminal of 80 columns") {
  const TempFolder folder;
  const std::string dir = cluster_file(folder, "out", test::two_ranks());
  const auto shown = run_msprof({"show", "-dir", dir}, {.variables = {{"COLUMNS", "80"}}});
  std::size_t begin = shown.out.find('\n') + 1;  // the line with the path may be longer
  for (std::size_t end = 0; (end = shown.out.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    std::size_t columns = 0;
    for (std::size_t i = begin; i < end; ++i) columns += (shown.out[i] & 0xC0) != 0x80;
    CHECK(columns <= 80);
  }
}

TEST_CASE("a cluster with missing ranks is shown, with exit code 3") {
  const TempFolder folder;
  auto sketch = test::two_ranks();
  sketch.facts.expected_ranks = "0-4";
  const std::string dir = cluster_file(folder, "out", sketch);
  const auto shown = run_msprof({"show", "-dir", dir});
  CHECK(shown.exit_code == 3);
  CHECK(shown.out.find("MISSING: 3 ranks (2-4)\n") != std::string::npos);
  CHECK(run_msprof({"compare", dir, dir}).exit_code == 3);
}

TEST_CASE("export cluster writes the vendor's files and the page, again the same") {
  const TempFolder folder;
  const std::string dir = cluster_file(folder, "out", test::two_ranks());
  const auto written = run_msprof({"export", "cluster", "-dir", dir});
  CHECK(written.exit_code == 0);
  CHECK(test::names_in(folder / "out") ==
        std::vector<std::string>{"cluster.db", "cluster.html", "cluster_analysis_output"});
  CHECK(test::names_in(folder / "out" / "cluster_analysis_output") ==
        std::vector<std::string>{"cluster_analysis.db", "cluster_communication.json",
                                 "cluster_communication_matrix.json", "cluster_step_trace_time.csv",
                                 "communication_group.json"});
  CHECK(run_msprof({"export", "cluster", "-q", "-dir", dir, "--output", (folder / "b").string()})
            .exit_code == 0);
  for (const std::string name : {"cluster_analysis_output/cluster_analysis.db", "cluster.html"})
    CHECK(test::read_file(folder / "out" / name) == test::read_file(folder / "b" / name));
}

TEST_CASE("export cluster reports files that are not a cluster or are damaged") {
  const TempFolder folder;
  const auto none = run_msprof({"export", "cluster", "-dir", folder.path().string()});
  CHECK(none.exit_code == 4);
  CHECK(none.err.find("msprof merge") != std::string::npos);
  const std::string dir = cluster_file(folder, "out", test::two_ranks());
  std::string bytes = test::read_file(folder / "out" / "cluster.db");
  bytes[5'000] ^= 1;
  test::write_file(folder / "out" / "cluster.db", bytes);
  const auto damaged = run_msprof({"export", "cluster", "-dir", dir});
  CHECK(damaged.exit_code == 3);
  CHECK(damaged.err.find("is damaged") != std::string::npos);
  CHECK(test::names_in(folder / "out") == std::vector<std::string>{"cluster.db"});
}

TEST_CASE("compare accepts two clusters in every form, but no cluster with a capture") {
  const TempFolder folder;
  const std::string base = cluster_file(folder, "base", test::two_ranks());
  auto sketch = test::two_ranks();
  for (auto& row : sketch.steps) {
    row.duration_ns *= 2;
    row.computing_ns += row.duration_ns / 2;
  }
  const std::string now = cluster_file(folder, "now", sketch);
  const auto text = run_msprof({"compare", base, now});
  CHECK(text.exit_code == 0);
  CHECK(text.out.find("100.0 % slower") != std::string::npos);
  CHECK(text.out.find("BASE  base: 2 ranks on 2 hosts") != std::string::npos);
  const json document = json::parse(run_msprof({"compare", base, now, "--json"}).out);
  CHECK(document["schema"] == "msprof.compare_cluster/1");
  CHECK(document["total"]["new_us"] == 19.0);
  CHECK(document["steps"].size() == 5);
  CHECK(document["ranks"][0]["mean"]["base_us"].is_number());
  const std::string page = (folder / "r.html").string();
  const auto files = run_msprof({"compare", base, now, "--html", page, "--format", "csv"});
  CHECK(files.out.find("steps,step time,median,2,2,9.500,19.000,") != std::string::npos);
  CHECK(test::read_file(page).find("<h2 id=\"h-ranks\">") != std::string::npos);
  CHECK(run_msprof({"compare", base, now, "--fail-above", "5%"}).exit_code == 8);
  CHECK(run_msprof({"compare", base, folder.path().string()}).exit_code == 2);
  CHECK(run_msprof({"compare", base, now, "--output", page}).exit_code == 2);
}

}  // namespace msprof
