// PROFILING_MODE=true with PROFILING_OPTIONS at aclInit: recorded data, its location, refusals and
// precedence.
#include <catch2/catch.hpp>

#include "acl/capture.hpp"
#include "acl/prof_fixture.hpp"
#include "collect/cann/framework.hpp"
#include "collect/cann/profiling_options.hpp"
#include "runtime/acl/prof/configuration.hpp"
#include "support/files.hpp"
#include "support/lines.hpp"

using namespace msprof::acl;
using namespace msprof::acl::test;
using msprof::test::contains;
using msprof::test::ImportedCapture;
using msprof::test::read_file;
using msprof::test::write_file;
namespace fs = std::filesystem;

namespace {

struct ReadOptions {
  aclError code = ACL_SUCCESS;
  Configuration configuration;
  std::string said;
};

ReadOptions read_options(const std::string& options) {
  const Variable mode("PROFILING_MODE", "true");
  const Variable text("PROFILING_OPTIONS", options);
  ReadOptions result;
  const CapturedStderr captured;
  result.code = read_configuration(nullptr, 8, result.configuration);
  result.said = captured.text();
  return result;
}

std::uint64_t read_bits(const std::string& keys) {
  const ReadOptions result = read_options(R"({"output":"/tmp/x")" + keys + "}");
  INFO(keys << " " << result.said);
  CHECK(result.code == ACL_SUCCESS);
  return result.configuration.config.bits;
}

// Returns a value that both the collector's table and a host accept.
std::string good_value(const msprof::ProfilingOption& option) {
  switch (option.kind) {
    case msprof::OptionKind::number:
      return std::to_string(option.low);
    case msprof::OptionKind::storage:
      return std::to_string(option.low) + "MB";
    case msprof::OptionKind::path:
      return "/tmp/x";
    case msprof::OptionKind::text:
      return "";
    default:
      return option.choices.front();
  }
}

}  // namespace

TEST_CASE("framework options record task times and everything they enable") {
  const std::uint64_t task_time = with_implied_bits(ACL_PROF_TASK_TIME);
  CHECK(read_bits("") == task_time);
  CHECK(read_bits(R"(,"task_time":"off","hccl":"on")") == ACL_PROF_HCCL_TRACE);
  CHECK(read_bits(R"(,"task_time":"off","training_trace":"on")") == ACL_PROF_TRAINING_TRACE);
  CHECK(read_bits(R"(,"task_trace":"l0")") == with_implied_bits(ACL_PROF_TASK_TIME_L0));
  CHECK(read_bits(R"(,"task_time":"l1","task_trace":"l0")") == task_time);
  CHECK(read_bits(R"(,"runtime_api":"on","aicpu":"on","msproftx":"on","l2":"on")") ==
        (task_time | ACL_PROF_RUNTIME_API | ACL_PROF_AICPU | ACL_PROF_MSPROFTX | ACL_PROF_L2CACHE));
  CHECK(read_bits(R"(,"aic_metrics":"Memory")") == (task_time | ACL_PROF_AICORE_METRICS));
  CHECK(read_bits(R"(,"fp_point":"","bp_point":"add_1","task_block":"off")") == task_time);
  const ReadOptions result =
      read_options(R"({"output":"/tmp/x","storage_limit":"300MB","aic_metrics":"Memory"})");
  CHECK(result.configuration.settings.storage_limit_bytes() == 300 * 1024 * 1024);
  CHECK(result.configuration.config.metrics == ACL_AICORE_MEMORY_BANDWIDTH);
  CHECK(result.configuration.output == "/tmp/x");
  CHECK(result.configuration.collector.empty());
}

TEST_CASE("the host runtime accepts every key that the collector checks") {
  for (const msprof::ProfilingOption& option : msprof::profiling_option_table()) {
    INFO(option.name);
    const std::string pair = "\"" + std::string(option.name) + "\":\"" + good_value(option) + "\"";
    const bool is_output = option.name == "output";
    const ReadOptions result =
        read_options(is_output ? "{" + pair + "}" : R"({"output":"/tmp/x",)" + pair + "}");
    INFO(result.said);
    CHECK(result.code == ACL_SUCCESS);
    CHECK(result.configuration.wanted);
  }
}

TEST_CASE("without options a framework has the documented defaults, in the current folder") {
  const ReadOptions none = read_options("");
  CHECK(none.code == ACL_SUCCESS);
  CHECK(none.configuration.wanted);
  const ReadOptions defaults = read_options(std::string(msprof::default_profiling_options()));
  CHECK(none.configuration.config.bits == defaults.configuration.config.bits);
  CHECK(none.configuration.config.bits ==
        (with_implied_bits(ACL_PROF_TASK_TIME) | ACL_PROF_HCCL_TRACE | ACL_PROF_AICPU |
         ACL_PROF_AICORE_METRICS));
  CHECK(none.configuration.config.metrics == ACL_AICORE_PIPE_UTILIZATION);
  CHECK(fs::path(none.configuration.output).lexically_normal() == fs::current_path() / "");
}

TEST_CASE("an empty output of a framework is profiling_data in ASCEND_WORK_PATH") {
  const Variable work("ASCEND_WORK_PATH", "/tmp/ascend");
  CHECK(read_options(R"({"output":""})").configuration.output == "/tmp/ascend/profiling_data");
}

TEST_CASE("invalid framework options fail aclInit with a message") {
  struct Case {
    std::string options;
    std::string sentence;
  };
  const std::vector<Case> cases = {
      {R"({"output":"/tmp/x","training_trace":"on",task_trace":"on"})", "is not a JSON object"},
      {"[]", "is not a JSON object"},
      {R"({"l2":"on"})", "\"output\", the folder of the results, is missing"},
      {R"({"output":"/tmp/x","aic_metric":"Memory"})", "\"aic_metric\" is not a known key"},
      {R"({"output":"/tmp/x","switch":"on"})", "\"switch\" is not a known key"},
      {R"({"output":"/tmp/x","l2":"yes"})", "\"l2\" must be"},
      {R"({"output":"/tmp/x","training_trace":"l0"})", "\"training_trace\" must be"},
      {R"({"output":"/tmp/x","task_block":1})", "\"task_block\" must be"},
      {R"({"output":"/tmp/x","task_trace":"l9"})", "\"task_time\" must be"},
      {R"({"output":"/tmp/x","fp_point":[1]})", "\"fp_point\" must be"},
      {R"({"output":"/tmp/x","sys_cpu_freq":"51"})", "\"sys_cpu_freq\" must be"},
      {R"({"output":"/tmp/x","fp_point":")" + std::string(2048, 'x') + "\"}",
       "the maximum is 2048"},
  };
  for (const Case& each : cases) {
    INFO(each.options);
    const ReadOptions result = read_options(each.options);
    CHECK(result.code == ACL_ERROR_INVALID_PROFILING_CONFIG);
    CHECK(contains(result.said, "msprof runtime: PROFILING_OPTIONS"));
    CHECK(contains(result.said, each.sentence));
    CHECK_FALSE(result.configuration.wanted);
  }
}

TEST_CASE("options without PROFILING_MODE=true record nothing") {
  const Variable options("PROFILING_OPTIONS", "{broken");
  Configuration configuration;
  for (const char* mode : {"", "false", "TRUE", "1"}) {
    const Variable set("PROFILING_MODE", mode);
    CHECK(read_configuration(nullptr, 8, configuration) == ACL_SUCCESS);
    CHECK_FALSE(configuration.wanted);
  }
}

TEST_CASE("acl.json overrides framework options, even if switched off") {
  const TempFolder elsewhere;
  const Variable mode("PROFILING_MODE", "true");
  const Variable options("PROFILING_OPTIONS", R"({"output":")" + elsewhere.path().string() + "\"}");
  {
    Scene scene;
    REQUIRE(scene.acl_init_with(R"("switch":"on")") == ACL_SUCCESS);
    CHECK(scene.folders().size() == 1);
    CHECK(prof_folder_names(elsewhere.path()).empty());
  }
  {
    Scene scene;
    const CapturedStderr captured;
    REQUIRE(scene.acl_init_with(R"("switch":"off")") == ACL_SUCCESS);
    CHECK(contains(captured.text(), "overrides PROFILING_MODE"));
    CHECK(prof_folder_names(elsewhere.path()).empty());
  }
  Scene scene;
  const TempFolder folder;
  write_file(folder / "acl.json", R"({"dump":{}})");
  REQUIRE(scene.acl_init((folder / "acl.json").c_str()) == ACL_SUCCESS);
  CHECK(prof_folder_names(elsewhere.path()).size() == 1);
}

TEST_CASE("a collector's parameters override framework options") {
  const TempFolder elsewhere;
  const TempFolder collected;
  const Variable mode("PROFILING_MODE", "true");
  const Variable options("PROFILING_OPTIONS", R"({"output":")" + elsewhere.path().string() + "\"}");
  const Variable sample("PROFILER_SAMPLECONFIG",
                        R"({"result_dir":")" + collected.path().string() + "\"}");
  Scene scene;
  REQUIRE(scene.acl_init() == ACL_SUCCESS);
  CHECK(prof_folder_names(collected.path()).size() == 1);
  CHECK(prof_folder_names(elsewhere.path()).empty());
}

TEST_CASE("PROFILING_MODE=true gives a folder that imports as complete") {
  const TempFolder folder;
  fs::create_directory(folder / "here");
  const std::string model = msprof::test::small_model(folder.path());
  const auto run = [&](const std::string& options) {
    msprof::test::RunOptions environment{.folder = folder / "here",
                                         .variables = {{"PROFILING_MODE", "true"}}};
    if (!options.empty()) environment.variables.emplace_back("PROFILING_OPTIONS", options);
    return msprof::test::run_program(msprof::test::acl_program("inference"), {model}, environment);
  };
  // The default options, which record into the current folder, and options that name another
  // folder.
  const auto named = R"({"output":")" + (folder / "named").string() +
                     R"(","task_time":"l1","runtime_api":"on","aic_metrics":"Memory"})";
  for (const auto& [options, output] :
       {std::pair(std::string(), "here"), std::pair(named, "named")}) {
    const auto ended = run(options);
    INFO(output << "\n" << ended.out << ended.err);
    REQUIRE(ended.exit_code == 0);
    const auto made = msprof::test::prof_folders(folder / output);
    REQUIRE(made.size() == 1);
    const ImportedCapture capture(made.front());
    INFO(capture.import().err);
    CHECK(capture.import().exit_code == 0);
    CHECK(contains(capture.import().err, "verdict: complete"));
    CHECK(capture.number("SELECT count(*) FROM task WHERE op_id IS NOT NULL") ==
          3 * msprof::test::kSmallModelLayers);
    CHECK(capture.number("SELECT count(*) FROM task_pmu") > 0);
  }
  CHECK(msprof::test::prof_folders(folder / "here").size() == 1);
}

TEST_CASE("the environment that --framework tf sets leaves a complete folder in the run's output") {
  const TempFolder folder;
  const std::string model = msprof::test::small_model(folder.path());
  for (const auto& [options, metrics] :
       {std::pair<std::optional<std::string>, const char*>(std::nullopt, "PipeUtilization"),
        {R"({"output":"/elsewhere","aic_metrics":"Memory"})", "Memory"}}) {
    const fs::path output = folder / metrics;
    const auto plan =
        msprof::plan_framework(msprof::Framework::tensorflow, options, output.string());
    msprof::test::RunOptions environment{.folder = folder.path()};
    for (const std::string& entry : plan.environment) {
      const auto equals = entry.find('=');
      environment.variables.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
    }
    const auto ended =
        msprof::test::run_program(msprof::test::acl_program("inference"), {model}, environment);
    INFO(ended.err);
    REQUIRE(ended.exit_code == 0);
    const auto made = msprof::test::prof_folders(output);
    REQUIRE(made.size() == 1);
    const ImportedCapture capture(made.front());
    INFO(capture.import().err);
    CHECK(contains(capture.import().err, "verdict: complete"));
    CHECK(contains(read_file(made.front() / "host" / "sample.json"), metrics));
  }
  CHECK(msprof::test::prof_folders(folder.path()).empty());
}

TEST_CASE("a program with invalid framework options fails at aclInit and leaves no files") {
  const TempFolder folder;
  const auto ended = msprof::test::run_program(
      msprof::test::acl_program("inference"), {msprof::test::small_model(folder.path())},
      {.folder = folder.path(),
       .variables = {{"PROFILING_MODE", "true"}, {"PROFILING_OPTIONS", R"({"outptu":"/tmp"})"}}});
  CHECK(ended.exit_code == 1);
  CHECK(contains(ended.err, "\"outptu\" is not a known key"));
  CHECK(contains(ended.err, "aclInit: 100010"));
  CHECK(msprof::test::prof_folders(folder.path()).empty());
}
