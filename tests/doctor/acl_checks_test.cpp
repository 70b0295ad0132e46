// acl.json as doctor reads it: each mistake of its own, and none where there is none.
#include "doctor/acl_checks.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace msprof {

namespace {

constexpr const char* kGood =
    R"({"profiler": {"switch": "on", "output": "/tmp", "interval": "0", "acl_api": "on",)"
    R"( "aicpu": "on", "aic_metrics": "ArithmeticUtilization"}})";

// "warning keys" for each check that is not ok, one a line.
std::string problems_of(const std::string& text) {
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

std::string evidence_of(const std::string& text, const std::string& name) {
  CheckList list;
  check_acl_json(list, "acl.json", text);
  for (const Check& check : list.checks()) {
    if (check.name == "acl.json: " + name) return check.evidence;
  }
  return "";
}

// The good file with `from` replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("A good acl.json has no problem, in both spellings of its keys") {
  CHECK(problems_of(kGood) == "");
  CHECK(problems_of(changed("aicpu", "aacpu")) == "");
  CHECK(problems_of(changed("aic_metrics", "aac_metrics")) == "");
  CHECK(problems_of(changed("\"0\"", "0")) == "");
}

TEST_CASE("Each mistake in acl.json is named by its own check") {
  struct Case {
    std::string text;
    std::string problems;
  };
  const std::vector<Case> cases = {
      {"", "failed acl.json\n"},
      {"{\"profiler\": ", "failed acl.json\n"},
      {"[1]", "failed acl.json\n"},
      {"{}", "warning acl.json\n"},
      {R"({"profiler": 1})", "warning acl.json\n"},
      {std::string(kGood) + "// mine", "warning acl.json\n"},
      {changed(R"("on", "output")", R"("off", "output")"), "warning switch\n"},
      {changed(R"("on", "output")", R"("ON", "output")"), "warning switch\n"},
      {changed("\"switch\"", "\"swich\""), "warning switch\nwarning keys\n"},
      {changed("acl_api", "aclapi"), "warning keys\n"},
      {changed(R"("aicpu": "on")", R"("aicpu": "off")"), "warning aicpu\n"},
      {changed(R"("aicpu": "on")", R"("aicpu": true)"), "warning aicpu\n"},
      {changed(R"("aicpu": "on")", R"("aicpu": "on", "aacpu": "off")"), "warning aicpu\n"},
      {changed("ArithmeticUtilization", "PipeUtilization"), "warning aic_metrics\n"},
      {changed("\"0\"", "\"10000\""), "warning interval\n"},
      {changed("\"0\"", "\"-1\""), "warning interval\n"},
      {changed("\"0\"", "1.5"), "warning interval\n"},
      {changed("\"0\"", "\"20\""), "warning interval\n"},
      {changed("\"/tmp\"", "\"\""), "warning output\n"},
      {changed("/tmp", "/my folder"), "warning output\n"},
      {changed("/tmp", std::string(5000, 'a')), "warning output\n"},
      {changed("{\"profiler\"", R"({"dump": {"dump_list": [{}]}, "profiler")"), "failed dump\n"},
      {changed("{\"profiler\"", R"({"dump": {"switch": "on"}, "profiler")"), "failed dump\n"},
      {R"({"profiler": {"switch": "on", "output": "o", "acl_api": "off", "aicpu": "off"}})",
       "warning aicpu\nwarning acl_api\nwarning aic_metrics\nfailed items\n"},
  };
  for (const Case& one : cases) {
    INFO(one.text.substr(0, 200));
    CHECK(problems_of(one.text) == one.problems);
  }
}

TEST_CASE("A misspelt key of acl.json is named with what was meant") {
  const std::string evidence = evidence_of(changed("\"switch\"", "\"swich\""), "keys");
  CHECK(evidence.find("\"swich\"") != std::string::npos);
  CHECK(evidence.find("did you mean switch") != std::string::npos);
}

TEST_CASE("The output folder of acl.json is told, and whether it takes a capture") {
  CheckList list;
  CHECK(check_acl_json(list, "acl.json", kGood) == "/tmp");
  CheckList there;
  check_acl_output(there, "acl.json", "/tmp");
  CHECK(there.count(CheckResult::ok) == 1);
  CheckList gone;
  check_acl_output(gone, "acl.json", "/tmp/no/such/folder");
  REQUIRE(gone.count(CheckResult::warning) == 1);
  CHECK(gone.checks().front().remedy.find("mkdir -p /tmp/no/such/folder") == 0);
}

}  // namespace msprof
