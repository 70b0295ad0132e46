// msprof query: describes a capture and the data that can be queried.
#include <algorithm>
#include <catch2/catch.hpp>

#include "cli/cli_fixture.hpp"
#include "support/lines.hpp"
#include "support/prof/prof_run.hpp"

using namespace msprof::test;

namespace {

struct Captures {
  TempFolder folder;
  prof::MadeRun prof;
  std::filesystem::path job;

  Captures() {
    prof::RunShape shape;
    shape.tasks = 400;
    shape.steps = 3;
    prof::ProfSetup setup;
    setup.devices = {0, 2};
    prof = prof::make_run(folder.path(), setup, shape);
    job = make_face(folder.path(), "JOBA").folder();
  }

  nlohmann::json query(const std::filesystem::path& capture) const {
    const auto result = run_msprof({"query", "--json", "-q", "-dir", capture.string()});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    const auto document = nlohmann::json::parse(result.out);
    CHECK(document.at("schema") == "msprof.query/2");
    CHECK(document.at("exit_code") == 0);
    REQUIRE(document.at("captures").size() == 1);
    return document.at("captures").at(0);
  }
};

bool has(const nlohmann::json& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TEST_CASE("query prints chip, time, devices, models and iterations of a PROF folder") {
  const Captures captures;
  const auto one = captures.query(captures.prof.folder);
  CHECK(one.at("name") == captures.prof.folder.filename().string());
  CHECK(one.at("dialect") == "cann");
  CHECK(contains(one.at("chip").get<std::string>(), "910B"));
  CHECK(one.at("verdict") == "complete");
  CHECK(contains(one.at("begin_utc").get<std::string>(), "2023-11-14 22:13:20"));
  REQUIRE(one.at("devices").size() == 2);
  CHECK(one.at("devices").at(1).at("id") == 2);
  std::uint64_t tasks = 0;
  for (const auto& device : one.at("devices")) tasks += device.at("tasks").get<std::uint64_t>();
  CHECK(tasks >= captures.prof.facts.tasks);
  std::uint64_t iterations = 0;
  for (const auto& of : one.at("iterations")) {
    iterations += of.at("count").get<std::uint64_t>();
    CHECK(of.at("mean_ns").get<std::int64_t>() > 0);
  }
  CHECK(iterations == captures.prof.facts.steps);
  CHECK(one.at("models").size() >= 1);
  CHECK(one.at("ranks").size() >= 1);
  CHECK(has(one.at("products").at("summaries").at("with_data"), "op_summary"));
  CHECK(has(one.at("products").at("summaries").at("without_data"), "dp"));
  CHECK(has(one.at("products").at("timelines").at("with_data"), "ascend_hardware"));
  CHECK(one.at("products").at("db") == true);
}

TEST_CASE("the iterations listed by query are those accepted by export") {
  const Captures captures;
  const auto one = captures.query(captures.prof.folder);
  REQUIRE_FALSE(one.at("iterations").empty());
  const auto& of = one.at("iterations").at(0);
  const auto result =
      run_msprof({"export", "summary", "step_trace", "-q", "-dir", captures.prof.folder.string(),
                  "--device", std::to_string(of.at("device").get<int>()), "--model-id",
                  std::to_string(of.at("model").get<int>()), "--iteration-id",
                  std::to_string(of.at("last").get<int>())});
  INFO(result.err);
  CHECK(result.exit_code == 0);
}

TEST_CASE("query prints the steps of a board's capture") {
  const Captures captures;
  const auto one = captures.query(captures.job);
  CHECK(one.at("dialect") == "svp");
  CHECK(one.at("begin_utc").is_null());
  CHECK(one.at("devices").at(0).at("tasks").get<std::int64_t>() > 0);
  REQUIRE(one.at("steps").size() >= 1);
  CHECK_FALSE(one.contains("iterations"));
  CHECK(one.at("steps").at(0).at("count").get<int>() >= 1);
  REQUIRE(one.at("models").size() >= 1);
  CHECK(one.at("models").at(0).at("tasks").get<int>() >= 1);
  CHECK(has(one.at("products").at("timelines").at("with_data"), "task_time"));
  CHECK(one.at("products").at("db") == false);
}

TEST_CASE("query prints the same on a terminal, and several captures one after the other") {
  const Captures captures;
  const auto result = run_msprof({"query", "-q", "-dir", captures.folder.path().string()});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  for (const char* part :
       {"PROF_", "JOBA", "dialect    cann", "dialect    svp", "verdict    complete", "Devices",
        "Iterations", "Steps", "Models", "export summary", "no data for", "export db"}) {
    INFO(part);
    CHECK(contains(result.out, part));
  }
}

TEST_CASE("query of a folder that is not a capture is refused") {
  const TempFolder folder;
  const auto result = run_msprof({"query", "--json", "-dir", (folder / "none").string()});
  CHECK(result.exit_code != 0);
  CHECK(nlohmann::json::parse(result.out).contains("error"));
}

TEST_CASE("tables of query are as wide as COLUMNS if there is no terminal") {
  const Captures captures;
  const std::string sql = "SELECT '" + std::string(90, 'n') + "' AS name, 1 AS one, 2.5 AS real";
  const auto lines = [&](Words words, const std::string& columns) {
    words.insert(words.begin(), {"query", "-q", "-dir", captures.prof.folder.string()});
    return split_lines(run_msprof(words, {.variables = {{"COLUMNS", columns}}}).out);
  };
  const Words ask = {sql};
  CHECK(contains(lines(ask, "").back(), std::string(90, 'n')));
  CHECK(lines(ask, "120") == lines(ask, ""));
  CHECK(contains(lines(ask, "60").back(), "…"));
  CHECK_FALSE(contains(lines(ask, "60").back(), std::string(90, 'n')));
  const auto devices = [&](const std::string& columns) {
    const auto all = lines({}, columns);
    const auto head = std::find_if(all.begin(), all.end(), [](const std::string& line) {
      return contains(line, "Frequency(MHz)");
    });
    REQUIRE(head != all.end());
    return *head;
  };
  CHECK(contains(devices(""), "Vector Cores"));
  CHECK(devices("40").size() <= 40);
}
