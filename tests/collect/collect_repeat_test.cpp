// --repeat: several runs of one application, whose captures are one side of compare.
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "collect/collect_fixture.hpp"
#include "support/files.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;
using RunJson = nlohmann::json;

namespace {

using Words = std::vector<std::string>;

struct RepeatSandbox : Sandbox {
  RepeatSandbox() {
    add_app();
    write("project/acl.json", "{}");
  }
  fs::path series(const std::string& name = "main.runs") const { return root() / "out" / name; }
  Finished repeat(const Words& options, const Words& application,
                  const std::string& input = "") const {
    Words words = {"-m", "main", "--output", "../out"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back("--");
    words.insert(words.end(), application.begin(), application.end());
    return collect(*this, words, {}, input);
  }
};

std::string job(const std::string& suffix) {
  return kJob + suffix;
}

RunJson repeated_record(const fs::path& capture) {
  return RunJson::parse(read_file(capture / "run.json"));
}

}  // namespace

TEST_CASE("Repeated runs put their captures into a separate folder, and warm-ups into another") {
  const RepeatSandbox sandbox;
  const Finished run = sandbox.repeat({"--repeat", "2", "--json"}, {"job", kJob});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(names_in(sandbox.series()) == Words{job("_run1"), job("_run2"), "warm-up"});
  CHECK(names_in(sandbox.series() / "warm-up") == Words{job("_warm1")});
  CHECK(repeated_record(sandbox.series() / job("_run2")).at("repeat") ==
        RunJson{{"run", 2}, {"of", 2}, {"warm_up", false}});
  CHECK(repeated_record(sandbox.series() / "warm-up" / job("_warm1")).at("repeat") ==
        RunJson{{"run", 1}, {"of", 1}, {"warm_up", true}});
  const RunJson document = RunJson::parse(run.out);
  CHECK(document.at("schema") == "msprof.collect_runs/1");
  CHECK(document.at("folder") == sandbox.series().string());
  CHECK(document.at("exit_code") == 0);
  REQUIRE(document.at("runs").size() == 3);
  CHECK(document.at("runs")[0].at("repeat").at("warm_up") == true);
  CHECK(document.at("runs")[2].at("repeat").at("run") == 2);
  CHECK(document.at("runs")[2].at("captures")[0].at("path") ==
        (sandbox.series() / job("_run2")).string());
  CHECK(contains(run.err, "warm-up 1 of 1"));
  CHECK(contains(run.err, "run 2 of 2"));

  // A second series gets a new folder, and the message names both for compare.
  const Finished again =
      sandbox.repeat({"--repeat", "1", "--warm-up", "0", "--all"}, {"job", kJob});
  INFO(again.err);
  CHECK(again.exit_code == 0);
  CHECK(names_in(sandbox.series("main.runs~2")) == Words{job("_run1")});
  CHECK(contains(again.err, "driver imports " + job("_run1")));
  CHECK(contains(again.err, "next: msprof compare " + sandbox.series().string() + " '" +
                                sandbox.series("main.runs~2").string() + "'"));
}

TEST_CASE("Failed runs are put into a separate folder and are not compared") {
  const RepeatSandbox sandbox;
  const Finished run =
      sandbox.repeat({"--repeat", "2", "--warm-up", "0"}, {"job", kJob, "exit", "3"});
  INFO(run.err);
  CHECK(run.exit_code == 7);
  CHECK(names_in(sandbox.series()) == Words{"failed"});
  CHECK(names_in(sandbox.series() / "failed") == Words{job("_run1"), job("_run2")});
  CHECK(contains(run.err, "exit code 3"));
  CHECK_FALSE(contains(run.err, "next: msprof compare"));
}

TEST_CASE("An error that prevents the first run ends the series and leaves no folder") {
  const RepeatSandbox sandbox;
  const Finished run =
      collect(sandbox, {"-m", "nowhere", "--output", "../out", "--repeat", "3", "--json"});
  INFO(run.err);
  CHECK(run.exit_code == 4);
  const RunJson document = RunJson::parse(run.out);
  CHECK(document.at("runs").size() == 1);
  CHECK(document.contains("error"));
  CHECK(names_in(sandbox.root() / "out").empty());
}

TEST_CASE("Ctrl-C stops the current run and the series") {
  const RepeatSandbox sandbox;
  Collecting running(
      sandbox, {"-m", "main", "--output", "../out", "--repeat", "5", "--warm-up", "0", "--", "job",
                kJob, "ready", (sandbox.root() / "up").string(), "on-int", "end", "hang"});
  REQUIRE(eventually([&] { return fs::exists(sandbox.root() / "up"); }));
  running.signal(SIGINT);
  const Finished run = running.wait();
  INFO(run.err);
  CHECK(run.exit_code == 130);
  CHECK(names_in(sandbox.series() / "failed") == Words{job("_run1")});
  CHECK_FALSE(contains(run.err, "run 2 of 5"));
}

TEST_CASE("Every run of a series gets the same empty input") {
  const RepeatSandbox sandbox;
  const Finished run = sandbox.repeat({"--repeat", "2", "--warm-up", "0"},
                                      {"job", kJob, "say", "end", "echo-stdin"}, "typed\n");
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(run.out == "end\nend\n");
}

TEST_CASE("--repeat and --warm-up check their limits and required options") {
  const RepeatSandbox sandbox;
  const auto usage = [&](const Words& options, const std::string& part) {
    const Finished run = sandbox.repeat(options, {"job", kJob});
    INFO(run.err);
    CHECK(run.exit_code == 2);
    CHECK(contains(run.err, part));
  };
  usage({"--repeat", "0"}, "1 to 1000");
  usage({"--repeat", "1001"}, "1 to 1000");
  usage({"--repeat", "2", "--warm-up", "-1"}, "0 to 1000");
  usage({"--warm-up", "2"}, "--repeat");
  CHECK_FALSE(fs::exists(sandbox.root() / "out"));
}

TEST_CASE("Results of earlier series in the project are not copied") {
  const RepeatSandbox sandbox;
  const Words words = {"-m", "main", "--repeat", "1", "--warm-up", "1", "-v", "--", "job", kJob};
  for (int turn = 0; turn < 2; ++turn) {
    const Finished run = collect(sandbox, words);
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(contains(run.err, "not copied: main.runs (results of msprof)"));
    if (turn == 1) CHECK(contains(run.err, "not copied: main.runs~2 (results of msprof)"));
  }
}
