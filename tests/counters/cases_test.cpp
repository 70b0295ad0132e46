// The shared cases of system counters, whose expected products come from the vendor's tool: tables
// and database of every case, the timeline of the 910B, compared by the comparer that comes with
// them. What is not judged is where the vendor's tool is wrong: docs/differences.md has each with
// its reason, and the other tests of this folder have the right values, worked out by hand.
#include <catch2/catch.hpp>

#include "golden/cann_fixture.hpp"
#include "support/require.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

const fs::path kSharedFolder = MSPROF_SHARED_DIR;

const Lines kNotJudged = {
    // First samples that count as 0, intervals that are left out, doubles of times.
    "hbm.csv:Read(MB/s)", "hbm.csv:Write(MB/s)", "HBM", "json:HBM", "hccs.csv:Max", "hccs.csv:Min",
    "hccs.csv:Average", "HCCS", "json:HCCS", "SAMPLE_PMU_TIMELINE:usage", "OSRT_API",
    "json:OS Runtime API",
    // 64 times too large, and fractions under a percent sign.
    "llc_read_write.csv:Throughput(MB/s)", "LLC:throughput", "json:LLC",
    // Since the machine started; the speed of another card; the value of another moment.
    "cpu_usage.csv:User(%)", "cpu_usage.csv:Sys(%)", "cpu_usage.csv:IoWait(%)",
    "cpu_usage.csv:Irq(%)", "cpu_usage.csv:Soft(%)", "cpu_usage.csv:Idle(%)",
    "host_network_usage.csv:Peak Used Speed(KB/s)", "host_network_usage.csv:Recommend Speed(KB/s)",
    "HOST_NETWORK_USAGE:usage", "HOST_NETWORK_USAGE:speed", "json:Network Usage", "HOST_MEM_USAGE",
    "json:Memory Usage",
    // A duration as a time, ns as seconds.
    "nic.csv:Timestamp(us)", "nic.csv:Rx Bandwidth efficiency(%)", "nic.csv:rxPacket/s",
    "nic.csv:Tx Bandwidth efficiency(%)", "nic.csv:txPacket/s", "roce.csv:Timestamp(us)",
    "roce.csv:Rx Bandwidth efficiency(%)", "roce.csv:rxPacket/s",
    "roce.csv:Tx Bandwidth efficiency(%)", "roce.csv:txPacket/s",
    // Cut to integers, overflows, the last record alone, exchanged levels, a fraction.
    "npu_mem.csv:ddr(KB)", "npu_mem.csv:hbm(KB)", "npu_mem.csv:memory(KB)",
    "npu_module_mem.csv:Total Reserved(KB)", "PCIE", "QOS:bandwidth", "pcie.csv:Min",
    "pcie.csv:Max", "pcie.csv:Avg", "SOC_BANDWIDTH_LEVEL:l2BufferBwLevel",
    "SOC_BANDWIDTH_LEVEL:mataBwLevel", "json:Stars Soc Info", "os_runtime_statistic.csv:Time(%)",
    // Drawn by us alone.
    "json:Voltage Info"};

void compare_case(const std::string& name, const Lines& also_not_judged = {}) {
  const fs::path folder = kSharedFolder / "cases" / "system" / name;
  const TempFolder temp;
  const auto captures = names_in(folder / "input");
  REQUIRE(captures.size() == 1);
  const fs::path capture = temp / captures.front();
  fs::copy(folder / "input" / captures.front(), capture, fs::copy_options::recursive);
  fs::create_directories(capture / "host" / "data");  // empty ones are not among shared files
  const RunResult exported = run_msprof({"export", "all", "-q", "-dir", capture.string()});
  INFO(exported.err);
  REQUIRE(exported.exit_code == 0);
  for (const std::string& file : names_in(capture)) {
    if (file.ends_with(".db")) {
      fs::copy_file(capture / file, capture / "mindstudio_profiler_output" / file);
    }
  }
  Lines words = {"python3", (kSharedFolder / "tools" / "compare_cann.py").string(), "--tolerance",
                 "--clock", "0.4"};
  for (const Lines* const list : {&kNotJudged, &also_not_judged}) {
    for (const std::string& what : *list) words.insert(words.end(), {"--skip", what});
  }
  words.insert(words.end(),
               {(folder / "expected").string(), (capture / "mindstudio_profiler_output").string()});
  // Timelines of other chips are the vendor's Python way's, in an arrangement of its own.
  const bool has_timeline = name.starts_with("910b");
  for (const std::string& file : names_in(folder / "expected")) {
    const bool is_left_out = name == "310b_sys" && file.starts_with("llc");
    if ((has_timeline || !file.ends_with(".json")) && !is_left_out) words.push_back(file);
  }
  const RunResult result = run_program("/usr/bin/env", words);
  INFO(result.out);
  INFO(result.err);
  CHECK(result.exit_code == 0);
}

}  // namespace

TEST_CASE("system counters of the shared cases are those of the vendor's tool, where it is right") {
  if (!require_or_skip("shared", fs::is_directory(kSharedFolder / "cases" / "system"),
                       "../shared is absent"))
    return;
  SECTION("910B, two devices") {
    compare_case("910b_sys");
  }
  SECTION("910B, few samples") {
    compare_case("910b_sys_min");
  }
  SECTION("910A") {
    compare_case("910a_sys");
  }
  SECTION("310P") {
    compare_case("310p_sys");
  }
  // Its caches 1 to 3 are left out there.
  SECTION("310B") {
    compare_case("310b_sys", {"LLC"});
  }
}
