#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/owner_lock.hpp"
#include "collect/collect_fixture.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;
using Json = nlohmann::json;

TEST_CASE("A capture is put into the current folder, and the project is unchanged") {
  const DemoProject demo;
  const auto before = snapshot(demo.project());
  const Finished run = collect(demo, {"-m", "main", "--", "job", kJob});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(run.out.empty());
  CHECK(demo.read(std::string("project/") + kJob + "/data/aicore.0.m.1.1.1.0") ==
        "MSVP and records");
  CHECK(contains(run.err, "main exited with code 0"));
  CHECK(contains(run.err, "next: msprof import -dir " + (demo.project() / kJob).string()));
  CHECK(is_empty_or_missing(demo.runs()));
  fs::remove_all(demo.project() / kJob);
  CHECK(snapshot(demo.project()) == before);
}

TEST_CASE("A capture is put into --output, which is created if missing") {
  const DemoProject demo;
  const auto before = snapshot(demo.project());
  const Finished run = collect(demo, {"-m", "main", "--output", "../a/b", "--", "job", kJob});
  CHECK(run.exit_code == 0);
  CHECK(demo.exists(std::string("a/b/") + kJob + "/info.json.0"));
  CHECK(fs::directory_iterator(demo.root() / "a/b") != fs::directory_iterator());
  CHECK(std::distance(fs::directory_iterator(demo.root() / "a/b"), fs::directory_iterator()) == 1);
  CHECK(snapshot(demo.project()) == before);
}

TEST_CASE("results that a killed msprof had moved, but not published, are kept") {
  const DemoProject demo;
  const std::string stale =
      "project/.collect.0123456789abcdef-" + msprof::machine_tag() + ".msprof-tmp";
  fs::create_directories(demo.root() / stale / "moved");
  demo.write(stale + "/captures/" + kOtherJob + "/data/aicore.0.m.1.1.1.0", "the only copy");
  demo.write(stale + "/files/made.txt", "by the run");
  const Finished run = collect(demo, {"-m", "main", "--", "job", kJob});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(demo.read(std::string("project/") + kOtherJob + "/data/aicore.0.m.1.1.1.0") ==
        "the only copy");
  CHECK(demo.read("project/killed.files/made.txt") == "by the run");
  CHECK_FALSE(demo.exists(stale));
}

TEST_CASE("A capture can be moved across file systems") {
  const DemoProject demo;
  std::string folder = "/dev/shm/msprof_collect_XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return;
  const Finished run = collect(demo, {"-m", "main", "--output", folder, "--", "job-links", kJob,
                                      "job-here", kOtherJob, "write", "made.txt", "by the run"});
  CHECK(run.exit_code == 0);
  CHECK(fs::exists(fs::path(folder) / kJob / "data/aicore.0.m.1.1.1.0"));
  CHECK(fs::exists(fs::path(folder) / (std::string(kJob) + ".files") / "made.txt"));
  CHECK(fs::exists(fs::path(folder) / kOtherJob / "data/aicore.0.m.1.1.1.0"));
  CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 3);
  const fs::path files = fs::path(folder) / (std::string(kJob) + ".files");
  CHECK(std::distance(fs::directory_iterator(files), fs::directory_iterator()) == 1);
  CHECK(contains(run.err, "2 links or special files"));
  fs::remove_all(folder);
}

TEST_CASE("Options change the acl.json of the copy and keep its other keys") {
  const DemoProject demo;
  const auto before = demo.read("project/acl.json");
  const Finished run = collect(
      demo, {"-m", "main", "--interval", "7", "--acl_api", "off", "--aacpu", "off", "--aac_metrics",
             "ArithmeticUtilization", "--", "job", kJob, "append", "acl.json", "\n"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  const Json copy = Json::parse(demo.read(std::string("project/") + kJob + ".files/acl.json"));
  CHECK(copy.at("mine") == 1);
  CHECK(copy.at("profiler").at("interval") == "7");
  CHECK(copy.at("profiler").at("acl_api") == "off");
  CHECK(copy.at("profiler").at("aicpu") == "off");
  CHECK(copy.at("profiler").at("output").get<std::string>().starts_with(demo.runs().string()));
  CHECK(demo.read("project/acl.json") == before);
}

TEST_CASE("A default acl.json is created next to the executable and in ../src if missing") {
  Sandbox sandbox;
  sandbox.add_app();
  const Finished run =
      collect(sandbox, {"-m", "main", "--", "--init", "../src/acl.json", "job", kJob, "append",
                        "../src/acl.json", "\n", "append", "acl.json", "\n"});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  const std::string files = std::string("project/") + kJob + ".files/";
  CHECK(Json::parse(sandbox.read(files + "acl.json")).at("profiler").at("switch") == "on");
  CHECK(Json::parse(sandbox.read(files + "parent-folder/src/acl.json")).contains("profiler"));
  CHECK_FALSE(sandbox.exists("project/acl.json"));
  CHECK_FALSE(sandbox.exists("src"));
}

TEST_CASE("In a project with out/ and src/ the acl.json in src is patched") {
  Sandbox sandbox;
  sandbox.add_app("project/out/main");
  sandbox.write("project/src/acl.json", R"({"profiler":{"switch":"off"}})");
  const Finished run = collect(
      sandbox, {"-m", "out/main", "--", "job", kJob, "env", "MSPROF_ACL_JSON", "cwd", "argv0"});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(contains(run.out, "/tree/project/src/acl.json\n"));
  CHECK(contains(run.out, "/tree/project\n"));
  CHECK(contains(run.out, "/tree/project/out/main\n"));
}

TEST_CASE("--acl-json names a file of another name, inside and outside the project") {
  const DemoProject demo;
  demo.write("project/conf/prof.json", R"({"in":1})");
  demo.write("elsewhere/my.json", R"({"out":1})");
  const Finished inside = collect(demo, {"-m", "main", "--acl-json", "conf/prof.json", "--", "job",
                                         kJob, "append", "conf/prof.json", "\n"});
  CHECK(inside.exit_code == 0);
  const Json first =
      Json::parse(demo.read(std::string("project/") + kJob + ".files/conf/prof.json"));
  CHECK(first.at("in") == 1);
  CHECK(first.at("profiler").at("switch") == "on");

  const Finished outside =
      collect(demo, {"-m", "main", "--acl-json", "../elsewhere/my.json", "--", "job", kOtherJob,
                     "env", "MSPROF_ACL_JSON", "append", "my.json", "\n"});
  CHECK(outside.exit_code == 0);
  CHECK(contains(outside.out, "/tree/project/my.json"));
  CHECK(Json::parse(demo.read(std::string("project/") + kOtherJob + ".files/my.json"))
            .contains("out"));
  CHECK(demo.read("elsewhere/my.json") == R"({"out":1})");
  CHECK(demo.read("project/conf/prof.json") == R"({"in":1})");
  CHECK(collect(demo, {"-m", "main", "--acl-json", "no.json"}).exit_code == 4);
}

TEST_CASE("A linked acl.json is patched in the copy, never in the file it points to") {
  Sandbox sandbox;
  sandbox.add_app();
  sandbox.write("outside/acl.json", R"({"profiler":{"switch":"off"}})");
  fs::create_symlink("../outside/acl.json", sandbox.project() / "acl.json");
  const auto before = snapshot(sandbox.root() / "outside");
  CHECK(collect(sandbox, {"-m", "main", "--", "job", kJob}).exit_code == 0);
  CHECK(snapshot(sandbox.root() / "outside") == before);
  CHECK(fs::is_symlink(sandbox.project() / "acl.json"));
}

TEST_CASE("A broken acl.json is replaced in the copy with a warning") {
  const DemoProject demo;
  demo.write("project/acl.json", "{broken");
  const Finished run = collect(demo, {"-m", "main", "--", "job", kJob});
  CHECK(run.exit_code == 0);
  CHECK(contains(run.err, "warning: "));
  CHECK(contains(run.err, "acl.json is not a JSON object"));
  CHECK(demo.read("project/acl.json") == "{broken");
}

TEST_CASE("Created and changed files are kept, and all changes are listed") {
  const DemoProject demo;
  demo.write("project/state.bin", "old");
  demo.write("project/gone.txt", "x");
  const auto before = snapshot(demo.project());
  const Finished run =
      collect(demo, {"-m", "main", "--output", "../out", "--", "job", kJob, "write", "made/by.txt",
                     "new", "append", "state.bin", "er", "remove", "gone.txt"});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  const std::string files = std::string("out/") + kJob + ".files/";
  CHECK(demo.read(files + "made/by.txt") == "new");
  CHECK(demo.read(files + "state.bin") == "older");
  CHECK_FALSE(demo.exists(files + "models"));
  CHECK_FALSE(demo.exists(files + "acl.json"));
  CHECK(contains(run.err, "made/by.txt"));
  CHECK(contains(run.err, "deleted by the run (in its copy only):\n  gone.txt"));
  CHECK(snapshot(demo.project()) == before);
}

TEST_CASE("Of many files twenty are listed and the rest is counted") {
  const DemoProject demo;
  std::vector<std::string> words = {"-m", "main", "--", "job", kJob};
  for (int i = 0; i < 23; ++i) {
    words.insert(words.end(), {"write", "f" + std::to_string(i), "x"});
  }
  const Finished run = collect(demo, words);
  CHECK(run.exit_code == 0);
  CHECK(contains(run.err, "and 3 more"));
  CHECK(demo.exists(std::string("project/") + kJob + ".files/f22"));
}

TEST_CASE("Without a capture the files are put into a folder named after the executable") {
  const DemoProject demo;
  CHECK(collect(demo, {"-m", "main", "--", "write", "a", "1"}).exit_code == 4);
  CHECK(collect(demo, {"-m", "main", "--", "write", "a", "2"}).exit_code == 4);
  CHECK(demo.read("project/main.files/a") == "1");
  CHECK(demo.read("project/main.files~2/a") == "2");
  CHECK_FALSE(demo.exists("project/main.files~2/main.files"));
}

TEST_CASE("All captures are kept, and an existing name gets a suffix") {
  const DemoProject demo;
  CHECK(collect(demo, {"-m", "main", "--", "job", kJob}).exit_code == 0);
  demo.write(std::string("project/") + kJob + "/sqlite/msprof.db", "mine");
  const Finished run =
      collect(demo, {"-m", "main", "--", "job", kJob, "job", kOtherJob, "write", "f", "x"});
  CHECK(run.exit_code == 0);
  CHECK(demo.exists(std::string("project/") + kJob + "~2/info.json.0"));
  CHECK(demo.exists(std::string("project/") + kOtherJob + "/info.json.0"));
  CHECK(demo.exists(std::string("project/") + kJob + "~2.files/f"));
  CHECK(demo.read(std::string("project/") + kJob + "/sqlite/msprof.db") == "mine");
  CHECK(contains(run.err, "already exists; this capture is saved as"));
}

TEST_CASE("A capture in another folder of the copy is found") {
  const DemoProject demo;
  const Finished run = collect(demo, {"-m", "main", "--", "job-here", kJob});
  CHECK(run.exit_code == 0);
  CHECK(demo.exists(std::string("project/") + kJob + "/info.json.0"));
  CHECK_FALSE(demo.exists(std::string("project/") + kJob + ".files"));
}

TEST_CASE("Links and pipes of a capture are not copied, but counted") {
  const DemoProject demo;
  const Finished run = collect(demo, {"-m", "main", "--", "job-links", kJob});
  CHECK(run.exit_code == 0);
  const std::string data = std::string("project/") + kJob + "/data/";
  CHECK(demo.exists(data + "aicore.0.m.1.1.1.0"));
  CHECK_FALSE(demo.exists(data + "leaves"));
  CHECK_FALSE(demo.exists(data + "pipe"));
  CHECK(contains(run.err, "2 links or special files"));
}

TEST_CASE("The copy keeps times and permissions and has no hard links") {
  const DemoProject demo;
  ::chmod((demo.project() / "models/m.om").c_str(), 0640);
  fs::last_write_time(demo.project() / "models/m.om",
                      fs::file_time_type::clock::now() - std::chrono::hours(1000));
  struct stat before = {};
  REQUIRE(::stat((demo.project() / "models/m.om").c_str(), &before) == 0);
  // The application hangs, so that its copy can be examined.
  Collecting run(demo, {"-m", "main", "--", "ready", (demo.root() / "ready").string(), "hang"});
  REQUIRE(eventually([&] { return demo.exists("ready"); }));
  bool found = false;
  for (const auto& entry : fs::recursive_directory_iterator(demo.runs())) {
    if (entry.path().filename() != "m.om") continue;
    found = true;
    struct stat copy = {};
    REQUIRE(::stat(entry.path().c_str(), &copy) == 0);
    CHECK(copy.st_mode == before.st_mode);
    CHECK(copy.st_mtim.tv_sec == before.st_mtim.tv_sec);
    CHECK(copy.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
    CHECK(copy.st_nlink == 1);
    CHECK(copy.st_ino != before.st_ino);
  }
  CHECK(found);
}

TEST_CASE("The run folder is accessible only to its user") {
  const DemoProject demo;
  Collecting run(demo, {"-m", "main", "--", "ready", (demo.root() / "ready").string(), "hang"});
  REQUIRE(eventually([&] { return demo.exists("ready"); }));
  for (const auto& entry : fs::directory_iterator(demo.runs())) {
    CHECK((entry.status().permissions() & (fs::perms::group_all | fs::perms::others_all)) ==
          fs::perms::none);
  }
}
