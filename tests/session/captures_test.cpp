#include "session/capture_walk.hpp"
#include "session/session.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "support/files.hpp"
#include "support/job_builder.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

fs::path make_job(const fs::path& parent, const std::string& name) {
  JobBuilder job(parent, name);
  job.info_json("500");
  return job.folder();
}

void set_time(const fs::path& path, long seconds, long ns = 0) {
  const timespec both[2] = {{seconds, ns}, {seconds, ns}};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), both, 0) == 0);
}

std::string thrown_message(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.code() == Exit::nothing_to_do);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("the newest child has the newest info.json, to the nanosecond") {
  const TempFolder folder;
  const auto a = make_job(folder.path(), "JOBA");
  const auto b = make_job(folder.path(), "JOBB");
  set_time(a / "info.json.0", 1'600'000'000, 2);
  set_time(b / "info.json.0", 1'600'000'000, 1);
  set_time(b, 1'900'000'000);
  CHECK(newest_capture(folder.path()) == a);
}

TEST_CASE("the newest of several info.json files is used, with equal times the last name") {
  const TempFolder folder;
  const auto a = make_job(folder.path(), "JOBA");
  const auto b = make_job(folder.path(), "JOBB");
  set_time(a / "info.json.0", 1'600'000'000);
  set_time(b / "info.json.0", 1'600'000'000);
  CHECK(newest_capture(folder.path()) == b);
  write_file(a / "info.json.1", "{}");
  set_time(a / "info.json.1", 1'600'000'001);
  CHECK(newest_capture(folder.path()) == a);
}

TEST_CASE("a PROF folder has the time of its name") {
  const TempFolder folder;
  const auto job = make_job(folder.path(), "JOBA");
  // Far from midnight and from the current date, so that time zones do not matter.
  const auto prof = folder / "PROF_000001_20200515160507007_ABCDEFGHIJKLMNOP";
  fs::create_directories(prof / "host");
  set_time(job / "info.json.0", 1'589'000'000);  // 2020-05-09
  CHECK(newest_capture(folder.path()) == prof);
  set_time(job / "info.json.0", 1'590'000'000);  // 2020-05-20
  CHECK(newest_capture(folder.path()) == job);
  const auto later = folder / "PROF_000002_20200515160507008_ABCDEFGHIJKLMNOP";
  fs::create_directories(later / "device_0");
  set_time(job / "info.json.0", 1'589'000'000);
  CHECK(newest_capture(folder.path()) == later);
}

TEST_CASE("a capture stands for itself, another folder for the newest capture at any depth") {
  const TempFolder folder;
  CHECK(thrown_message([&] { newest_capture(folder.path()); }).find("-dir") != std::string::npos);
  const auto deep = make_job(folder / "a/b/c/d", "JOBD");
  const auto child = make_job(folder.path(), "JOBC");
  set_time(deep / "info.json.0", 1'600'000'001);
  set_time(child / "info.json.0", 1'600'000'000);
  CHECK(newest_capture(folder.path()) == deep);
  CHECK(newest_capture(child) == child);
  set_time(child / "info.json.0", 1'600'000'002);
  CHECK(newest_capture(folder.path()) == child);
  // run.json has the start of the run; the files may have been copied later.
  write_file(deep / "run.json",
             R"({"schema": "msprof.run/1", "begin": "2026-01-02T03:04:05.678Z"})");
  CHECK(newest_capture(folder.path()) == deep);
  make_job(folder / ".hidden", "JOBH");
  CHECK(newest_capture(folder.path()) == deep);
}

TEST_CASE("patterns are folders, globs or folders of captures, and each capture is used once") {
  const TempFolder folder;
  const auto a = make_job(folder.path(), "JOBA");
  const auto b = make_job(folder.path(), "JOBB");
  fs::create_directory_symlink(a, folder / "link");
  const std::string base = folder.path().string();
  using Paths = std::vector<fs::path>;
  CHECK(find_captures({base + "/JOBB", base + "/JOBA"}) == Paths{b, a});
  CHECK(find_captures({base + "/JOB*"}) == Paths{a, b});
  CHECK(find_captures({base + "/JOB?", base + "/JOBA"}) == Paths{a, b});
  CHECK(find_captures({base + "/JOBA", base + "/link"}) == Paths{a});
  CHECK(find_captures({base}).size() == 2);
}

TEST_CASE("a glob keeps invalid folders named like captures, a folder warns about them") {
  const TempFolder folder;
  const auto a = make_job(folder.path(), "JOBA");
  write_file(folder / "JOBNODATA/info.json.0", "{}");
  write_file(folder / "JOBA.files/x", "of JOBA");
  const std::string base = folder.path().string();
  using Paths = std::vector<fs::path>;
  CHECK(find_captures({base + "/JOB*"}) == Paths{a, base + "/JOBNODATA"});
  CHECK(find_captures({base + "/*"}) == Paths{a, base + "/JOBNODATA"});
  CHECK(find_captures({base}) == Paths{a});
  const CapturesBelow below = walk_captures(folder.path());
  REQUIRE(below.skipped.size() == 1);
  CHECK(below.skipped[0].folder == folder / "JOBNODATA");
  CHECK(below.skipped[0].reason.find("no data folder") != std::string::npos);
  // A folder of captures that is named like a capture.
  make_job(folder / "JOBS", "JOBB");
  CHECK(walk_captures(folder.path()).skipped.size() == 1);
}

TEST_CASE("a pattern without a capture is kept in the list and refused when it is opened") {
  const TempFolder folder;
  const auto a = make_job(folder.path(), "JOBA");
  fs::create_directories(folder / "x1");
  const std::string base = folder.path().string();
  using Paths = std::vector<fs::path>;
  CHECK(find_captures({base + "/nope", base + "/JOBA"}) == Paths{base + "/nope", a});
  CHECK(find_captures({base + "/x*"}) == Paths{base + "/x1"});
  CHECK(find_captures({base + "/y*"}) == Paths{base + "/y*"});
  CHECK(thrown_message([&] { Session::open(base + "/nope"); }) ==
        "no such folder: " + base + "/nope");
}

TEST_CASE("the parent folder stands for the folders of several workers") {
  const TempFolder folder;
  std::vector<fs::path> made;
  for (const std::string worker : {"host_1_2024_ascend_pt", "host_2_2024_ascend_pt"}) {
    made.push_back(folder / worker / "PROF_000001_20240515160507007_ABCDEFGHIJKLMNOP");
    fs::create_directories(made.back() / "device_0");
    fs::create_directories(folder / worker / "FRAMEWORK");
  }
  const auto job = make_job(folder.path(), "JOBA");
  make_job(folder / "other", "JOBB");  // other folders are not searched
  CHECK(find_captures({folder.path().string()}) == std::vector<fs::path>{job, made[0], made[1]});
}

TEST_CASE("an unreadable folder of captures is reported") {
  const TempFolder folder;
  for (const char* name : {"JOBA", "JOBB"}) write_file(folder / name / "info.json.0", "{}");
  const auto refused = [&](const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      CHECK(error.id() == FindingId::unreadable_captures);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string opened = refused([&] { Session::open(folder.path()); });
  CHECK(opened.find("2 folders are named like captures") != std::string::npos);
  CHECK(opened.find("JOBA has no data folder") != std::string::npos);
  CHECK(opened.find("JOBB has no data folder") != std::string::npos);
  CHECK(refused([&] { newest_capture(folder.path()); }) == opened);
  make_job(folder.path(), "JOBC");
  CHECK(newest_capture(folder.path()) == folder / "JOBC");
}

TEST_CASE("dialects are recognized by content") {
  const TempFolder folder;
  const auto job = make_job(folder.path(), "renamed");
  CHECK(recognise(job) == Dialect::svp);
  SECTION("an info.json with hwts_frequency is classic") {
    write_file(job / "info.json.0", R"({"DeviceInfo":[{"hwts_frequency":"1"}]})");
    CHECK(recognise(job) == Dialect::classic);
  }
  SECTION("slices are classic") {
    write_file(job / "data/ts_track.data.0.slice_0", "");
    CHECK(recognise(job) == Dialect::classic);
  }
  SECTION("a start log is classic") {
    write_file(job / "host_start.log.0", "");
    CHECK(recognise(job) == Dialect::classic);
  }
  SECTION("a model called slice_x is not") {
    write_file(job / "data/m.slice_x.1.net.info", "");
    CHECK(recognise(job) == Dialect::svp);
  }
  SECTION("device folders are cann") {
    fs::create_directories(job / "device_12");
    CHECK(recognise(job) == Dialect::cann);
  }
  SECTION("a folder device_x is not") {
    fs::create_directories(job / "device_x");
    CHECK(recognise(job) == Dialect::svp);
  }
  SECTION("data file names decide without info.json") {
    fs::remove(job / "info.json.0");
    CHECK_FALSE(recognise(job));
    write_file(job / "data/AAcore.0.m.1.1.1.0", "");
    CHECK(recognise(job) == Dialect::svp);
  }
  SECTION("no data folder, no capture") {
    fs::remove(job / "data");
    CHECK_FALSE(recognise(job));
  }
}

TEST_CASE("a session records name, size and time of every raw file, including .done files") {
  const TempFolder folder;
  JobBuilder job(folder.path());
  job.info_json("500").data(DataName{}, "12345").file("data/odd", "x").file("other", "x");
  set_time(job.folder() / "data/odd", 1'600'000'000, 7);
  const auto session = Session::open(job.folder());
  std::vector<std::string> states;
  for (const auto& state : session->file_states()) {
    states.push_back(state.name + " " + std::to_string(state.size_bytes));
  }
  CHECK(states == std::vector<std::string>{"data/aicore.0.net.1.1.1.0 5",
                                           "data/aicore.0.net.1.1.1.0.done 47", "data/odd 1",
                                           "info.json.0 42"});
  CHECK(session->file_states()[2].mtime_ns == 1'600'000'000'000'000'007);
}

TEST_CASE("a .done file has key:value lines with nonnegative numbers") {
  DoneFile done;
  done.values = {{"file_len", "12"}, {"pid", "-3"}, {"tid", "4x"}, {"cache_hit", ""}};
  CHECK(done.integer("file_len") == 12);
  for (const char* key : {"pid", "tid", "cache_hit", "missing"}) CHECK_FALSE(done.integer(key));
}
