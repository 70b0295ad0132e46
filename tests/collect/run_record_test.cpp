// run.json of a run: always written, however the run ends, and without secrets.
#include <catch2/catch.hpp>
#include <csignal>
#include <nlohmann/json.hpp>

#include "collect/collect_fixture.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;
using RunJson = nlohmann::json;

namespace {

RunJson read_record(const DemoProject& demo, const std::string& job = kJob) {
  const std::string path = "project/" + job + "/run.json";
  REQUIRE(demo.exists(path));
  return RunJson::parse(demo.read(path));
}

}  // namespace

TEST_CASE("A capture records when, where and with which command it was made") {
  const DemoProject demo;
  const Finished run = collect(demo, {"-m", "main", "--interval", "7", "--env", "SECRET_WORD=hush",
                                      "--", "job", kJob, "say", "--password=hush", "exit", "0"});
  INFO(run.err);
  const RunJson record = read_record(demo);
  CHECK(record.at("schema") == "msprof.run/1");
  CHECK(record.at("host") == "this machine");
  CHECK(record.at("board").at("system") == "Linux");
  CHECK(record.at("command").at(0) == "main");
  CHECK(record.at("command").at(2) == kJob);
  CHECK(record.at("command").at(4) == "--password=***");
  CHECK(record.at("options").at("--interval") == "7");
  CHECK(record.at("options").at("--env") == "SECRET_WORD");
  CHECK(record.at("options").at("--main") == "main");
  CHECK(record.dump().find("hush") == std::string::npos);
  CHECK(record.at("models") == RunJson::parse(R"([{"file": "models/m.om", "bytes": 5,
          "sha256": "9372c470eeadd5ecd9c3c74c2b3cb633f8e2f2fad799250a0f70d652b6b825e4"}])"));
  CHECK_FALSE(record.at("msprof").get<std::string>().empty());
  CHECK(record.at("begin").get<std::string>() <= record.at("end").get<std::string>());
  CHECK(record.at("begin").get<std::string>().size() == 24);
}

TEST_CASE("A failed run is recorded with its exit") {
  const DemoProject demo;
  const Finished run = collect(demo, {"-m", "main", "--", "job", kJob, "exit", "3"});
  CHECK(run.exit_code == 7);
  CHECK(read_record(demo).at("exit_code") == 7);
  CHECK(read_record(demo).at("application").at("exit_code") == 3);

  collect(demo, {"-m", "main", "--", "job", kOtherJob, "raise", "11"});
  const RunJson record = read_record(demo, kOtherJob);
  CHECK(record.at("application").at("signal") == "SIGSEGV");
  CHECK_FALSE(record.at("application").contains("exit_code"));
}

TEST_CASE("A run stopped from outside is recorded with the cause") {
  const DemoProject demo;
  // On most machines the application records within the first limit.
  std::string used;
  for (const char* limit : {"0.5", "4", "32", "256"}) {
    used = limit;
    collect(demo, {"-m", "main", "--timeout", limit, "--", "job", kJob, "ready",
                   (demo.root() / "recorded").string(), "hang"});
    if (demo.exists("recorded")) break;
  }
  const RunJson late = read_record(demo);
  CHECK(late.at("application").at("ended_by") == "time limit");
  CHECK(late.at("options").at("--timeout") == used);
  CHECK(late.at("begin").get<std::string>() < late.at("end").get<std::string>());

  Collecting run(demo, {"-m", "main", "--", "job", kOtherJob, "ready",
                        (demo.root() / "ready").string(), "hang"});
  REQUIRE(eventually([&] { return demo.exists("ready"); }));
  run.signal(SIGINT);
  CHECK(run.wait().exit_code == 130);
  const RunJson stopped = read_record(demo, kOtherJob);
  CHECK(stopped.at("application").at("ended_by") == "user");
  CHECK(stopped.at("exit_code") == 130);
}

TEST_CASE("Models are recorded if they are links or arguments") {
  const DemoProject demo;
  demo.write("elsewhere/big.om", "big");
  demo.write("named.om", "named");
  fs::create_symlink(demo.root() / "elsewhere/big.om", demo.project() / "models/link.om");
  fs::create_symlink("gone.om", demo.project() / "models/broken.om");
  const std::string named = (demo.root() / "named.om").string();
  collect(demo, {"-m", "main", "--", "job", kJob, "say", "--model=" + named, "say", "missing.om"});
  std::vector<std::string> files;
  const RunJson record = read_record(demo);
  for (const RunJson& model : record.at("models")) {
    files.push_back(model.at("file"));
    CHECK(model.at("sha256").get<std::string>().size() == 64);
  }
  CHECK(files == std::vector<std::string>{named, "models/link.om", "models/m.om"});
}

TEST_CASE("A capture contains only run.json and the application's files") {
  const DemoProject demo;
  collect(demo, {"-m", "main", "--", "job", kJob});
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(demo.project() / kJob)) {
    const std::string name = entry.path().filename();
    if (name != "data" && !name.starts_with("info.json")) names.push_back(name);
  }
  CHECK(names == std::vector<std::string>{"run.json"});
}

TEST_CASE("The exit code of --all in every capture is that of the whole command") {
  const DemoProject demo;
  const Finished run =
      collect(demo, {"-m", "main", "--all", "--", "job", kJob, "job", "JOBDAMAGED"});
  CHECK(run.exit_code == 3);
  CHECK(read_record(demo).at("exit_code") == 3);
  CHECK(read_record(demo, "JOBDAMAGED").at("exit_code") == 3);
}

TEST_CASE("A layout given on the command line is kept in the capture and checked before the run") {
  const DemoProject demo;
  demo.write("project/layout.json", R"({"acl_api": {"header_size": 0, "record_size": 24,
    "fields": {"start": {"offset": 8, "type": "u64"}}}})");
  collect(demo, {"-m", "main", "--layout", "layout.json", "--", "job", kJob});
  const RunJson layout = read_record(demo).at("layout");
  CHECK(layout.at("file") == "layout.json");
  CHECK(layout.at("source") == "--layout");
  CHECK(layout.at("json").at("acl_api").at("record_size") == 24);

  demo.write("project/layout.json", "{");
  const Finished refused =
      collect(demo, {"-m", "main", "--layout", "layout.json", "--", "job", kOtherJob});
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "layout.json"));
  CHECK_FALSE(demo.exists(std::string("project/") + kOtherJob));
  CHECK(collect(demo, {"-m", "main", "--cann", "--layout", "layout.json"}).exit_code == 2);
}
