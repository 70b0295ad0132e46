// The marks by which a collection has ended, in each kind of capture.
#include "session/capture_end.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "support/files.hpp"
#include "support/job_builder.hpp"
#include "support/prof/prof_folder.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

std::string missing_mark(const fs::path& capture) {
  return why_unfinished(*Session::open(capture)).value_or("");
}

}  // namespace

TEST_CASE("a JOB folder is finished once each file of records has its .done") {
  const TempFolder folder;
  JobBuilder job(folder.path(), "JOBA");
  job.info_json("500").net_info("net", 1);
  CHECK(missing_mark(job.folder()) == "it has no file of records");
  job.data(DataName{}, aicore_file({{}}), kNoDone);
  const std::string name = DataName{}.text();
  CHECK(missing_mark(job.folder()) == "data/" + name + " has no .done");
  job.file("data/" + name + ".done", "file_len:1\n");
  CHECK(missing_mark(job.folder()).empty());
  // Calls are recorded until the end of the application.
  job.file("data/acl_api.0.net.1", acl_api_file({{}}));
  CHECK(missing_mark(job.folder()) == "data/acl_api.0.net.1 has no .done");
  job.file("data/acl_api.0.net.1.done", "");
  CHECK(missing_mark(job.folder()).empty());
}

TEST_CASE("a run.json with the end of the run finishes a capture without other marks") {
  const TempFolder folder;
  JobBuilder job(folder.path(), "JOBA");
  job.info_json("500").data(DataName{}, aicore_file({{}}), kNoDone);
  for (const char* text :
       {"{", R"({"schema": "msprof.run/1"})", R"({"schema": "msprof.run/1", "end": "soon"})",
        R"({"schema": "msprof.run/1", "begin": "2026-01-02T03:04:05.678Z"})"}) {
    CAPTURE(text);
    job.file("run.json", text);
    CHECK_FALSE(missing_mark(job.folder()).empty());
  }
  job.file("run.json", R"({"schema": "msprof.run/1", "end": "2026-01-02T03:04:05.678Z"})");
  CHECK(missing_mark(job.folder()).empty());
}

TEST_CASE("a PROF folder is finished once the host and each device have an end_info") {
  const TempFolder folder;
  prof::ProfSetup setup;
  setup.devices = {0, 1};
  setup.end_us = 0;
  fs::path capture;
  {
    const prof::ProfFolder prof(folder.path(), setup);
    capture = prof.folder();
  }
  CHECK(missing_mark(capture) == "host has no end_info");
  write_file(capture / "host/end_info", "{}");
  CHECK(missing_mark(capture) == "device_0 has no end_info");
  write_file(capture / "device_0/end_info.0", "{}");
  write_file(capture / "device_1/end_info.1.done", "");
  CHECK(missing_mark(capture) == "device_1 has no end_info");
  write_file(capture / "device_1/end_info.1", "{}");
  CHECK(missing_mark(capture).empty());
}

TEST_CASE("a JOB folder of 2019 to 2021 is finished with an end_info, or a .done for each file") {
  const TempFolder folder;
  const fs::path job = folder / "JOBOLD";
  const std::string name = "hwts.log.data.45.dev.profiler_default_tag.0.slice_0";
  write_file(job / "data" / name, std::string(64, '\0'));
  write_file(job / "info.json.0", "{}");
  REQUIRE(Session::open(job)->dialect() == Dialect::classic);
  CHECK(missing_mark(job).find(name + " has no .done") != std::string::npos);
  SECTION("end_info") {
    write_file(job / "end_info.0", "{}");
  }
  SECTION("done") {
    write_file(job / "data" / (name + ".done"), "");
  }
  CHECK(missing_mark(job).empty());
}
