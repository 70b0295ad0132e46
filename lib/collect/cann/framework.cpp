#include "collect/cann/framework.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "collect/cann/profiling_options.hpp"

namespace msprof {

namespace {

constexpr std::string_view kOptionsName = "--profiling-options";

std::string json_folder(const std::filesystem::path& output) {
  if (is_valid_utf8(output.string())) return output.string();
  throw Error(Exit::usage, fmt::format("the output folder {} is not UTF-8, which the JSON options "
                                       "of a framework require; choose another with --output",
                                       printable(output.string())));
}

// Checks the options that the user typed and sets the output folder of this run.
std::string run_options(const std::string& typed, const std::string& folder,
                        std::vector<std::string>& sentences) {
  const ProfilingOptionsCheck check = check_profiling_options(typed, OutputKey::added_later);
  if (!check.problems.empty()) {
    std::vector<std::string> wrong;
    for (const Problem& each : check.problems) wrong.push_back(each.sentence(kOptionsName, typed));
    throw Error(Exit::usage, fmt::format("{}", fmt::join(wrong, "\n")));
  }
  for (const Problem& each : check.notes) sentences.push_back(each.sentence(kOptionsName, typed));
  if (!check.output.empty() && check.output != folder) {
    sentences.push_back(fmt::format("{}: output {} becomes {}", kOptionsName,
                                    printable(check.output), printable(folder)));
  }
  std::string whole = with_output(check.effective, folder);
  if (whole.size() > kMaxProfilingOptionsBytes) {
    throw Error(
        Exit::usage,
        fmt::format("{}: with the output folder it has {} bytes, the maximum is {}", kOptionsName,
                    with_thousands(whole.size()), with_thousands(kMaxProfilingOptionsBytes)));
  }
  return whole;
}

FrameworkPlan plan_tensorflow(const std::optional<std::string>& options,
                              const std::string& folder) {
  FrameworkPlan plan;
  const std::string whole = options ? run_options(*options, folder, plan.sentences)
                                    : with_output(default_profiling_options(), folder);
  plan.environment = {"PROFILING_MODE=true", "PROFILING_OPTIONS=" + whole};
  plan.sentences.push_back(fmt::format("TensorFlow: PROFILING_MODE=true, PROFILING_OPTIONS={}{}",
                                       printable(whole),
                                       options ? "" : ", the documented defaults"));
  plan.sentences.emplace_back(
      "settings in the script override both; msprof doctor finds them. TensorFlow 1.x in online "
      "inference is recorded with sess.run only");
  return plan;
}

FrameworkPlan plan_mindspore(const std::string& folder) {
  const nlohmann::ordered_json value = {{"start", true},
                                        {"output_path", folder},
                                        {"profiler_level", "Level0"},
                                        {"activities", {"CPU", "NPU"}},
                                        {"aic_metrics", "AicoreNone"}};
  FrameworkPlan plan;
  plan.environment = {"MS_PROFILER_OPTIONS=" + value.dump()};
  plan.sentences = {fmt::format("MindSpore: MS_PROFILER_OPTIONS={}", printable(value.dump())),
                    "MindSpore has no variable for a schedule, so the whole run is recorded; a "
                    "script with mindspore.Profiler profiles itself"};
  return plan;
}

FrameworkPlan plan_torch(const std::filesystem::path& output) {
  FrameworkPlan plan;
  plan.sentences = {
      "PyTorch has no variable that starts its own profiler: the devices are recorded through "
      "aclInit. Calls of Python need torch_npu.profiler.profile in the script, and a run without "
      "msprof collect: a device has one recording at a time"};
  const char* const set = std::getenv("PROF_CONFIG_PATH");
  if (set != nullptr && *set != '\0') {
    plan.sentences.push_back(fmt::format("PROF_CONFIG_PATH={} is kept", printable(set)));
  } else {
    plan.environment = {"PROF_CONFIG_PATH=" + output.string()};
    plan.sentences.push_back(
        fmt::format("PROF_CONFIG_PATH={}: torch_npu's dynamic_profile reads profiler_config.json "
                    "there, if the script uses it",
                    printable(output.string())));
  }
  return plan;
}

}  // namespace

const std::vector<std::string>& framework_names() {
  static const std::vector<std::string> names = {"tf", "tensorflow", "mindspore", "torch"};
  return names;
}

Framework parse_framework(std::string_view name) {
  if (name == "tf" || name == "tensorflow") return Framework::tensorflow;
  if (name == "mindspore") return Framework::mindspore;
  if (name == "torch") return Framework::torch;
  const std::string near = did_you_mean(name, framework_names());
  throw Error(Exit::usage, fmt::format("--framework must be {}, not \"{}\"{}",
                                       listed(framework_names(), "or"), printable(name), near));
}

bool records_by_itself(Framework framework) {
  return framework == Framework::tensorflow || framework == Framework::mindspore;
}

FrameworkPlan plan_framework(Framework framework, const std::optional<std::string>& options,
                             const std::filesystem::path& output) {
  if (options && framework != Framework::tensorflow) {
    const char* const why = framework == Framework::none ? "also add --framework tf"
                                                         : "remove it, or add --framework tf";
    throw Error(Exit::usage, fmt::format("{} is for TensorFlow and graph engine programs; {}",
                                         kOptionsName, why));
  }
  switch (framework) {
    case Framework::tensorflow:
      return plan_tensorflow(options, json_folder(output));
    case Framework::mindspore:
      return plan_mindspore(json_folder(output));
    case Framework::torch:
      return plan_torch(output);
    case Framework::none:
      break;
  }
  return {};
}

}  // namespace msprof
