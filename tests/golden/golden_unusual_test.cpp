// Folders with additional or unexpected contents, and folders that are not svp captures.
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "golden/golden_fixture.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

struct Plain : Capture {
  Plain() {
    job.info_json("1000").net_info("net", 1);
    job.layer_info("net", 1, {{0, 0, "A", "AA_CORE", "a", ""}});
    job.data(DataName{}, aicore_file({layer_record(0, 1000, 1000)}));
    job.data("acl_api.0.net.1", acl_api_file({{3, 0, 1, 2}}), {.pid = 1, .tid = 2});
  }
};

}  // namespace

TEST_CASE("unread files are listed and are not a loss") {
  Plain capture;
  capture.job.file("data/cont.0.net.1.1.1.0", "recurrent").file("data/notes.txt", "x");
  capture.job.file("data/aicore.x.net.1.1.1.0", "x").file("data/sub/aicore.0.net.1.1.1.7", "x");
  const auto verdict = capture.import(0);
  CHECK(verdict.at("verdict") == "without");
  auto not_read = verdict.at("not_read").get<Lines>();
  std::sort(not_read.begin(), not_read.end());
  CHECK(not_read == Lines{"data/aicore.x.net.1.1.1.0", "data/cont.0.net.1.1.1.0", "data/notes.txt",
                          "data/sub"});
}

TEST_CASE("a link that leaves the capture is not followed") {
  Plain capture;
  const auto outside = capture.folder / "secret";
  write_file(outside, aicore_file({layer_record(0, 5000, 1)}));
  fs::create_symlink(outside, capture.job.folder() / "data/aicore.0.net.1.1.1.9");
  const auto verdict = capture.import(3);
  CHECK(verdict.at("kinds").at("aicore").at("records") == 1);
  CHECK(capture.log().at(0) ==
        "partial|other|capture|data/aicore.0.net.1.1.1.9|link to outside the capture|1|NULL");
}

TEST_CASE("a file that is not regular is reported and not waited for") {
  Plain capture;
  const auto path = capture.job.folder() / "data/aicore.0.net.1.1.1.9";
  SECTION("a FIFO") {
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  }
  SECTION("a link to nothing") {
    fs::create_symlink("nowhere", path);
  }
  SECTION("a link to itself") {
    fs::create_symlink("aicore.0.net.1.1.1.9", path);
  }
  const auto verdict = capture.import(3);
  CHECK(verdict.at("kinds").at("aicore").at("records") == 1);
}

TEST_CASE("a capture with control characters in file names cannot fake a verdict") {
  Plain capture;
  capture.job.file("data/x\nverdict: complete (0 files)\n\x1b[2J", "x").remove("info.json.0");
  const auto result = capture.run({"import"});
  CHECK(result.exit_code == 3);
  CHECK(result.err.find('\x1b') == std::string::npos);
  CHECK(result.err.find("\nverdict: complete") == std::string::npos);
  CHECK(result.err.find("\nverdict: PARTIAL DATA") != std::string::npos);
}

TEST_CASE("a product folder that is a link out of the capture is refused") {
  Plain capture;
  const std::string name = GENERATE(as<std::string>(), "summary", "sqlite", "log");
  fs::create_directories(capture.folder / "elsewhere");
  fs::create_symlink(capture.folder / "elsewhere", capture.job.folder() / name);
  const auto result = capture.run({"export", "summary"});
  CHECK(result.exit_code == 5);
  CHECK(result.err.find("--output") != std::string::npos);
  CHECK(names_in(capture.folder / "elsewhere").empty());
}

TEST_CASE("a renamed capture is recognized by its content") {
  TempFolder folder;
  JobBuilder job(folder.path(), "my test run");
  add_face(job);
  CHECK(run_msprof({"import", "-dir", job.folder().string()}).exit_code == 0);
}

TEST_CASE("a task log that is not a slice is reported as not read") {
  const TempFolder folder;
  JobBuilder job(folder.path());
  job.info_json("500").file("data/hwts.data.0", "x");
  const auto result = run_msprof({"import", "-dir", job.folder().string()});
  CHECK(result.exit_code == 4);
  INFO(result.err);
  CHECK(result.err.find("present, not read (data/hwts.data.0)") != std::string::npos);
}

TEST_CASE("slices with a tag belong to an Ascend 310 or 910, whatever is in info.json") {
  const TempFolder folder;
  JobBuilder job(folder.path());
  job.info_json("500").file("data/aicore.data.0.dev.profiler_default_tag.slice_0", "x");
  const auto result = run_msprof({"import", "-dir", job.folder().string()});
  INFO(result.err);
  CHECK(result.exit_code == 3);
  CHECK(result.err.find("incomplete record at the end, 1 byte") != std::string::npos);
}

TEST_CASE("a JOB folder of an Ascend 310 or 910 without data exits with code 4") {
  const TempFolder folder;
  JobBuilder job(folder.path());
  job.file("info.json.0", R"({"DeviceInfo": [{"hwts_frequency": "100"}]})");
  const auto result = run_msprof({"import", "-dir", job.folder().string()});
  INFO(result.err);
  CHECK(result.exit_code == 4);
  CHECK(result.err.find("no profile data") != std::string::npos);
}

TEST_CASE("a folder with info.json and no data folder is reported with the likely cause") {
  const TempFolder folder;
  JobBuilder job(folder.path());
  job.info_json("500").remove("data");
  const auto result = run_msprof({"import", "-dir", job.folder().string()});
  CHECK(result.exit_code == 4);
  CHECK(result.err.find("--online_model_type=2") != std::string::npos);
}

TEST_CASE("an empty data folder exits with code 4") {
  const TempFolder folder;
  JobBuilder job(folder.path());
  job.info_json("500");
  CHECK(run_msprof({"import", "-dir", job.folder().string()}).exit_code == 4);
  CHECK(run_msprof({"export", "summary", "-dir", job.folder().string()}).exit_code == 4);
  CHECK(run_msprof({"export", "timeline", "-dir", job.folder().string()}).exit_code == 4);
  CHECK(run_msprof({"show", "-dir", job.folder().string()}).exit_code == 4);
  CHECK_FALSE(fs::exists(job.folder() / "summary"));
  CHECK_FALSE(fs::exists(job.folder() / "timeline"));
}
