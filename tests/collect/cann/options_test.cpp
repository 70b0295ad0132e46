// Options of CANN's collector, and how they are passed to a runtime.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "collect/cann/cann_injection.hpp"
#include "collect/cann/sample_config.hpp"
#include "support/files.hpp"

using namespace msprof;
using Catch::Matchers::Contains;
using msprof::test::read_file;
using Json = nlohmann::json;

namespace {

// The usage error of `action`; empty if it succeeds.
template <typename Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.code() == Exit::usage);
    return error.what();
  }
  return "";
}

CollectorSettings make_settings(const std::vector<std::pair<std::string, std::string>>& given) {
  CollectorSettings settings;
  for (const auto& [name, value] : given) settings.set(name, value);
  return settings;
}

Json make_config(const std::vector<std::pair<std::string, std::string>>& given) {
  return Json::parse(sample_config(make_settings(given), {"/bin/app", {"-n", "1"}}, "/out", 42));
}

// A value that enables the option, for each form of values.
std::string value_for(const CollectorOption& option) {
  const std::string values(option.values);
  if (values.starts_with("on|off")) return "on";
  if (option.name == "aic-mode" || option.name == "aiv-mode") return "task-based";
  if (values == "METRICS") return "Memory";
  if (values == "PID" || values == "PIDS") return "1";
  if (values == "IDS|all") return "all";
  if (values.find("..") != std::string::npos) {
    const std::string least = values.substr(0, values.find(".."));
    return values.ends_with("MB") ? least + "MB" : least == "-1" ? "7" : least;
  }
  const bool is_list = values.find(',') != std::string::npos;
  return is_list ? values : values.substr(values.rfind('|') + 1);
}

bool is_refused(const CollectorOption& option, CannRuntime runtime) {
  CannRun run;
  run.settings.set(option.name, value_for(option));
  run.choice.runtime = runtime;
  return !refusal([&] { check_run(run); }).empty();
}

// The cells of a row of the manual's table, without quotes.
std::vector<std::string> split_cells(std::string_view line) {
  std::vector<std::string> cells;
  std::string text(line);
  for (std::size_t at = text.find("\\|"); at != std::string::npos; at = text.find("\\|"))
    text.replace(at, 2, "\x01");
  for (const std::string_view cell : split(text, '|')) {
    std::string one(trim(cell));
    std::replace(one.begin(), one.end(), '\x01', '|');
    if (one.starts_with('`') && one.ends_with('`') && one.find('`', 1) == one.size() - 1)
      one = one.substr(1, one.size() - 2);
    cells.push_back(one);
  }
  return cells;
}

}  // namespace

TEST_CASE("every option has a help text, accepts its default, and has a separate parameter") {
  std::set<std::string_view> names;
  std::set<std::string_view> parameters;
  for (const CollectorOption& option : collector_options()) {
    CAPTURE(option.name);
    CHECK_FALSE(option.help.empty());
    CHECK_FALSE(option.values.empty());
    CHECK(names.insert(option.name).second);
    if (!option.parameter.empty()) CHECK(parameters.insert(option.parameter).second);
    CollectorSettings settings;
    CHECK(settings.value(option.name) == option.by_default);
    const std::string own(option.by_default);
    if (!own.empty()) CHECK(refusal([&] { settings.set(option.name, own); }).empty());
  }
}

TEST_CASE("an invalid value is refused with the valid values") {
  const std::tuple<const char*, const char*, const char*> wrong[] = {
      {"task-time", "l4", "--task-time: expected on, off, l0, l1, l2 or l3, got 'l4'"},
      {"ascendcl", "of", "--ascendcl: expected on or off, got 'of'; did you mean off or on?"},
      {"storage-limit", "100MB",
       "--storage-limit: expected 200 to 4294967295 followed by the unit MB"},
      {"storage-limit", "500", "followed by the unit MB"},
      {"storage-limit", "4294967296MB", "200 to 4294967295"},
      {"delay", "0", "--delay: expected 1 to 4294967295, got '0'"},
      {"delay", "1.5", "--delay: expected"},
      {"aic-freq", "101", "1 to 100"},
      {"aic-metrics", "PipeUtilisation", "did you mean PipeUtilization?"},
      {"aic-metrics", "Custom:0x1,0x2,0x3,0x4,0x5,0x6,0x7,0x8,0x9", "at most 8 events"},
      {"aic-metrics", "Custom:1f", "Custom:0x49,73"},
      {"aic-metrics", "Custom:0xg", "Custom:0x49,73"},
      {"aic-metrics", "Custom:73,", "Custom:0x49,73"},
      {"host-sys", "cpu,disc", "did you mean disk?"},
      {"pid", "12,x", "numbers, separated by commas"},
      {"sys-devices", "0,b", "numbers"},
      {"model-id", "-2", "-1 to 4294967295"},
      {"output", "", "the value of --output is empty"},
      {"type", "json", "--type: expected text or db"},
      {"msproftix", "on", "unknown option '--msproftix'; did you mean --msproftx?"},
      {"nothing-like-it", "1", "`msprof --help` lists the options"},
  };
  for (const auto& [name, value, sentence] : wrong) {
    CAPTURE(name, value);
    CollectorSettings settings;
    const std::string said =
        refusal([&, name = name, value = value] { settings.set(name, value); });
    CHECK_THAT(said, Contains(sentence));
    CHECK(said.find('\n') == std::string::npos);
    CHECK(said.size() < 300);
  }
}

TEST_CASE("values at the ends of a range are accepted") {
  const std::pair<const char*, const char*> right[] = {
      {"storage-limit", "200MB"},
      {"storage-limit", "4294967295MB"},
      {"model-id", "-1"},
      {"model-id", "7"},
      {"aic-metrics", "Custom:0x49,0x5A"},
      {"aiv-metrics", "Custom:73,0x8"},
      {"sys-devices", "all"},
      {"sys-devices", "0,1"},
      {"host-sys", "cpu,mem"},
      {"delay", "4294967295"},
  };
  for (const auto& [name, value] : right) {
    CAPTURE(name, value);
    CHECK(refusal([&, name = name, value = value] { make_settings({{name, value}}); }).empty());
  }
}

TEST_CASE("conflicting and dependent options are refused together") {
  const std::pair<std::vector<std::pair<std::string, std::string>>, const char*> wrong[] = {
      {{{"dynamic", "on"}, {"delay", "1"}}, "--dynamic and --delay cannot be combined"},
      {{{"dynamic", "on"}, {"duration", "1"}}, "--dynamic and --duration cannot be combined"},
      {{{"pid", "1"}}, "--pid needs --dynamic=on"},
      {{{"mstx-domain-include", "a"}}, "--mstx-domain-include needs --msproftx=on"},
      {{{"msproftx", "on"}, {"mstx-domain-include", "a"}, {"mstx-domain-exclude", "b"}},
       "cannot be combined"},
      {{{"instr-profiling", "on"}, {"l2", "on"}},
       "--instr-profiling=on cannot be combined with --l2"},
      {{{"instr-profiling-freq", "300"}}, "needs --instr-profiling=on"},
  };
  for (const auto& [given, sentence] : wrong) {
    CAPTURE(sentence);
    CHECK_THAT(refusal([&, given = given] { make_settings(given).check(); }), Contains(sentence));
  }
  CHECK(make_settings({{"l2", "on"}, {"l2", "off"}}).value("l2") == "off");
  CHECK(refusal([] { make_settings({{"delay", "1"}, {"duration", "2"}}).check(); }).empty());
}

TEST_CASE("without options the parameters are the documented defaults") {
  const Json config = make_config({});
  CHECK(config.at("acl") == "on");
  CHECK(config.at("taskTime") == "on");
  CHECK(config.at("prof_level") == "level1");
  CHECK(config.at("ai_core_profiling") == "on");
  CHECK(config.at("ai_core_metrics") == "PipeUtilization");
  for (const char* const off : {"runtimeApi", "aicpuTrace", "l2CacheTaskProfiling", "msproftx",
                                "hcclTrace", "taskMemory", "io_profiling", "geApi"}) {
    CAPTURE(off);
    CHECK(config.at(off) == "off");
  }
  CHECK(config.at("result_dir") == "/out");
  CHECK(config.at("app") == "/bin/app");
  CHECK(config.at("app_parameters") == "-n 1");
  CHECK(config.at("msprofBinPid") == 42);
  CHECK_FALSE(config.contains("storageLimit"));
}

TEST_CASE("options change their parameters") {
  CHECK(make_config({{"task-time", "l0"}}).at("prof_level") == "level0");
  CHECK(make_config({{"task-time", "l3"}}).at("prof_level") == "level3");
  const Json off = make_config({{"task-time", "off"}});
  CHECK(off.at("taskTime") == "off");
  CHECK(off.at("prof_level") == "off");
  // Counters need task details.
  for (const char* const level : {"off", "l0"}) {
    for (const char* const cores : {"ai_core_profiling", "aiv_profiling"})
      CHECK(make_config({{"task-time", level}}).at(cores) == "off");
  }
  for (const char* const level : {"on", "l1", "l2", "l3"})
    CHECK(make_config({{"task-time", level}}).at("ai_core_profiling") == "on");
  CHECK(make_config({{"task-time", "l0"}, {"aic-metrics", "Memory"}}).at("ai_core_profiling") ==
        "off");
  CHECK(make_config({{"task-time", "off"}, {"ai-core", "on"}}).at("ai_core_profiling") == "on");
  CHECK(make_config({{"sys-hardware-mem-freq", "100"}}).at("hardware_mem_sampling_interval") ==
        "10000");
  CHECK(make_config({{"storage-limit", "300MB"}}).at("storageLimit") == "300MB");
  CHECK(make_config({{"delay", "3"}}).at("delayTime") == "3");
}

TEST_CASE("options for a driver and options without a parameter are listed") {
  const auto settings = make_settings({{"sys-lp", "on"}, {"l2", "on"}, {"dvpp-profiling", "off"}});
  CHECK(options_for_driver(settings) == std::vector<std::string>{"--sys-lp"});
  CHECK(options_for_driver(make_settings({{"aic-mode", "sample-based"}})) ==
        std::vector<std::string>{"--aic-mode=sample-based"});
  CHECK(options_without_parameter(make_settings({{"npu-events", "x"}, {"l2", "on"}})) ==
        std::vector<std::string>{"--npu-events"});
  CHECK(
      options_for_driver(make_settings({{"host-sys", "cpu"}, {"host-sys-usage", "mem"}})).empty());
  CHECK(loads_without_proc(make_settings({{"host-sys", "cpu,mem"}})).empty());
  CHECK(loads_without_proc(make_settings({{"host-sys", "disk,cpu,numa"}})) == "disk,numa");
}

TEST_CASE("events of a card are passed to a card's collectors and refused by the host runtime") {
  for (const char* const option : {"aic-metrics", "aiv-metrics"}) {
    for (const char* const value : {"Custom:0x49,0x8", "Custom:73,8"}) {
      CAPTURE(option, value);
      CannRun run;
      run.settings.set(option, value);
      run.choice.runtime = CannRuntime::vendor;
      CHECK(refusal([&] { check_run(run); }).empty());
      run.choice.runtime = CannRuntime::host;
      const std::string said = refusal([&] { check_run(run); });
      CHECK_THAT(said, Contains("--" + std::string(option) + ": " + value));
      CHECK_THAT(said, Contains("PipeUtilization"));
    }
  }
  CannRun run;
  run.framework = Framework::tensorflow;
  run.profiling_options = R"({"aic_metrics":"Custom:73,0x8"})";
  run.choice.runtime = CannRuntime::cann;
  CHECK(refusal([&] { check_run(run); }).empty());
  run.choice.runtime = CannRuntime::host;
  CHECK_THAT(refusal([&] { check_run(run); }),
             Contains("--profiling-options, aic_metrics: Custom:73,0x8 requires events"));
}

TEST_CASE("variables of --environment are split at semicolons") {
  CHECK(environment_list("A=1;B=x=y; ") == std::vector<std::string>{"A=1", "B=x=y"});
  CHECK_THAT(refusal([] { environment_list("A=1;B"); }), Contains("has no '='"));
}

TEST_CASE("every option is accepted or refused as in the manual's table") {
  const std::string page = read_file(MSPROF_SOURCE_DIR "/docs/collect_cann.md");
  std::map<std::string, std::vector<std::string>> rows;
  for (const std::string_view line : split(page, '\n')) {
    if (!line.starts_with("| `--")) continue;
    const auto cells = split_cells(line);
    REQUIRE(cells.size() == 5);  // includes the text before the first and after the last bar
    REQUIRE(rows.emplace(cells[1], cells).second);
  }
  for (const CollectorOption& option : collector_options()) {
    CAPTURE(option.name);
    const auto row = rows.extract("--" + std::string(option.name));
    if (option.scope == CollectorScope::run || option.scope == CollectorScope::offline) continue;
    // Options without a row work with every runtime.
    const auto cells = row.empty() ? std::vector<std::string>(5, "yes") : row.mapped();
    CHECK(cells[2].starts_with("refused") == is_refused(option, CannRuntime::host));
    CHECK(cells[3].starts_with("refused") == is_refused(option, CannRuntime::cann));
    CHECK_FALSE(is_refused(option, CannRuntime::vendor));
    if (!option.parameter.empty()) CHECK(cells[3] == option.parameter);
  }
  CHECK(rows.empty());
}
