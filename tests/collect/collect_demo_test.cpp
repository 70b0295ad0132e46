#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "collect/collect_fixture.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

// The demo's folder as a user would have it: copied, run from inside.
struct Demo : Sandbox {
  Demo() {
    use_program(MSPROF_PROGRAM);
    for (const char* name : {"main", "libsvp_acl.so", "acl.json", "models"}) {
      fs::copy(fs::path(DEMO_FOLDER) / name, project() / name, fs::copy_options::recursive);
    }
  }
};

bool has_files(const fs::path& folder) {
  return fs::is_directory(folder) && !fs::is_empty(folder);
}

}  // namespace

TEST_CASE("The demo is collected, imported and exported by one command") {
  const Demo demo;
  const auto before = fingerprint(demo.project());
  const Finished run =
      collect(demo, {"-m", "main", "--all", "--json", "--output", "../out", "--", "--images", "2"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  const Json document = Json::parse(run.out);
  CHECK(document.at("application").at("exit_code") == 0);
  CHECK(document.at("files").empty());
  REQUIRE(document.at("captures").size() == 1);
  REQUIRE(document.at("results").size() == 1);
  CHECK(document.at("results")[0].at("exit_code") == 0);
  CHECK(document.at("results")[0].at("exported").size() >= 5);
  const fs::path capture = document.at("captures")[0].at("path").get<std::string>();
  CHECK(capture.filename().string().size() == 32);
  CHECK(has_files(capture / "data"));
  CHECK(fs::exists(capture / "sqlite" / "msprof.db"));
  CHECK(has_files(capture / "timeline"));
  CHECK(has_files(capture / "summary"));
  CHECK(fingerprint(demo.project()) == before);
}

TEST_CASE("A demo that is stopped in the middle leaves a capture that imports") {
  const Demo demo;
  const Finished run = collect(demo, {"-m", "main", "--timeout", "1.5", "--all", "--output",
                                      "../out", "--", "--images", "1000000"});
  INFO(run.err);
  CHECK(run.exit_code == 7);
  int captures = 0;
  for (const auto& entry : fs::directory_iterator(demo.root() / "out")) {
    ++captures;
    CHECK(fs::exists(entry.path() / "sqlite" / "msprof.db"));
  }
  CHECK(captures == 1);
}
