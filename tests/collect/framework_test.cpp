// Environment variables set by --framework, and its messages.
#include "collect/cann/framework.hpp"

#include <catch2/catch.hpp>
#include <optional>

#include "base/error.hpp"
#include "support/lines.hpp"
#include "support/variable.hpp"

namespace msprof {

using msprof::test::contains;

namespace {

std::string said(const FrameworkPlan& plan) {
  std::string lines;
  for (const std::string& sentence : plan.sentences) lines += sentence + "\n";
  return lines;
}

// The usage error; empty if there is none.
template <typename Work>
std::string refusal(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    CHECK(error.code() == Exit::usage);
    return error.what();
  }
  return "";
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("Framework names are parsed, with a suggestion for unknown ones") {
  CHECK(parse_framework("tf") == Framework::tensorflow);
  CHECK(parse_framework("tensorflow") == Framework::tensorflow);
  CHECK(parse_framework("mindspore") == Framework::mindspore);
  CHECK(parse_framework("torch") == Framework::torch);
  for (const std::string& name : framework_names()) CHECK_NOTHROW(parse_framework(name));
  CHECK(refusal([] { parse_framework("mindspor"); }) ==
        "--framework must be tf, tensorflow, mindspore or torch, not \"mindspor\"; did you mean "
        "mindspore?");
}

TEST_CASE("TensorFlow without options gets the documented defaults, which are printed") {
  const auto plan = plan_framework(Framework::tensorflow, std::nullopt, "/out");
  const std::string options =
      R"({"output":"/out","training_trace":"on","task_time":"on","hccl":"on","aicpu":"on",)"
      R"("aic_metrics":"PipeUtilization","msproftx":"off"})";
  CHECK(plan.environment == Words{"PROFILING_MODE=true", "PROFILING_OPTIONS=" + options});
  CHECK(contains(said(plan), options + ", the documented defaults"));
  CHECK(contains(said(plan), "settings in the script override both"));
  CHECK(records_by_itself(Framework::tensorflow));
}

TEST_CASE("TensorFlow's options are passed on with the output folder of the run") {
  const auto plan =
      plan_framework(Framework::tensorflow, R"({"output":"/tmp/p", "l2":"on"})", "/out");
  CHECK(plan.environment.at(1) == R"(PROFILING_OPTIONS={"output":"/out","l2":"on"})");
  CHECK(contains(said(plan), "output /tmp/p becomes /out"));
  CHECK_FALSE(contains(said(plan), "defaults"));
  const auto without = plan_framework(Framework::tensorflow, R"({"task_trace":"on"})", "/out");
  CHECK(without.environment.at(1) == R"(PROFILING_OPTIONS={"output":"/out","task_trace":"on"})");
  CHECK(contains(said(without), "older name"));
}

TEST_CASE("Wrong options are refused before the start, all of them at once") {
  const auto with = [](const std::string& options) {
    return refusal([&] { plan_framework(Framework::tensorflow, options, "/out"); });
  };
  CHECK(with(R"({"training_trace":"on",task_trace":"on"})") ==
        "--profiling-options, line 1, column 25: not valid JSON: invalid literal; last read: "
        "'\"on\",ta'; expected string literal");
  CHECK(with(R"({"l3":"on","l2":"1"})") ==
        "--profiling-options, line 1, column 2: unknown key \"l3\"; did you mean l2?\n"
        "--profiling-options, line 1, column 12: \"l2\" must be on or off, not \"1\"");
  CHECK(with("") ==
        "--profiling-options, line 1, column 1: not valid JSON: unexpected end of input; expected "
        "'[', '{', or a literal");
  CHECK(contains(with(R"({"fp_point":")" + std::string(2029, 'x') + "\"}"),
                 "with the output folder it has 2,060 bytes"));
}

TEST_CASE("A folder name that JSON cannot represent is refused") {
  CHECK(contains(refusal([] { plan_framework(Framework::tensorflow, std::nullopt, "/out\xff"); }),
                 "is not UTF-8"));
}

TEST_CASE("MindSpore gets its variable, which records the whole run") {
  const auto plan = plan_framework(Framework::mindspore, std::nullopt, "/out");
  CHECK(
      plan.environment ==
      Words{R"(MS_PROFILER_OPTIONS={"start":true,"output_path":"/out",)"
            R"("profiler_level":"Level0","activities":["CPU","NPU"],"aic_metrics":"AicoreNone"})"});
  CHECK(records_by_itself(Framework::mindspore));
  CHECK(contains(said(plan), "no variable for a schedule"));
}

TEST_CASE("PyTorch has no variable to start its profiler, which is reported") {
  std::optional<test::Variable> path(std::in_place, "PROF_CONFIG_PATH", std::nullopt);
  const auto plan = plan_framework(Framework::torch, std::nullopt, "/out");
  CHECK(plan.environment == Words{"PROF_CONFIG_PATH=/out"});
  CHECK_FALSE(records_by_itself(Framework::torch));
  CHECK(contains(said(plan), "PyTorch has no variable that starts its own profiler"));
  path.reset();
  path.emplace("PROF_CONFIG_PATH", "/mine");
  const auto kept = plan_framework(Framework::torch, std::nullopt, "/out");
  CHECK(kept.environment.empty());
  CHECK(contains(said(kept), "PROF_CONFIG_PATH=/mine is kept"));
}

TEST_CASE("Profiling options require TensorFlow") {
  for (const Framework other : {Framework::none, Framework::mindspore, Framework::torch}) {
    CHECK(contains(refusal([&] { plan_framework(other, "{}", "/out"); }), "--framework tf"));
  }
  const auto plan = plan_framework(Framework::none, std::nullopt, "/out");
  CHECK(plan.environment.empty());
  CHECK(plan.sentences.empty());
}

}  // namespace msprof
