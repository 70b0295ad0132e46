#include "session/cann_files.hpp"

#include <catch2/catch.hpp>

using CannName = msprof::cann::CannFileName;
using msprof::cann::is_companion;
using msprof::cann::parse_data_name;

namespace {

// "stem device slice", with '!' before files kept for the whole run, and "-" for no device.
std::string read(std::string_view name) {
  const auto parsed = parse_data_name(name);
  if (!parsed) return "none";
  return (parsed->is_unaging ? "!" : "") + parsed->stem + " " +
         (parsed->device ? std::to_string(*parsed->device) : "-") + " " +
         std::to_string(parsed->slice);
}

}  // namespace

TEST_CASE("class and tag are removed from host names") {
  CHECK(read("aging.api_event.data.slice_0") == "api_event - 0");
  CHECK(read("unaging.compact.node_basic_info.slice_12") == "!node_basic_info - 12");
  CHECK(read("aging.additional.hash_dic.slice_3") == "hash_dic - 3");
  CHECK(read("aging.additional.Multi_Thread.slice_0") == "Multi_Thread - 0");
  CHECK(read("aging.additional.capture_op_info.slice_0") == "capture_op_info - 0");
  CHECK(read("unaging.variable.capture_op_info.slice_0") == "!capture_op_info.variable - 0");
}

TEST_CASE("a host name of an unknown class keeps the class, so that no kind matches it") {
  CHECK(read("aging.packed.task_track.slice_0") == "packed.task_track - 0");
  CHECK(read("aging.additional.slice_0") == "additional - 0");
}

TEST_CASE("device names consist of stem, device and slice") {
  CHECK(read("stars_soc.data.0.slice_0") == "stars_soc.data 0 0");
  CHECK(read("stars_soc_profile.data.7.slice_10") == "stars_soc_profile.data 7 10");
  CHECK(read("DATA_PREPROCESS.AICPU.12.slice_1") == "DATA_PREPROCESS.AICPU 12 1");
  CHECK(read("npu_mem.app.0.slice_0") == "npu_mem.app 0 0");
  CHECK(read("hwts.aiv_data.0.slice_0") == "hwts.aiv_data 0 0");
  CHECK(read("instr.group_0_aic.0.slice_2") == "instr.group_0_aic 0 2");
}

TEST_CASE("older device names are recognized as the same data") {
  CHECK(read("ts_track.data.44.dev.profiler_default_tag.0.slice_5") == "ts_track.data 0 5");
  CHECK(read("ts_track.data.44.1.3") == "ts_track.data 1 3");
  CHECK(read("hwts.log.data.45.dev.profiler_default_tag.1.slice_0") == "hwts.data 1 0");
  CHECK(read("hwts.log.data.2.slice_0") == "hwts.data 2 0");
  CHECK(read("DATA_PREPROCESS.dev.AICPU.0.slice_0") == "DATA_PREPROCESS.AICPU 0 0");
  CHECK(read("Framework.host.vm.point.0.slice_0") == "Framework.host.vm.point 0 0");
}

TEST_CASE("files of the host system have no device") {
  CHECK(read("host_cpu.data.slice_0") == "host_cpu.data - 0");
}

TEST_CASE("files that are not slices have no stem") {
  for (const char* name :
       {"", ".", "slice_0", ".slice_0", "a..slice_0", "stars_soc.data.0", "all_file.complete",
        "stars_soc.data.0.slice_", "stars_soc.data.0.slice_x", "stars_soc.data.0.slice_-1",
        "stars_soc.data.0.slice_0.bak", "aging.slice_0", "host_sys_cpu.data", "1234-Memory.data",
        "stars_soc.data.0.slice_99999999999999999999", "stars_soc.data.0.slice_9223372036854775808",
        "44.0.3"}) {
    CAPTURE(name);
    CHECK(read(name) == "none");
  }
}

TEST_CASE("a slice number can have 63 bits and leading zeros") {
  CHECK(read("a.data.0.slice_9223372036854775807") == "a.data 0 9223372036854775807");
  CHECK(read("a.data.0.slice_007") == "a.data 0 7");
}

TEST_CASE("companion files are never data") {
  CHECK(is_companion("stars_soc.data.0.slice_0.done"));
  CHECK(is_companion("all_file.complete"));
  CHECK(is_companion("aging.api_event.data.slice_0.zip"));
  CHECK_FALSE(is_companion("stars_soc.data.0.slice_0"));
  CHECK_FALSE(is_companion("done"));
}
