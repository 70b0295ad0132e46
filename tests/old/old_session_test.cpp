// Detection of old captures by their contents, for all spellings of file names.
#include <catch2/catch.hpp>

#include "old/old_capture.hpp"
#include "session/cann_session.hpp"
#include "session/classic_session.hpp"

using namespace msprof;
using namespace msprof::test;

TEST_CASE("A PROF folder with calls in a device folder is of CANN 5") {
  const TempFolder temp;
  write_old_info(temp / "PROF_1/device_0");
  write_file(temp / "PROF_1/device_0/data/AclModule.acl_model.0.slice_0", acl_call("a", 1, 2));
  CHECK(recognise(temp / "PROF_1") == Dialect::cann);
  CHECK(CannSession(temp / "PROF_1").is_cann5());

  // With records of later runtimes in host/, the folder is not CANN 5.
  write_file(temp / "PROF_1/host/data/unaging.api_event.data.slice_0", "");
  CHECK(!CannSession(temp / "PROF_1").is_cann5());
}

TEST_CASE("A JOB folder is recognized as classic by its files, and never as one of a board") {
  const TempFolder temp;
  write_file(temp / "JOBA/training_trace.46.dev.profiler_default_tag.3.slice_0",
             trace_mark(255, 1, 9));
  CHECK(recognise(temp / "JOBA") == Dialect::classic);
  write_file(temp / "JOBB/data/hwts.log.data.45.dev.profiler_default_tag.0.slice_0", "");
  CHECK(recognise(temp / "JOBB") == Dialect::classic);
  write_file(temp / "JOBC/info.json.0", R"({"DeviceInfo": [{"aic_frequency": "900"}]})");
  write_file(temp / "JOBC/data/m.0.net.info", "x");
  CHECK(recognise(temp / "JOBC") == Dialect::svp);
}

TEST_CASE("Products in device_N of a JOB folder do not make it a PROF folder") {
  const TempFolder temp;
  write_file(temp / "JOBA/hwts.log.data.45.dev.profiler_default_tag.0.slice_0", "");
  write_file(temp / "JOBA/device_0/summary/prof_rule_0.json", "{}");
  CHECK(recognise(temp / "JOBA") == Dialect::classic);
  write_file(temp / "JOBA/device_0/data/hwts.data.0.slice_0", "");
  CHECK(recognise(temp / "JOBA") == Dialect::cann);
}

TEST_CASE("A stray file of the other tool chain does not change the kind of a JOB folder") {
  const TempFolder temp;
  const auto make_board = [&](const std::string& name) {
    write_file(temp / name / "info.json.0", R"({"DeviceInfo": [{"aic_frequency": "900"}]})");
    for (const char* file : {"m.1.net.info", "m.1.layer.info", "aicore.0.m.1.1.1.0"})
      write_file(temp / name / "data" / file, "");
  };
  make_board("JOBA");
  CHECK(recognise(temp / "JOBA") == Dialect::svp);
  for (const std::string stray :
       {"data/hwts.data.bin", "data/hwts.data.0.slice_0", "host_start.log.0", "data/a.slice_1"}) {
    INFO(stray);
    const std::string name = "JOB" + std::to_string(stray.size());
    make_board(name);
    write_file(temp / name / stray, "");
    CHECK(recognise(temp / name) == Dialect::svp);
  }
  // The reverse: calls of a board among the files of a 910.
  write_old_info(temp / "JOBC");
  write_file(temp / "JOBC/data/hwts.log.data.45.dev.profiler_default_tag.0.slice_0", "");
  write_file(temp / "JOBC/data/acl_api.0.m.1", "");
  REQUIRE(recognise(temp / "JOBC") == Dialect::classic);
  const OldCapture capture(temp / "JOBC");
  CHECK(capture.report().text().find("present, not read (data/acl_api.0.m.1)") !=
        std::string::npos);
}

TEST_CASE("Names of a JOB folder are read in the three historic styles") {
  using cann::parse_classic_name;
  const auto training = parse_classic_name("hwts.log.data.45.dev.profiler_default_tag.2.slice_11");
  REQUIRE(training);
  CHECK(training->stem == "hwts.data");
  CHECK(training->device == 2);
  CHECK(training->slice == 11);
  const auto inference = parse_classic_name("hwts.log.data.45.2.11");
  REQUIRE(inference);
  CHECK(inference->stem == "hwts.data");
  CHECK(inference->device == 2);
  CHECK(inference->slice == 11);
  const auto host = parse_classic_name("Framework.task_desc_info.2.11");
  REQUIRE(host);
  CHECK(host->stem == "Framework.task_desc_info");
  CHECK(host->device == 2);
  CHECK(host->slice == 11);
  const auto container = parse_classic_name("Framework.host.vm.point.2.JOBABC.slice_0");
  REQUIRE(container);
  CHECK(container->stem == "Framework.host.vm.point");
  CHECK(container->device == 2);
  CHECK(!parse_classic_name("pipeline_profiling_0.json"));
}

TEST_CASE("Slices are read by number, and files of both folders belong to one device") {
  const TempFolder temp;
  for (int slice = 0; slice < 12; ++slice)
    write_file(
        temp / ("JOBA/data/Framework.host.vm.task_desc_info.0.slice_" + std::to_string(slice)),
        "x");
  write_file(temp / "JOBA/hwts.log.data.45.dev.profiler_default_tag.0.slice_0", "");
  const ClassicSession session(temp / "JOBA");
  REQUIRE(session.parts().size() == 1);
  REQUIRE(session.raw_files().size() == 13);
  CHECK(session.raw_files()[11].name == "data/Framework.host.vm.task_desc_info.0.slice_11");
  CHECK(session.raw_files()[12].name == "hwts.log.data.45.dev.profiler_default_tag.0.slice_0");
}

TEST_CASE("A start log of the host needs no counter, and a late start log is not used") {
  for (const bool has_count : {false, true}) {
    const TempFolder temp;
    write_old_info(temp / "PROF_1/device_0", has_count);
    write_file(temp / "PROF_1/device_0/data/AclModule.acl_model.0.slice_0", acl_call("a", 1, 2));
    const CannSession session(temp / "PROF_1");
    REQUIRE(session.parts().front().clock);
    CHECK(session.parts().front().clock->ns(kOldTicks + 100) == kOldWallNs + 1000);
    CHECK(session.host_clock()->ns(kOldMonotonicNs + 5) == kOldWallNs + 5);
  }
}
