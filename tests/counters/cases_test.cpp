// The shared cases of system counters, with expected products from the vendor's tool: tables and
// databases of all cases and the timeline of the 910B, compared by the cases' own comparer. Skips
// values that the vendor's tool gets wrong: docs/differences.md lists each with its reason, and the
// other tests of this folder check the right values, calculated by hand.
#include <catch2/catch.hpp>

#include "golden/shared_cases.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

const Lines kNotJudged = {
    // First samples counted as 0, omitted intervals, times stored as doubles.
    "hbm.csv:Read(MB/s)", "hbm.csv:Write(MB/s)", "HBM", "json:HBM", "hccs.csv:Max", "hccs.csv:Min",
    "hccs.csv:Average", "HCCS", "json:HCCS", "SAMPLE_PMU_TIMELINE:usage", "OSRT_API",
    "json:OS Runtime API",
    // Too large by a factor of 64; fractions under a percent sign.
    "llc_read_write.csv:Throughput(MB/s)", "LLC:throughput", "json:LLC",
    // Totals since the machine started; the speed of another card; a value of another time.
    "cpu_usage.csv:User(%)", "cpu_usage.csv:Sys(%)", "cpu_usage.csv:IoWait(%)",
    "cpu_usage.csv:Irq(%)", "cpu_usage.csv:Soft(%)", "cpu_usage.csv:Idle(%)",
    "host_network_usage.csv:Peak Used Speed(KB/s)", "host_network_usage.csv:Recommend Speed(KB/s)",
    "HOST_NETWORK_USAGE:usage", "HOST_NETWORK_USAGE:speed", "json:Network Usage", "HOST_MEM_USAGE",
    "json:Memory Usage",
    // A duration used as a time; ns used as seconds.
    "nic.csv:Timestamp(us)", "nic.csv:Rx Bandwidth efficiency(%)", "nic.csv:rxPacket/s",
    "nic.csv:Tx Bandwidth efficiency(%)", "nic.csv:txPacket/s", "roce.csv:Timestamp(us)",
    "roce.csv:Rx Bandwidth efficiency(%)", "roce.csv:rxPacket/s",
    "roce.csv:Tx Bandwidth efficiency(%)", "roce.csv:txPacket/s",
    // Truncated integers, overflows, the last record instead of a mean, swapped levels, a fraction.
    "npu_mem.csv:ddr(KB)", "npu_mem.csv:hbm(KB)", "npu_mem.csv:memory(KB)",
    "npu_module_mem.csv:Total Reserved(KB)", "PCIE", "QOS:bandwidth", "pcie.csv:Min",
    "pcie.csv:Max", "pcie.csv:Avg", "SOC_BANDWIDTH_LEVEL:l2BufferBwLevel",
    "SOC_BANDWIDTH_LEVEL:mataBwLevel", "json:Stars Soc Info", "os_runtime_statistic.csv:Time(%)",
    // Only msprof's timelines have this.
    "json:Voltage Info"};

void compare_case(const std::string& name, const Lines& also_not_judged = {}) {
  const SharedCase given("system", name);
  // the shared files do not include empty folders
  fs::create_directories(given.prof / "host" / "data");
  const RunResult exported = run_msprof({"export", "all", "-q", "-dir", given.prof.string()});
  INFO(exported.err);
  REQUIRE(exported.exit_code == 0);
  for (const std::string& file : names_in(given.prof)) {
    if (file.ends_with(".db")) fs::copy_file(given.prof / file, given.products / file);
  }
  Lines options = {"--tolerance", "--clock", "0.4"};
  for (const Lines* const list : {&kNotJudged, &also_not_judged}) {
    for (const std::string& what : *list) options.insert(options.end(), {"--skip", what});
  }
  // Timelines of other chips come from the vendor's Python exporter, which arranges them
  // differently.
  const bool has_timeline = name.starts_with("910b");
  Lines files;
  for (const std::string& file : names_in(given.expected)) {
    const bool is_left_out = name == "310b_sys" && file.starts_with("llc");
    if ((has_timeline || !file.ends_with(".json")) && !is_left_out) files.push_back(file);
  }
  CHECK(compare_products(given.expected, given.products, options, files) == "equal");
}

}  // namespace

TEST_CASE("system counters of the shared cases equal the vendor's tool where it is correct") {
  if (!has_cases_or_skip("system")) return;
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
  // The vendor's tool drops caches 1 to 3 of the 310B.
  SECTION("310B") {
    compare_case("310b_sys", {"LLC"});
  }
}
