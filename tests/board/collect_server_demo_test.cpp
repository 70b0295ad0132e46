// Runs the demo application on a server without CANN, recorded there by msprof's host runtime.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "board/server_fixture.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

// The PATH of the server's login shells contains the built msprof; the demo is in ~/demo.
struct DemoServer : ServerScene {
  DemoServer() {
    fs::create_directories(home() / "bin");
    fs::create_symlink(msprof_path(), home() / "bin/msprof");
    fs::create_directory_symlink(DEMO_ACL_FOLDER, home() / "demo");
    profile("export LD_LIBRARY_PATH=/usr/local/lib\n");
  }
};

}  // namespace

TEST_CASE("The host runtime of a server records an application there, and the capture is whole") {
  DemoServer scene;
  const RunResult result = scene.collect("main", {"--remote-dir", "demo", "--all"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "no CANN on board@127.0.0.1"));
  CHECK(contains(result.err, "the host runtime runs models on the CPU"));
  REQUIRE(scene.arrived().size() == 1);
  CHECK(scene.arrived().front().starts_with("PROF_"));
  CHECK(fs::exists(scene.user.output() / scene.arrived().front() / "run.json"));
  CHECK(contains(result.err, "verdict: complete"));
  CHECK_FALSE(names_in(scene.user.output() / scene.arrived().front() / "mindstudio_profiler_output")
                  .empty());
  CHECK(scene.litter() == "");
}

TEST_CASE("Recordings of the host runtime stay on the server, and their products are fetched") {
  DemoServer scene;
  const RunResult result = scene.collect(
      "main", {"--remote-dir", "demo", "--leave", "--remote-output", "left", "--all"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "verdict: complete"));
  const auto left = names_in(scene.home() / "left");
  REQUIRE(left.size() == 1);
  CHECK(scene.arrived() == Words{left.front() + ".products"});
  const fs::path products = scene.user.output() / scene.arrived().front();
  CHECK_FALSE(names_in(products / "mindstudio_profiler_output").empty());
  CHECK_FALSE(fs::exists(products / "host"));
  CHECK_FALSE(fs::exists(products / "sqlite"));
  // A capture on the server is an ordinary one: msprof lists it with its run.
  const RunResult listed = run_msprof({"list", (scene.home() / "left").string(), "--json"});
  const auto capture = nlohmann::json::parse(listed.out).at("captures").at(0);
  CHECK(capture.at("run").at("host").get<std::string>().starts_with("board@127.0.0.1"));
  CHECK(capture.at("verdict") == "complete");
  CHECK(fs::exists(scene.home() / "left" / left.front() / "sqlite"));
  CHECK(scene.litter() == "");
}

}  // namespace msprof::test
