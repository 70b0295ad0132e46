// doctor's checks of acl.json: each mistake is reported by a separate check, and only if present.
#include "doctor/acl_checks.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace msprof {

namespace {

constexpr const char* kGood =
    R"({"profiler": {"switch": "on", "output": "/tmp", "interval": "0", "acl_api": "on",)"
    R"( "aicpu": "on", "aic_metrics": "ArithmeticUtilization"}})";

// "warning keys" for each check that is not ok, one per line.
std::string list_problems(const std::string& text) {
  CheckList list;
  check_acl_json(list, "acl.json", text);
  std::string problems;
  for (const Check& check : list.checks()) {
    if (check.result == CheckResult::ok) continue;
    CHECK_FALSE(check.evidence.empty());
    CHECK_FALSE(check.remedy.empty());
    const auto at = check.name.find(": ");
    problems += std::string(result_name(check.result)) + " " +
                (at == std::string::npos ? check.name : check.name.substr(at + 2)) + "\n";
  }
  return problems;
}

std::string find_evidence(const std::string& text, const std::string& name) {
  CheckList list;
  check_acl_json(list, "acl.json", text);
  for (const Check& check : list.checks()) {
    if (check.name == "acl.json: " + name) return check.evidence;
  }
  return "";
}

// Returns the good file with `from` replaced by `to`.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("A valid acl.json has no problem, with both spellings of its keys") {
  CHECK(list_problems(kGood) == "");
  CHECK(list_problems(changed("aicpu", "aacpu")) == "");
  CHECK(list_problems(changed("aic_metrics", "aac_metrics")) == "");
  CHECK(list_problems(changed("\"0\"", "0")) == "");
}

TEST_CASE("Each error in acl.json that affects a run has its own check") {
  struct Case {
    std::string text;
    std::string problems;
  };
  const std::vector<Case> cases = {
      {"", "warning acl.json\n"},
      {"{\"profiler\": ", "warning acl.json\n"},
      {"[1]", "warning acl.json\n"},
      {changed("\"switch\"", "\"swich\""), "warning keys\n"},
      {changed("acl_api", "aclapi"), "warning keys\n"},
      {changed(R"("aicpu": "on")", R"("aicpu": "on", "aa cpu": "off")"), "warning aa cpu\n"},
      {changed("{\"profiler\"", R"({"dump": {"dump_list": [{}]}, "profiler")"), "failed dump\n"},
      {changed("{\"profiler\"", R"({"dump": {"switch": "on"}, "profiler")"), "failed dump\n"},
  };
  for (const Case& one : cases) {
    INFO(one.text.substr(0, 200));
    CHECK(list_problems(one.text) == one.problems);
  }
}

TEST_CASE("Keys that msprof collect sets are no problem, and both ways to run are described") {
  struct Case {
    std::string text, name, told;
  };
  const std::vector<Case> cases = {
      {changed(R"("on", "output")", R"("off", "output")"), "switch",
       "\"off\"; msprof collect sets on"},
      {changed(R"("on", "output")", R"("ON", "output")"), "switch",
       "without msprof is not profiled"},
      {changed("\"switch\"", "\"swich\""), "switch", "missing; msprof collect sets on"},
      {changed(R"("aicpu": "on")", R"("aicpu": "off")"), "aicpu", "does not record it"},
      {changed(R"("aicpu": "on")", R"("aicpu": true)"), "aicpu", "treats it as off"},
      {changed(R"("aicpu": "on")", R"("aicpu": "on", "aacpu": "off")"), "aacpu", "sets both"},
      {changed("ArithmeticUtilization", "PipeUtilization"), "aic_metrics", "no op_summary"},
      {changed("\"0\"", "\"10000\""), "interval", "must be a whole number from 0 to 9999"},
      {changed("\"0\"", "\"-1\""), "interval", "must be a whole number"},
      {changed("\"0\"", "1.5"), "interval", "must be a whole number"},
      {changed("\"0\"", "\"20\""), "interval", "sets 0 (--interval N changes it)"},
      {changed("\"/tmp\"", "\"\""), "output", "a separate folder"},
      {changed("/tmp", "/my folder"), "output", "letters, digits"},
      {changed("/tmp", std::string(5000, 'a')), "output", "letters, digits"},
      {R"({"profiler": {"switch": "on", "output": "o", "acl_api": "off", "aicpu": "off"}})",
       "aic_metrics", "missing; msprof collect sets ArithmeticUtilization"},
  };
  for (const Case& one : cases) {
    INFO(one.text.substr(0, 200));
    const std::string evidence = find_evidence(one.text, one.name);
    INFO(evidence);
    CHECK(evidence.find(one.told) != std::string::npos);
    CheckList list;
    check_acl_json(list, "acl.json", one.text);
    CHECK(list.exit_code() == Exit::ok);
    // Only an unknown key causes a warning.
    CHECK(list.count(CheckResult::warning) ==
          (one.text.find("swich") != std::string::npos ? 1U : 0U));
  }
  for (const char* text : {"{}", R"({"profiler": 1})"}) CHECK(list_problems(text) == "");
  CHECK(list_problems(std::string(kGood) + "// mine") == "");
}

TEST_CASE("A misspelled key of acl.json is reported with a suggestion") {
  const std::string evidence = find_evidence(changed("\"switch\"", "\"swich\""), "keys");
  CHECK(evidence.find("\"swich\"") != std::string::npos);
  CHECK(evidence.find("did you mean switch") != std::string::npos);
}

TEST_CASE("The output folder of acl.json is reported, and whether it is writable") {
  CheckList list;
  CHECK(check_acl_json(list, "acl.json", kGood) == "/tmp");
  CheckList there;
  check_acl_output(there, "acl.json", "/tmp");
  CHECK(there.count(CheckResult::ok) == 1);
  CheckList gone;
  check_acl_output(gone, "acl.json", "/tmp/no/such/folder");
  REQUIRE(gone.count(CheckResult::ok) == 1);
  CHECK(gone.checks().front().evidence.find("/tmp/no/such/folder is not a folder here") == 0);
}

}  // namespace msprof
