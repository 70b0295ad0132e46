// Host load recorded during the work of a device: samples of /proc, and the imported data.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "acl/prof_fixture.hpp"
#include "acl/recording_scene.hpp"
#include "support/files.hpp"

using namespace msprof::test;
using msprof::acl::test::CapturedStderr;
using msprof::acl::test::Scene;

namespace {

using Lines = std::vector<std::string>;

constexpr auto kLong = std::chrono::milliseconds(300);

void work_for(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  volatile std::uint64_t sum = 0;
  while (std::chrono::steady_clock::now() < end) sum = sum + 1;
}

// Returns the kinds of counters with samples, except the frequency, which comes from info.json.
Lines counted_kinds(const Imported& imported) {
  return imported.rows("DISTINCT kind.text",
                       "counter JOIN track ON track.id = track_id JOIN name AS kind ON kind.id = "
                       "kind_name_id WHERE kind.text <> 'lpm_freq' ORDER BY 1");
}

// Returns an SQL aggregate over the samples of a counter.
double aggregate_samples(const Imported& imported, const std::string& function,
                         const std::string& kind, const std::string& counter,
                         const std::string& subject) {
  return std::stod(imported.value(
      function + "(value)",
      "counter JOIN track ON track.id = track_id JOIN name AS kind ON kind.id = kind_name_id"
      " JOIN name AS n ON n.id = name_id JOIN name AS subject ON subject.id = subject_name_id"
      " WHERE kind.text = '" +
          kind + "' AND n.text = '" + counter + "' AND subject.text GLOB '" + subject + "'"));
}

aclError set_to(aclprofConfigType type, const std::string& value) {
  return aclprofSetConfig(type, value.c_str(), value.size());
}

Lines lines_of_file(const std::filesystem::path& file) {
  Lines lines;
  std::string line;
  for (const char c : read_file(file)) {
    if (c != '\n') {
      line += c;
      continue;
    }
    lines.push_back(line);
    line.clear();
  }
  return lines;
}

}  // namespace

TEST_CASE("CPU and memory of the process and of the machine are sampled while a recording lasts") {
  const TempFolder folder;
  msprof::acl::RecordingOptions options;
  options.output = folder.path();
  options.bits = kAllTaskBits;
  options.devices = {0};
  options.host_usage = {true, true, true, true, 50, 0};
  RunningRecording recording(options);
  work_for(kLong);
  recording.finish();
  const Imported imported(recording.folder());
  INFO(imported.text());
  CHECK(imported.verdict() == msprof::Severity::note);
  CHECK(counted_kinds(imported) ==
        Lines{"cpu_usage", "host_cpu", "host_mem", "process_cpu_usage", "process_mem", "sys_mem"});
  // The working thread used part of a CPU, and at most all CPUs.
  const double usage = aggregate_samples(imported, "max", "host_cpu", "Usage", "CPU Avg") / 1e6;
  CHECK(usage > 0);
  CHECK(usage <= 100);
  const double used = aggregate_samples(imported, "max", "host_mem", "Used", "Memory");
  CHECK(used > 1024.0 * 1024);
  CHECK(used < aggregate_samples(imported, "max", "host_mem", "Total", "Memory"));
  CHECK(aggregate_samples(imported, "max", "process_mem", "Resident", "*") * 4096 > 1024.0 * 1024);
  CHECK(aggregate_samples(imported, "max", "sys_mem", "Memory Total", "Memory") > 1024);
  // 300 ms at 50 Hz: at least a sample at each end, but not too many.
  const double samples = aggregate_samples(imported, "count", "host_mem", "Used", "Memory");
  CHECK(samples >= 3);
  CHECK(samples <= 40);
  // Process names are complete and contain no blanks: readers split lines at blanks.
  const std::string self = std::to_string(getpid());
  for (const std::string& line :
       lines_of_file(recording.folder() / "host" / "data" / (self + "-CpuUsage.data.slice_0"))) {
    if (line.starts_with(self + " ("))
      CHECK(line.find(") ") == line.find(' ', self.size() + 1) - 1);
  }
}

TEST_CASE("only requested data of the requested process is sampled") {
  const TempFolder folder;
  msprof::acl::RecordingOptions options;
  options.output = folder.path();
  options.bits = kAllTaskBits;
  options.host_usage.samples_all_memory = true;
  options.host_usage.process = 1;
  RunningRecording recording(options);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  recording.finish();
  const std::vector<std::string> names = names_in(recording.folder() / "host" / "data");
  const auto has = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  CHECK(has("1-Memory.data.slice_0"));
  CHECK(has("1-Memory.data.slice_0.done"));
  CHECK(has("host_sys_mem.data.slice_0"));
  CHECK_FALSE(has("host_cpu.data.slice_0"));
  CHECK_FALSE(has("host_sys_cpu.data.slice_0"));
}

TEST_CASE("sample slices are deleted at the storage limit like those of records") {
  const TempFolder folder;
  msprof::acl::RecordingOptions options;
  options.output = folder.path();
  options.bits = kAllTaskBits;
  options.storage_limit_bytes = std::uint64_t{256} << 10;
  options.host_usage = {true, true, true, true, 50, 0};
  RunningRecording recording(options);
  std::this_thread::sleep_for(kLong);
  recording.finish();
  CHECK(recording->lost() == 0);
  CHECK(std::filesystem::exists(recording.folder() / "host" / "data" / "host_cpu.data.slice_0"));
}

TEST_CASE("only the host load is recorded: settings without a bit") {
  Scene scene;
  REQUIRE(scene.init() == ACL_SUCCESS);
  aclprofConfig* const config = scene.config({0}, 0);
  {
    const CapturedStderr quiet;
    CHECK(aclprofStart(config) == ACL_ERROR_INVALID_PARAM);
  }
  REQUIRE(set_to(ACL_PROF_HOST_SYS, "cpu,mem") == ACL_SUCCESS);
  REQUIRE(set_to(ACL_PROF_HOST_SYS_USAGE, "mem") == ACL_SUCCESS);
  REQUIRE(set_to(ACL_PROF_HOST_SYS_USAGE_FREQ, "20") == ACL_SUCCESS);
  REQUIRE(aclprofStart(config) == ACL_SUCCESS);
  work_for(kLong);
  REQUIRE(aclprofStop(config) == ACL_SUCCESS);
  const Imported imported(scene.only_folder());
  INFO(imported.text());
  CHECK(imported.verdict() == msprof::Severity::note);
  CHECK(counted_kinds(imported) == Lines{"host_cpu", "host_mem", "process_mem", "sys_mem"});
  CHECK(read_file(scene.only_folder() / "host" / "sample.json").find("\"host_sys\":\"cpu,mem\"") !=
        std::string::npos);
}

TEST_CASE("acl.json enables only the host load") {
  Scene scene;
  REQUIRE(scene.acl_init_with(R"("switch":"on","ascendcl":"off","runtime_api":"off",)"
                              R"("task_time":"off","host_sys":"mem","host_sys_usage":"cpu")") ==
          ACL_SUCCESS);
  work_for(kLong);
  REQUIRE(aclFinalize() == ACL_SUCCESS);
  const Imported imported(scene.only_folder());
  INFO(imported.text());
  CHECK(counted_kinds(imported) == Lines{"cpu_usage", "host_mem", "process_cpu_usage"});
}
