#include "collect/acl_json.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "collect/elf_file.hpp"
#include "collect/svp_injection.hpp"

using namespace msprof;
using OrderedJson = nlohmann::ordered_json;

TEST_CASE("A default acl.json has the manual's defaults and the run's output folder") {
  const OrderedJson profiler = OrderedJson::parse(default_acl_json({}, "/run/out")).at("profiler");
  CHECK(profiler.at("switch") == "on");
  CHECK(profiler.at("output") == "/run/out");
  CHECK(profiler.at("interval") == "0");
  CHECK(profiler.at("acl_api") == "on");
  for (const char* key : {"aicpu", "aacpu"}) CHECK(profiler.at(key) == "on");
  for (const char* key : {"aic_metrics", "aac_metrics"})
    CHECK(profiler.at(key) == "ArithmeticUtilization");
  CHECK(profiler.size() == 8);
}

TEST_CASE("Cores that are switched off are so in both spellings") {
  ProfilerOptions options;
  options.metrics = "none";
  const OrderedJson profiler =
      OrderedJson::parse(default_acl_json(options, "/run/out")).at("profiler");
  for (const char* key : {"aic_metrics", "aac_metrics"}) CHECK(profiler.at(key) == "none");
  CHECK(profiler.at("aicpu") == "on");
}

TEST_CASE("Patching keeps all other keys and their order") {
  const std::string original =
      R"({"z":1,"profiler":{"extra":[1,2],"switch":"off","output":"/user/out"},"a":{"b":"x"}})";
  const OrderedJson patched = OrderedJson::parse(patch_acl_json(original, {}, "/run/out").text);
  CHECK(patched.begin().key() == "z");
  CHECK(patched.at("a").at("b") == "x");
  CHECK(patched.at("profiler").begin().key() == "extra");
  CHECK(patched.at("profiler").at("extra") == OrderedJson::array({1, 2}));
  CHECK(patched.at("profiler").at("switch") == "on");
  CHECK(patched.at("profiler").at("output") == "/run/out");
}

TEST_CASE("Both spellings of a key are set, whichever exists") {
  ProfilerOptions options;
  options.aicpu = false;
  const OrderedJson manual = OrderedJson::parse(
      patch_acl_json(R"({"profiler":{"aacpu":"on","aac_metrics":"none"}})", options, "o").text);
  CHECK(manual.at("profiler").at("aacpu") == "off");
  CHECK(manual.at("profiler").at("aac_metrics") == "ArithmeticUtilization");
  CHECK(manual.at("profiler").at("aicpu") == "off");
  CHECK(manual.at("profiler").at("aic_metrics") == "ArithmeticUtilization");
  const OrderedJson both = OrderedJson::parse(
      patch_acl_json(R"({"profiler":{"aacpu":"on","aicpu":"on"}})", options, "o").text);
  CHECK(both.at("profiler").at("aacpu") == "off");
  CHECK(both.at("profiler").at("aicpu") == "off");
}

TEST_CASE("Options become strings as boards write them") {
  ProfilerOptions options;
  options.interval = 9999;
  options.acl_api = false;
  options.on = false;
  const OrderedJson profiler =
      OrderedJson::parse(patch_acl_json("{}", options, "o").text).at("profiler");
  CHECK(profiler.at("interval") == "9999");
  CHECK(profiler.at("acl_api") == "off");
  CHECK(profiler.at("switch") == "off");
}

TEST_CASE("Values overridden by a default are reported, requested ones are not") {
  const std::string original =
      R"({"profiler":{"interval":20,"aicpu":"off","switch":"off","acl_api":"on"}})";
  const auto by_default = patch_acl_json(original, {}, "o");
  CHECK(by_default.overridden ==
        std::vector<std::string>{"interval 20 becomes 0", "aicpu off becomes on"});
  ProfilerOptions options;
  options.interval = 5;
  options.aicpu = true;
  CHECK(patch_acl_json(original, options, "o").overridden.empty());
}

TEST_CASE("A file that is not a JSON object is replaced by a default, with a message") {
  for (const char* text :
       {"", "not json", "[1]", "{\"profiler\":", "\"text\"", "{\"a\":\"\xff\"}"}) {
    const auto patched = patch_acl_json(text, {}, "/run/out");
    CHECK(patched.is_replaced);
    CHECK(patched.text == default_acl_json({}, "/run/out"));
  }
}

TEST_CASE("A profiler section of the wrong kind is replaced, the rest kept") {
  const auto patched = patch_acl_json(R"({"profiler":"on","k":3})", {}, "o");
  CHECK_FALSE(patched.is_replaced);
  CHECK(OrderedJson::parse(patched.text).at("k") == 3);
  CHECK(OrderedJson::parse(patched.text).at("profiler").at("switch") == "on");
}

TEST_CASE("Comments and a byte order mark do not make a file unreadable") {
  CHECK_FALSE(patch_acl_json("// mine\n{\"k\":3}", {}, "o").is_replaced);
  CHECK_FALSE(patch_acl_json("\xEF\xBB\xBF{\"k\":3}", {}, "o").is_replaced);
}

TEST_CASE("An enabled dump is detected") {
  CHECK(patch_acl_json(R"({"dump":{"dump_list":[{"model_name":"m"}]}})", {}, "o").is_dump_on);
  CHECK(patch_acl_json(R"({"dump":{"dump_switch":"ON"}})", {}, "o").is_dump_on);
  CHECK_FALSE(
      patch_acl_json(R"({"dump":{"dump_list":[],"dump_switch":"off"}})", {}, "o").is_dump_on);
  CHECK_FALSE(patch_acl_json(R"({"dump":3})", {}, "o").is_dump_on);
  CHECK_FALSE(patch_acl_json("{}", {}, "o").is_dump_on);
}

TEST_CASE("A program that profiles itself gets the hint --switch off, unless it is given") {
  Project project;
  project.target.main = "main";
  ElfFile program;
  program.imports = {"malloc", "svp_acl_init"};
  CHECK(find_own_profiling(program).empty());
  program.imports.emplace_back("svp_acl_prof_init");
  CHECK(find_own_profiling(program) == "svp_acl_prof_init");
  const auto causes = [&](const ProfilerOptions& options) {
    SvpInjection injection(options, std::nullopt, false);
    injection.plan_files(project, {"/project", "/output"});
    RunInfo info;
    info.main = "main";
    std::string text;
    for (const std::string& cause : injection.likely_causes(info)) text += cause + "\n";
    return text;
  };
  CHECK(causes({}).find("--switch off") == std::string::npos);
  project.own_profiling = "svp_acl_prof_init";
  CHECK(causes({}).starts_with("main calls svp_acl_prof_init: it profiles itself"));
  CHECK(causes({}).find("use --switch off") != std::string::npos);
  ProfilerOptions off;
  off.on = false;
  CHECK(causes(off).find("profiles itself") == std::string::npos);
}
