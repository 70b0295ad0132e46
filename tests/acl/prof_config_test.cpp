#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "acl/prof_fixture.hpp"
#include "runtime/acl/prof/configuration.hpp"
#include "runtime/acl/prof/prof_config.hpp"
#include "support/eventually.hpp"

using namespace msprof::acl;
using namespace msprof::acl::test;
using msprof::test::eventually;
using msprof::test::read_file;
using msprof::test::write_file;

namespace {

struct Read {
  aclError code = ACL_SUCCESS;
  Configuration configuration;
  std::string said;
};

Read read(const std::string& document) {
  const TempFolder folder;
  const auto path = folder / "acl.json";
  write_file(path, document);
  Read result;
  const CapturedStderr captured;
  result.code = read_configuration(path.c_str(), 8, result.configuration);
  result.said = captured.text();
  return result;
}

Read read_profiler(const std::string& keys) {
  return read("{\"profiler\":{\"switch\":\"on\"" + (keys.empty() ? "" : "," + keys) + "}}");
}

std::string parameter(const ProfSettings& settings, const std::string& key) {
  for (const auto& [name, value] : settings.parameters())
    if (name == key) return value;
  return "(none)";
}

aclError set(ProfSettings& settings, aclprofConfigType type, const std::string& value) {
  return settings.set(type, value);
}

}  // namespace

TEST_CASE("bits include those that they imply") {
  CHECK(with_implied_bits(ACL_PROF_ACL_API) == ACL_PROF_ACL_API);
  CHECK(with_implied_bits(ACL_PROF_TASK_TIME_L0) ==
        (ACL_PROF_TASK_TIME_L0 | ACL_PROF_TRAINING_TRACE));
  const std::uint64_t task_time =
      ACL_PROF_TASK_TIME | ACL_PROF_TASK_TIME_L0 | ACL_PROF_TRAINING_TRACE;
  CHECK(with_implied_bits(ACL_PROF_TASK_TIME) == task_time);
  CHECK(with_implied_bits(ACL_PROF_L2CACHE) == (task_time | ACL_PROF_L2CACHE));
  CHECK(with_implied_bits(ACL_PROF_OP_ATTR) == (task_time | ACL_PROF_OP_ATTR));
  CHECK(with_implied_bits(ACL_PROF_TASK_TIME_L3) ==
        (task_time | ACL_PROF_TASK_TIME_L2 | ACL_PROF_TASK_TIME_L3));
  for (const std::uint64_t with : {std::uint64_t{0}, std::uint64_t{ACL_PROF_ACL_API},
                                   std::uint64_t{ACL_PROF_ACL_API | ACL_PROF_TASK_TIME}})
    CHECK(with_implied_bits(ACL_PROF_API_STATS | with) == (ACL_PROF_API_STATS | ACL_PROF_ACL_API));
}

TEST_CASE("settings have ranges, and an invalid value keeps the previous one") {
  struct Case {
    aclprofConfigType type;
    std::vector<std::string> good;
    std::vector<std::string> bad;
    aclError result = ACL_SUCCESS;  // expected result for the valid values
  };
  constexpr aclError kOfCard = ACL_ERROR_FEATURE_UNSUPPORTED;
  const std::vector<std::string> to_100 = {"1", "100"}, beyond_100 = {"0", "101", "", "x", "1x"};
  const std::vector<std::string> to_50 = {"1", "50"}, beyond_50 = {"0", "51", "-1"};
  const std::vector<std::string> host_bad = {"", "disk", "cpu,", "cpu,disk", "osrt", "CPU"};
  const std::vector<Case> cases = {
      {ACL_PROF_STORAGE_LIMIT,
       {"200MB", "4294967295MB"},
       {"199MB", "4294967296MB", "200", "200GB", "MB", "-200MB"}},
      {ACL_PROF_SYS_HARDWARE_MEM_FREQ, to_100, beyond_100, kOfCard},
      {ACL_PROF_LLC_MODE, {"read", "write"}, {"", "both", "READ"}, kOfCard},
      {ACL_PROF_SYS_IO_FREQ, to_100, beyond_100, kOfCard},
      {ACL_PROF_SYS_INTERCONNECTION_FREQ, to_50, beyond_50, kOfCard},
      {ACL_PROF_DVPP_FREQ, to_100, beyond_100, kOfCard},
      {ACL_PROF_HOST_SYS, {"cpu", "mem", "cpu,mem"}, host_bad},
      {ACL_PROF_HOST_SYS_USAGE, {"cpu", "mem", "mem,cpu"}, host_bad},
      {ACL_PROF_HOST_SYS_USAGE_FREQ, to_50, beyond_50},
      {ACL_PROF_LOW_POWER_FREQ, to_100, beyond_100, kOfCard},
      {ACL_PROF_SYS_CPU_FREQ, to_50, beyond_50, kOfCard},
      {ACL_PROF_PATH, {"/tmp/out", "relative"}, {"", "a;b", "a\nb"}},
  };
  for (const Case& each : cases) {
    ProfSettings settings;
    for (const std::string& value : each.good) {
      INFO("type " << each.type << ", good " << value);
      CHECK(set(settings, each.type, value) == each.result);
    }
    CHECK((each.result == ACL_SUCCESS || settings.parameters().empty()));
    const auto before = settings.parameters();
    for (const std::string& value : each.bad) {
      INFO("type " << each.type << ", bad " << value);
      CHECK(set(settings, each.type, value) == ACL_ERROR_INVALID_PROFILING_CONFIG);
    }
    CHECK(settings.parameters() == before);
  }
}

TEST_CASE("settings are in sample.json, and the path replaces that of the init") {
  Scene scene;
  REQUIRE(scene.init() == ACL_SUCCESS);
  const std::string other = scene.output() + "/elsewhere";
  REQUIRE(aclprofSetConfig(ACL_PROF_PATH, other.c_str(), other.size()) == ACL_SUCCESS);
  REQUIRE(aclprofSetConfig(ACL_PROF_STORAGE_LIMIT, "300MB", 5) == ACL_SUCCESS);
  REQUIRE(aclprofSetConfig(ACL_PROF_HOST_SYS_USAGE_FREQ, "50", 2) == ACL_SUCCESS);
  REQUIRE(aclprofStart(scene.config({0}, ACL_PROF_ACL_API)) == ACL_SUCCESS);
  REQUIRE(aclprofFinalize() == ACL_SUCCESS);
  CHECK(scene.folders().empty());
  const auto made = prof_folder_names(other);
  REQUIRE(made.size() == 1);
  const std::string sample = read_file(other + "/" + made[0] + "/host/sample.json");
  CHECK(sample.find("300MB") != std::string::npos);
  CHECK(sample.find("\"host_sys_usage_interval\":\"20\"") != std::string::npos);
}

TEST_CASE("a path that was set replaces the init and its path") {
  Scene scene;
  REQUIRE(scene.acl_init() == ACL_SUCCESS);
  const std::string path = scene.output();
  REQUIRE(aclprofSetConfig(ACL_PROF_PATH, path.c_str(), path.size()) == ACL_SUCCESS);
  const aclprofConfig* const config = scene.config({0}, ACL_PROF_ACL_API);
  REQUIRE(aclprofStart(config) == ACL_SUCCESS);
  CHECK(scene.folders().size() == 1);
  CHECK(aclprofStop(config) == ACL_SUCCESS);
  CHECK(aclprofFinalize() == ACL_SUCCESS);
  // Settings are reset by aclprofFinalize.
  CHECK(aclprofStart(config) == ACL_ERROR_PROF_NOT_RUN);
  // A refused start changes nothing.
  REQUIRE(aclprofSetConfig(ACL_PROF_PATH, "/proc/nowhere", 13) == ACL_SUCCESS);
  const CapturedStderr quiet;
  CHECK(aclprofStart(config) == ACL_ERROR_INVALID_FILE);
  CHECK(aclprofFinalize() == ACL_ERROR_PROF_NOT_RUN);
}

TEST_CASE("what a host does not have is refused by its name") {
  Scene scene;
  REQUIRE(scene.init() == ACL_SUCCESS);
  const auto rejection_text = [](aclprofConfigType type, const std::string& value) {
    const CapturedStderr captured;
    CHECK(aclprofSetConfig(type, value.c_str(), value.size()) ==
          ACL_ERROR_INVALID_PROFILING_CONFIG);
    return captured.text();
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(rejection_text(ACL_PROF_SYS_HARDWARE_MEM_FREQ, "50"),
            "ACL_PROF_SYS_HARDWARE_MEM_FREQ requires counters of a card"));
  CHECK(has(rejection_text(ACL_PROF_OPTYPE, "Add"), "ACL_PROF_OPTYPE requires counters of a card"));
  CHECK(has(rejection_text(ACL_PROF_HOST_SYS, "cpu,disk"),
            "ACL_PROF_HOST_SYS must be cpu, mem or both, as provided by /proc, not \"cpu,disk\""));
  const Read read = read_profiler(
      R"("sys_io_sampling_freq":"50","optype":"Add","task_tsfw":"on","instr_profiling":"on")");
  CHECK(read.code == ACL_SUCCESS);
  CHECK(has(read.said, "\"task_tsfw\" requires counters of a card"));
  CHECK(has(read.said, "\"instr_profiling\" requires counters of a card"));
  CHECK(has(read.said, "\"sys_io_sampling_freq\" requires counters of a card"));
  CHECK(has(read.said, "\"optype\" requires counters of a card"));
  CHECK(parameter(read.configuration.settings, "io_sampling_interval") == "(none)");
}

TEST_CASE("metrics of other chips are refused, and those of the configured chip accepted") {
  const std::string name = R"("aic_metrics":"PipelineExecuteUtilization")";
  for (const char* const chip : {"", "5", "4", "1"}) {
    CAPTURE(chip);
    const Variable family("MSPROF_HOST_CHIP", chip);
    const bool is_taken = *chip != '\0' && *chip != '5';
    Scene scene;
    REQUIRE(scene.init() == ACL_SUCCESS);
    CHECK(aclprofStart(
              scene.config({0}, ACL_PROF_AICORE_METRICS, ACL_AICORE_PIPE_EXECUTE_UTILIZATION)) ==
          (is_taken ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM));
    // Without the bit, the metrics are not counted.
    CHECK(aclprofStart(scene.config({1}, ACL_PROF_ACL_API, ACL_AICORE_PIPE_EXECUTE_UTILIZATION)) ==
          ACL_SUCCESS);
    const Read asked = read_profiler(name);
    CHECK(asked.code == (is_taken ? ACL_SUCCESS : ACL_ERROR_INVALID_PROFILING_CONFIG));
    CHECK((asked.said.find("\"PipelineExecuteUtilization\"") == std::string::npos) == is_taken);
  }
}

TEST_CASE("host_sys: \"on\" enables no host usage; names such as cpu do") {
  const Variable sample("PROFILER_SAMPLECONFIG",
                        R"({"result_dir":"/tmp","host_sys":"on","host_sys_pid":-1})");
  Configuration configuration;
  REQUIRE(read_configuration(nullptr, 8, configuration) == ACL_SUCCESS);
  CHECK_FALSE(configuration.settings.host_usage().any());
  const Variable named("PROFILER_SAMPLECONFIG",
                       R"({"result_dir":"/tmp","host_sys":"cpu","host_sys_pid":17,)"
                       R"("host_sys_usage":"mem","host_sys_usage_freq":"5"})");
  REQUIRE(read_configuration(nullptr, 8, configuration) == ACL_SUCCESS);
  const HostUsageOptions& usage = configuration.settings.host_usage();
  CHECK(usage.samples_process_cpu);
  CHECK_FALSE(usage.samples_process_memory);
  CHECK(usage.samples_all_memory);
  CHECK(usage.hz == 5);
  CHECK(usage.process == 17);
}

TEST_CASE("without further keys calls, runtime calls and task times are recorded") {
  const Read result = read_profiler("");
  REQUIRE(result.code == ACL_SUCCESS);
  CHECK(result.configuration.wanted);
  CHECK(result.configuration.config.bits ==
        with_implied_bits(ACL_PROF_ACL_API | ACL_PROF_RUNTIME_API | ACL_PROF_TASK_TIME));
  CHECK(result.configuration.config.devices.size() == 8);
  CHECK(result.configuration.config.metrics == ACL_AICORE_NONE);
  CHECK(result.configuration.collector.empty());
  CHECK(result.said.empty());
}

TEST_CASE("each key of the object switches what it names") {
  const std::string off = R"("ascendcl":"off","runtime_api":"off","task_time":"off",)";
  const auto read_bits = [&](const std::string& keys) {
    const Read result = read_profiler(off + keys);
    INFO(keys);
    CHECK(result.code == ACL_SUCCESS);
    return result.configuration.config.bits;
  };
  CHECK(read_bits(R"("ascendcl":"on")") == ACL_PROF_ACL_API);
  CHECK(read_bits(R"("runtime_api":"on")") == ACL_PROF_RUNTIME_API);
  CHECK(read_bits(R"("aicpu":"on")") == ACL_PROF_AICPU);
  CHECK(read_bits(R"("l2":"on")") == with_implied_bits(ACL_PROF_L2CACHE));
  CHECK(read_bits(R"("hccl":"on")") == ACL_PROF_HCCL_TRACE);
  CHECK(read_bits(R"("msproftx":"on")") == ACL_PROF_MSPROFTX);
  CHECK(read_bits(R"("task_memory":"on")") == ACL_PROF_TASK_MEMORY);
  CHECK(read_bits(R"("task_time":"l0")") == with_implied_bits(ACL_PROF_TASK_TIME_L0));
  CHECK(read_bits(R"("task_time":"l1")") == with_implied_bits(ACL_PROF_TASK_TIME));
  CHECK(read_bits(R"("task_time":"l3")") == with_implied_bits(ACL_PROF_TASK_TIME_L3));
  CHECK(read_bits(R"("ge_api":"l0")") == ACL_PROF_GE_API_L0);
  CHECK(read_bits(R"("ge_api":"l1")") == (ACL_PROF_GE_API_L0 | ACL_PROF_GE_API_L1));
  const Read metrics = read_profiler(R"("aic_metrics":"MemoryUB")");
  CHECK(metrics.configuration.config.metrics == ACL_AICORE_MEMORY_UB);
  CHECK((metrics.configuration.config.bits & ACL_PROF_AICORE_METRICS) != 0);
  const Read settings =
      read_profiler(R"("storage_limit":"200MB","sys_io_sampling_freq":100,"host_sys":"cpu")");
  CHECK(settings.configuration.settings.storage_limit_bytes() == 200ULL * 1024 * 1024);
  CHECK(parameter(settings.configuration.settings, "host_sys") == "cpu");
}

TEST_CASE("a missing or switched-off object records nothing") {
  CHECK_FALSE(read("{}").configuration.wanted);
  CHECK_FALSE(read("").configuration.wanted);
  CHECK_FALSE(read(R"({"dump":{}})").configuration.wanted);
  CHECK_FALSE(read(R"({"profiler":{}})").configuration.wanted);
  CHECK_FALSE(read(R"({"profiler":{"switch":"off","task_time":"on"}})").configuration.wanted);
  const Read none = read_profiler(R"("ascendcl":"off","runtime_api":"off","task_time":"off")");
  CHECK(none.code == ACL_SUCCESS);
  CHECK_FALSE(none.configuration.wanted);
  CHECK(none.said.find("nothing is recorded") != std::string::npos);
}

TEST_CASE("errors in acl.json have their codes and are reported") {
  const auto check = [](const Read& result, aclError code, const std::string& part) {
    INFO(result.said);
    CHECK(result.code == code);
    CHECK(result.said.find(part) != std::string::npos);
  };
  check(read("{"), ACL_ERROR_PARSE_FILE, "not a JSON object");
  check(read("[]"), ACL_ERROR_PARSE_FILE, "not a JSON object");
  check(read(R"({"profiler":[]})"), ACL_ERROR_PARSE_FILE, "\"profiler\"");
  check(read_profiler(R"("ascend_cl":"on")"), ACL_ERROR_INVALID_PARAM, "\"ascend_cl\"");
  check(read(R"({"profiler":{"swich":"on"}})"), ACL_ERROR_INVALID_PARAM, "\"swich\"");
  check(read(R"({"profiler":{"switch":"yes"}})"), ACL_ERROR_INVALID_PROFILING_CONFIG, "\"yes\"");
  for (const char* keys :
       {R"("aicpu":"maybe")", R"("aicpu":1)", R"("task_time":"l4")", R"("ge_api":"on")",
        R"("aic_metrics":"Everything")", R"("storage_limit":"1MB")", R"("output":"a;b")",
        R"("sys_cpu_freq":"51")", R"("host_sys":"gpu")"}) {
    check(read_profiler(keys), ACL_ERROR_INVALID_PROFILING_CONFIG, "must be");
  }
  // Counters of a card are refused, and named.
  check(read_profiler(R"("aic_metrics":"Custom:73,0x8")"), ACL_ERROR_INVALID_PROFILING_CONFIG,
        "no events of a card, not \"Custom:73,0x8\"");
  Configuration configuration;
  const CapturedStderr captured;
  CHECK(read_configuration("/nonexistent/acl.json", 8, configuration) == ACL_ERROR_INVALID_FILE);
  CHECK(captured.text().find("/nonexistent/acl.json cannot be read") != std::string::npos);
}

TEST_CASE("special files are refused, and a pipe without a writer does not block") {
  const TempFolder folder;
  const std::string pipe = (folder / "acl.json").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (const std::string& path : {pipe, folder.path().string(), std::string("/dev/null")}) {
    INFO(path);
    Configuration configuration;
    const CapturedStderr captured;
    CHECK(read_configuration(path.c_str(), 8, configuration) == ACL_ERROR_INVALID_FILE);
    CHECK(captured.text().find(path + " cannot be read") != std::string::npos);
  }
}

TEST_CASE("without an output the work path of the environment is used, or the program's folder") {
  const TempFolder folder;
  {
    const Variable work("ASCEND_WORK_PATH", folder.path().string());
    CHECK(read_profiler("").configuration.output == (folder / "profiling_data").string());
    CHECK(read_profiler(R"("output":"/tmp/x")").configuration.output == "/tmp/x");
  }
  CHECK(read_profiler("").configuration.output ==
        std::filesystem::read_symlink("/proc/self/exe").parent_path().string());
}

TEST_CASE("aclInit records what its file enables, until aclFinalize") {
  Scene scene;
  REQUIRE(scene.acl_init_with(R"("switch":"on","msproftx":"on")") == ACL_SUCCESS);
  void* const stamp = aclprofCreateStamp();
  CHECK(stamp != nullptr);
  aclprofDestroyStamp(stamp);
  CHECK_FALSE(std::filesystem::exists(scene.only_folder() / "host" / "end_info"));
  aclFinalize();
  CHECK(std::filesystem::exists(scene.only_folder() / "host" / "end_info"));
  CHECK(aclprofCreateStamp() == nullptr);
}

TEST_CASE("an unknown key fails aclInit, which can be called again") {
  Scene scene;
  const CapturedStderr quiet;
  CHECK(scene.acl_init_with(R"("switch":"on","acl":"on")") == ACL_ERROR_INVALID_PARAM);
  CHECK(scene.acl_init_with(R"("switch":"on")") == ACL_SUCCESS);
  CHECK(scene.folders().size() == 1);
}

TEST_CASE("a folder that cannot be created is replaced by the program's, with a message") {
  Scene scene;
  const TempFolder folder;
  const auto path = folder / "acl.json";
  write_file(path, R"({"profiler":{"switch":"on","output":"/proc/nowhere"}})");
  const auto own = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto before = prof_folder_names(own);
  const CapturedStderr captured;
  CHECK(scene.acl_init(path.c_str()) == ACL_SUCCESS);
  CHECK(captured.text().find("/proc/nowhere cannot be written") != std::string::npos);
  CHECK(captured.text().find("recorded in " + own.string()) != std::string::npos);
  CHECK(scene.init() == ACL_ERROR_PROF_ALREADY_RUN);
  aclFinalize();
  auto made = prof_folder_names(own);
  std::erase_if(made, [&](const std::string& name) {
    return std::find(before.begin(), before.end(), name) != before.end();
  });
  REQUIRE(made.size() == 1);
  CHECK(std::filesystem::exists(own / made[0] / "host" / "end_info"));
  std::filesystem::remove_all(own / made[0]);
}

TEST_CASE(
    "a collector's folder that cannot be created is reported, and the application continues") {
  Scene scene;
  const Variable sample("PROFILER_SAMPLECONFIG", R"({"result_dir":"/proc/nowhere"})");
  const CapturedStderr captured;
  CHECK(scene.acl_init() == ACL_SUCCESS);
  CHECK(captured.text().find("nothing is recorded") != std::string::npos);
  CHECK(scene.init() == ACL_SUCCESS);
}

TEST_CASE("a file of the environment is used if none is given") {
  Scene scene;
  const TempFolder folder;
  write_file(folder / "acl.json",
             R"({"profiler":{"switch":"on","output":")" + scene.output() + "\"}}");
  const Variable file("MSPROF_ACL_JSON", (folder / "acl.json").string());
  REQUIRE(scene.acl_init() == ACL_SUCCESS);
  CHECK(scene.folders().size() == 1);
}

TEST_CASE("a collector's parameters override acl.json, and it finds the folder's name") {
  const TempFolder collected;
  Scene scene;
  const Variable sample("PROFILER_SAMPLECONFIG",
                        R"({"result_dir":")" + collected.path().string() +
                            R"(","devices":"0,1","acl":"on","taskTime":"on","runtimeApi":"off",)"
                            R"("msproftx":"on","ai_core_metrics":"PipeUtilization",)"
                            R"("storageLimit":"","msprofBinPid":4711,"unknown":[1]})");
  REQUIRE(scene.acl_init_with(R"("switch":"on")") == ACL_SUCCESS);
  CHECK(scene.folders().empty());
  const auto made = prof_folder_names(collected.path());
  REQUIRE(made.size() == 1);
  CHECK(read_file(collected / "4711_profiling_output_record") == made[0] + "\n");

  Configuration configuration;
  REQUIRE(read_configuration(nullptr, 8, configuration) == ACL_SUCCESS);
  CHECK(configuration.config.devices == std::vector<std::uint16_t>{0, 1});
  CHECK(configuration.config.bits ==
        with_implied_bits(ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_MSPROFTX |
                          ACL_PROF_AICORE_METRICS));
}

TEST_CASE("collector parameters that are not JSON fail aclInit with a message") {
  Scene scene;
  const Variable sample("PROFILER_SAMPLECONFIG", "{broken");
  const CapturedStderr captured;
  CHECK(scene.acl_init() == ACL_ERROR_INVALID_PROFILING_CONFIG);
  CHECK(captured.text().find("PROFILER_SAMPLECONFIG") != std::string::npos);
}

TEST_CASE("in dynamic mode nothing is recorded automatically") {
  Scene scene;
  const Variable mode("PROFILING_MODE", "dynamic");
  REQUIRE(scene.acl_init_with(R"("switch":"on")") == ACL_SUCCESS);
  CHECK(scene.folders().empty());
  CHECK(scene.init() == ACL_ERROR_FEATURE_UNSUPPORTED);
}

TEST_CASE("a delay postpones and a duration ends the recording, but not the mode") {
  Scene scene;
  const Variable mode("PROFILING_MODE", "delay_or_duration");
  const Variable sample("PROFILER_SAMPLECONFIG", R"({"result_dir":")" + scene.output() +
                                                     R"(","delayTime":"1","durationTime":"1"})");
  const auto begin = std::chrono::steady_clock::now();
  const auto spent = [&] { return std::chrono::steady_clock::now() - begin; };
  REQUIRE(scene.acl_init() == ACL_SUCCESS);
  CHECK(scene.init() == ACL_ERROR_PROF_ALREADY_RUN);
  REQUIRE(eventually([&] { return scene.folders().size() == 1; }));
  CHECK(spent() >= std::chrono::seconds(1));
  const auto end = scene.only_folder() / "host" / "end_info";
  CHECK(eventually([&] { return std::filesystem::exists(end); }));
  CHECK(spent() >= std::chrono::seconds(2));
  CHECK(scene.init() == ACL_ERROR_PROF_ALREADY_RUN);
}

TEST_CASE("finishing before the delay is over records nothing and waits for nothing") {
  Scene scene;
  const Variable mode("PROFILING_MODE", "delay_or_duration");
  const Variable sample("PROFILER_SAMPLECONFIG",
                        R"({"result_dir":")" + scene.output() + R"(","delayTime":"100000"})");
  REQUIRE(scene.acl_init() == ACL_SUCCESS);
  aclFinalize();  // otherwise it takes longer than the test runner's limit
  CHECK(scene.folders().empty());
}

TEST_CASE("a configured recording has only the folders of the used devices") {
  Scene scene;
  REQUIRE(scene.acl_init_with(R"("switch":"on")") == ACL_SUCCESS);
  aclrtSetDevice(3);
  aclrtStream stream = nullptr;
  REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
  auto* const step = aclprofCreateStepInfo();
  CHECK(aclprofGetStepTimestamp(step, ACL_STEP_START, stream) == ACL_SUCCESS);
  CHECK(aclprofGetStepTimestamp(step, ACL_STEP_END, stream) == ACL_SUCCESS);
  aclprofDestroyStepInfo(step);
  REQUIRE(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  aclrtDestroyStream(stream);
  aclFinalize();
  CHECK(msprof::test::names_in(scene.only_folder()) ==
        std::vector<std::string>{"device_3", "host"});
  CHECK(std::filesystem::exists(scene.only_folder() / "device_3" / "end_info.3"));
}
