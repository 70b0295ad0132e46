#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "runtime/engine/files.hpp"
#include "runtime/runtime_fixture.hpp"
#include "runtime/svp/profile/profile_config.hpp"

using namespace msprof::runtime;
using namespace msprof::runtime::test;

namespace {

struct Read {
  std::optional<ProfileConfig> config;
  std::string said;
};

// Reads {"profiler": {<keys>, "output": <an existing folder>}}.
Read read_keys(const std::string& keys) {
  const TempFolder folder;
  const std::string path = folder.write(
      "acl.json", R"({"profiler":{)" + keys + R"(,"output":")" + folder.path() + R"("}})");
  const CapturedStderr captured;
  std::optional<ProfileConfig> config = read_profile_config(path);
  return {std::move(config), captured.text()};
}

const std::string kMetrics = R"("aic_metrics":"ArithmeticUtilization")";

}  // namespace

TEST_CASE("the keys of boards and of the manual are equivalent") {
  for (const char* keys :
       {R"("switch":"on","aicpu":"off","aic_metrics":"ArithmeticUtilization","interval":"20")",
        R"("switch":"on","aacpu":"off","aac_metrics":"ArithmeticUtilization","interval":20)",
        R"("switch":"on","aa cpu":"off","aac_metrics":"ArithmeticUtilization","interval":"020")"}) {
    INFO(keys);
    const Read read = read_keys(keys);
    REQUIRE(read.config);
    CHECK(read.config->aicore);
    CHECK_FALSE(read.config->aicpu);
    CHECK(read.config->acl_api);
    CHECK(read.config->interval == 20);
    CHECK(read.said.empty());
  }
}

TEST_CASE("CPU operators and calls are on by default, core records only on request") {
  const Read read = read_keys(R"("switch":"on")");
  REQUIRE(read.config);
  CHECK_FALSE(read.config->aicore);
  CHECK(read.config->aicpu);
  CHECK(read.config->acl_api);
  CHECK(read.config->interval == 0);
}

TEST_CASE("contradicting spellings of a key are reported, and the board's counts") {
  const Read read = read_keys(R"("switch":"on","aacpu":"off","aicpu":"on",)" + kMetrics);
  REQUIRE(read.config);
  CHECK(read.config->aicpu);
  CHECK(read.said.find("\"aicpu\" and \"aacpu\" disagree") != std::string::npos);
  CHECK(read_keys(R"("switch":"on","aacpu":"on","aicpu":"on",)" + kMetrics).said.empty());
}

TEST_CASE("unless the switch is on, nothing is profiled or printed") {
  for (const char* keys : {R"("switch":"off",)", R"("switch":"ON",)", R"("switch":true,)", ""}) {
    INFO(keys);
    const Read read = read_keys(keys + kMetrics);
    CHECK_FALSE(read.config);
    CHECK(read.said.empty());
  }
}

TEST_CASE("an invalid metric only switches off core records and is reported") {
  for (const char* value : {R"("PipeUtilization")", "7", R"("")"}) {
    const Read read = read_keys(std::string(R"("switch":"on","aic_metrics":)") + value);
    REQUIRE(read.config);
    CHECK_FALSE(read.config->aicore);
    CHECK(read.config->acl_api);
    CHECK(read.said.find("aic_metrics") != std::string::npos);
    CHECK(read.said.find(value) != std::string::npos);
  }
}

TEST_CASE("the metric none switches off core records without a message") {
  for (const char* key : {"aic_metrics", "aac_metrics"}) {
    const Read read = read_keys(R"("switch":"on",")" + std::string(key) + R"(":"none")");
    REQUIRE(read.config);
    CHECK_FALSE(read.config->aicore);
    CHECK(read.config->aicpu);
    CHECK(read.said.empty());
  }
}

TEST_CASE("an invalid on/off value only switches off that item and is reported") {
  const Read cpu = read_keys(R"("switch":"on","aacpu":"yes",)" + kMetrics);
  REQUIRE(cpu.config);
  CHECK_FALSE(cpu.config->aicpu);
  CHECK(cpu.config->aicore);
  CHECK(cpu.config->acl_api);
  CHECK(cpu.said.find("must be \"on\" or \"off\", not \"yes\"") != std::string::npos);

  const Read api = read_keys(R"("switch":"on","acl_api":1,)" + kMetrics);
  REQUIRE(api.config);
  CHECK(api.config->aicpu);
  CHECK_FALSE(api.config->acl_api);
  CHECK(api.said.find("acl_api") != std::string::npos);
}

TEST_CASE("an invalid interval counts as 0 and is reported") {
  for (const char* value : {R"("abc")", R"("10000")", R"("-1")", "-1", "10000", "2.5", R"("")",
                            R"("99999999999")", R"(" 5")", "null"}) {
    INFO(value);
    const Read read = read_keys(std::string(R"("switch":"on","interval":)") + value);
    REQUIRE(read.config);
    CHECK(read.config->interval == 0);
    CHECK(read.said.find("interval") != std::string::npos);
  }
  CHECK(read_keys(R"("switch":"on","interval":"9999")").config->interval == 9999);
}

TEST_CASE("with all items off there is no profile, with a message") {
  const Read read = read_keys(R"("switch":"on","aicpu":"off","acl_api":"off")");
  CHECK_FALSE(read.config);
  CHECK(read.said.find("all items are switched off") != std::string::npos);
}

TEST_CASE("an unreadable or invalid file disables profiling, with a message") {
  const TempFolder folder;
  const CapturedStderr captured;
  CHECK_FALSE(read_profile_config(folder.path() + "/none.json"));
  CHECK_FALSE(read_profile_config(folder.path()));
  CHECK_FALSE(read_profile_config(folder.write("a", "{\"profiler\":")));
  CHECK_FALSE(read_profile_config(folder.write("b", "[1]")));
  CHECK_FALSE(read_profile_config(folder.write("c", R"({"profiler":[]})")));
  CHECK_FALSE(read_profile_config(folder.write("d", "")));
  CHECK_FALSE(read_profile_config(folder.write("f", std::string((1 << 20) + 1, ' '))));
  REQUIRE(mkfifo((folder.path() + "/pipe").c_str(), 0600) == 0);
  CHECK_FALSE(read_profile_config(folder.path() + "/pipe"));
  const std::string said = captured.text();
  CHECK(std::count(said.begin(), said.end(), '\n') == 8);
  CHECK(said.find("/f cannot be read (it is larger than 1 MiB)") != std::string::npos);
  CHECK(said.find("/pipe cannot be read") != std::string::npos);
  CHECK(said.find("none.json cannot be read (No such file") != std::string::npos);
  CHECK_FALSE(read_profile_config(folder.write("e", R"({"dump":{}})")));
  CHECK(captured.text() == said);
}

TEST_CASE("a missing output folder falls back to the executable's, with a message") {
  const TempFolder folder;
  for (const char* output : {R"("/no/such/folder")", R"("")", "7"}) {
    const std::string path = folder.write(
        "acl.json", std::string(R"({"profiler":{"switch":"on","output":)") + output + "}}");
    const CapturedStderr captured;
    const std::optional<ProfileConfig> config = read_profile_config(path);
    REQUIRE(config);
    CHECK(config->output == executable_folder());
    CHECK(captured.text().find("executable's folder " + executable_folder()) != std::string::npos);
  }
  CHECK(exists(executable_folder() + "/runtime_test"));
}
