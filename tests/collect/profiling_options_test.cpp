// Checks of profiling_options before a start: JSON, keys, values, length, exclusions; and the page
// of the manual that lists them.
#include "collect/cann/profiling_options.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/files.hpp"

namespace msprof {

namespace {

// Printed in the vendor's manual for Estimator programs of TensorFlow 1.15.
constexpr std::string_view kManualExample =
    R"({"output":"/tmp/profiling","training_trace":"on",task_trace":"on","fp_point":"",)"
    R"("bp_point":"","aic_metrics":"PipeUtilization"})";

std::string with_output_key(const std::string& keys) {
  return R"({"output":"/tmp",)" + keys + "}";
}

// All problems of a text, one per line.
std::string list_problems(const std::string& text, OutputKey output = OutputKey::required) {
  const ProfilingOptionsCheck check = check_profiling_options(text, output);
  CHECK(check.effective.empty() == !check.problems.empty());
  std::string lines;
  for (const Problem& each : check.problems) lines += each.sentence("options", text) + "\n";
  return lines;
}

std::string list_notes(const std::string& text) {
  std::string lines;
  for (const Problem& each : check_profiling_options(text).notes)
    lines += each.sentence("options", text) + "\n";
  return lines;
}

std::string manual_page() {
  return test::read_file(std::filesystem::path(MSPROF_SOURCE_DIR) / "docs/frameworks.md");
}

// Valid and invalid values of a key.
struct Samples {
  std::vector<std::string> good;
  std::vector<std::string> bad;
};

Samples make_samples(const ProfilingOption& option) {
  const std::string below = std::to_string(option.low - 1), above = std::to_string(option.high + 1);
  const std::string low = std::to_string(option.low), high = std::to_string(option.high);
  switch (option.kind) {
    case OptionKind::choice:
      return {option.choices, {"", "ON", "yes", "l9", "on,off"}};
    case OptionKind::choices:
      return {{"cpu", "mem", "mem,cpu"}, {"", "cpu,", "cpu,cpu", "gpu", "cpu mem"}};
    case OptionKind::metrics: {
      Samples samples{option.choices, {"", "Memry", "Custom:", "Custom:1f", "Custom:0x"}};
      samples.good.insert(samples.good.end(), {"Custom:0x416", "Custom:0x1,0XfF", "Custom:73,8"});
      samples.bad.emplace_back("Custom:0x1,0x2,0x3,0x4,0x5,0x6,0x7,0x8,0x9");
      return samples;
    }
    case OptionKind::number:
      return {{low, high}, {below, above, "", "1x", "-1", "5.0"}};
    case OptionKind::storage:
      return {{low + "MB", high + "MB"}, {below + "MB", above + "MB", low, low + "GB", "MB", ""}};
    case OptionKind::path:
      return {{"", "/tmp/a b", "relative"}, {"a;b", "$HOME", "a\nb", "a|b"}};
    case OptionKind::text:
      break;
  }
  return {{"", "anything"}, {}};
}

std::string key_value_pair(std::string_view key, const std::string& value) {
  return nlohmann::json(key).dump() + ":" + nlohmann::json(value).dump();
}

}  // namespace

TEST_CASE("The missing quote of the manual's example is located") {
  CHECK(list_problems(std::string(kManualExample)) ==
        "options, line 1, column 51: not valid JSON: invalid literal; last read: '\"on\",ta'; "
        "expected "
        "string literal\n");
  std::string mended(kManualExample);
  mended.insert(mended.find("task_trace"), "\"");
  CHECK(list_problems(mended) == "");
  CHECK(check_profiling_options(mended).output == "/tmp/profiling");
}

TEST_CASE("Invalid JSON is reported with the position and the reason of the parser") {
  struct Case {
    std::string text;
    std::string place;
    std::string why;
  };
  const std::vector<Case> cases = {
      {"", "line 1, column 1", "unexpected end of input; expected '[', '{', or a literal"},
      {R"({"output":"/tmp")", "line 1, column 17", "unexpected end of input; expected '}'"},
      {"{\"output\":\"/tmp\",\n  \"l2\":on}", "line 2, column 8",
       "invalid literal; last read: '\"l2\":o'"},
      {R"({"é":"1",l2":"on"})", "line 1, column 10",
       "invalid literal; last read: '\"1\",l'; expected string literal"},
      {R"({"l2":"on" "hccl":"on"})", "line 1, column 17",
       "unexpected string literal; expected '}'"},
      {R"({"l2":"on",})", "line 1, column 12", "unexpected '}'; expected string literal"},
      {R"({"l2":"on"} x)", "line 1, column 13",
       "invalid literal; last read: '\"on\"} x'; expected end of input"},
      {R"({"l2":1e})", "line 1, column 9",
       "invalid number; expected '+', '-', or digit after exponent; last read: '1e}'"},
  };
  for (const Case& each : cases) {
    INFO(each.text);
    CHECK(list_problems(each.text) ==
          "options, " + each.place + ": not valid JSON: " + each.why + "\n");
  }
  CHECK(list_problems(R"({"l2":1e999})") == "options: a number is out of range\n");
}

TEST_CASE("JSON that is not an object is refused") {
  CHECK(list_problems("[1]") == "options: it is not a JSON object: put { and } around the keys\n");
}

TEST_CASE("Each key accepts its values and refuses others") {
  for (const ProfilingOption& option : profiling_option_table()) {
    const Samples samples = make_samples(option);
    const bool is_output = option.name == "output";
    for (const std::string& value : samples.good) {
      INFO(option.name << " good " << value);
      const std::string pair = key_value_pair(option.name, value);
      CHECK(list_problems(is_output ? "{" + pair + "}" : with_output_key(pair)) == "");
    }
    for (const std::string& value : samples.bad) {
      INFO(option.name << " bad " << value);
      const std::string pair = key_value_pair(option.name, value);
      CHECK(list_problems(is_output ? "{" + pair + "}" : with_output_key(pair))
                .find(fmt::format("\"{}\" must be ", option.name)) != std::string::npos);
    }
    INFO(option.name << " with a list");
    const std::string list = fmt::format("\"{}\":[]", option.name);
    CHECK(list_problems("{" + list + "}").find("must be") != std::string::npos);
  }
  CHECK(list_problems(with_output_key(R"("sys_cpu_freq":50)")) == "");
  CHECK(
      list_problems(with_output_key(R"("sys_cpu_freq":60)")) ==
      "options, line 1, column 18: \"sys_cpu_freq\" must be a whole number from 1 to 50, not 60\n");
  CHECK(list_problems(with_output_key(R"("hccl":true)")) ==
        "options, line 1, column 18: \"hccl\" must be on or off, not true\n");
}

TEST_CASE("An unknown key is reported with the nearest one") {
  CHECK(list_problems(with_output_key(R"("aic_metric":"Memory")")) ==
        "options, line 1, column 18: unknown key \"aic_metric\"; did you mean aic_metrics?\n");
}

TEST_CASE("All problems are reported at once, and a duplicate key is one") {
  CHECK(list_problems(R"({"output":"/tmp","l2":"on","hcl":"on","l2":"off","aicpu":"1"})") ==
        "options: \"l2\" is given twice\n"
        "options, line 1, column 28: unknown key \"hcl\"; did you mean hccl?\n"
        "options, line 1, column 50: \"aicpu\" must be on or off, not \"1\"\n");
}

TEST_CASE("2,048 bytes are accepted, one more is not") {
  const std::string empty = with_output_key(R"("fp_point":"")");
  std::string text = empty;
  text.insert(text.size() - 2, std::string(2048 - empty.size(), 'x'));
  REQUIRE(text.size() == 2048);
  CHECK(list_problems(text) == "");
  text.insert(text.size() - 2, "x");
  CHECK(list_problems(text) == "options: it has 2,049 bytes, the maximum is 2,048\n");
}

TEST_CASE("The output is required; an empty one means ASCEND_WORK_PATH, with a message") {
  CHECK(list_problems(R"({"l2":"on"})") ==
        "options: \"output\" is missing: the folder for the results\n");
  CHECK(list_problems(R"({"l2":"on"})", OutputKey::added_later) == "");
  CHECK(list_problems(R"({"output":""})") == "");
  CHECK(list_notes(R"({"output":""})").find("profiling_data in $ASCEND_WORK_PATH") !=
        std::string::npos);
}

TEST_CASE("Conflicting keys are refused") {
  CHECK(list_problems(with_output_key(R"("instr_profiling":"on","instr_profiling_freq":"500")")) ==
        "");
  CHECK(list_problems(with_output_key(R"("instr_profiling":"on","l2":"off")")) == "");
  CHECK(list_problems(
            with_output_key(R"("instr_profiling":"on","l2":"on","aic_metrics":"Memory")")) ==
        "options, line 1, column 18: \"instr_profiling\" cannot be combined with \"l2\" and "
        "\"aic_metrics\": remove these\n");
  CHECK(
      list_problems(with_output_key(R"("task_time":"off","task_trace":"on")")) ==
      "options, line 1, column 36: \"task_time\" is off and \"task_trace\", its older name, on\n");
  CHECK(list_problems(with_output_key(R"("task_time":"l1","task_trace":"on")")) == "");
}

TEST_CASE("Keys without effect and older names are reported, but not refused") {
  CHECK(list_notes(with_output_key(R"("task_trace":"on")")) ==
        "options: \"task_trace\" is the older name of \"task_time\"\n");
  CHECK(list_notes(with_output_key(R"("instr_profiling_freq":"500")")) ==
        "options: \"instr_profiling_freq\" has no effect without \"instr_profiling\":\"on\"\n");
  CHECK(list_notes(with_output_key(R"("host_sys_usage_freq":"5")")) ==
        "options: \"host_sys_usage_freq\" has no effect without \"host_sys_usage\"\n");
  CHECK(list_notes(with_output_key(R"("l2":"on")")) == "");
}

TEST_CASE("The effective options are one line with the keys in their order") {
  const auto check = check_profiling_options("{ \"output\": \"/tmp\",\n \"l2\": \"on\" }");
  CHECK(check.effective == R"({"output":"/tmp","l2":"on"})");
  CHECK(with_output(check.effective, "/else where") == R"({"output":"/else where","l2":"on"})");
  CHECK(with_output(R"({"l2":"on"})", "/x") == R"({"output":"/x","l2":"on"})");
}

TEST_CASE("The documented defaults are valid options") {
  const auto check = check_profiling_options(default_profiling_options());
  CHECK(check.problems.empty());
  CHECK(check.notes.empty());
  CHECK(check.effective == default_profiling_options());
  CHECK(nlohmann::json::parse(check.effective) ==
        nlohmann::json({{"output", "./"},
                        {"training_trace", "on"},
                        {"task_time", "on"},
                        {"hccl", "on"},
                        {"aicpu", "on"},
                        {"aic_metrics", "PipeUtilization"},
                        {"msproftx", "off"}}));
}

TEST_CASE("The manual's table of keys equals the program's") {
  std::string table;
  for (const ProfilingOption& option : profiling_option_table()) {
    table += fmt::format("| `{}` | {} | {} |\n", option.name, value_words(option), option.meaning);
  }
  const std::string page = manual_page();
  const std::size_t begin = page.find("| `output` |");
  REQUIRE(begin != std::string::npos);
  CHECK(page.substr(begin, page.find("\n\n", begin) + 1 - begin) == table);
}

TEST_CASE("The manual shows the vendor's example and the sentence about it") {
  const std::string page = manual_page();
  CHECK(page.find(kManualExample) != std::string::npos);
  for (const Problem& problem : check_profiling_options(kManualExample).problems)
    CHECK(page.find(problem.sentence("--profiling-options", kManualExample)) != std::string::npos);
  CHECK(page.find(default_profiling_options()) != std::string::npos);
}

}  // namespace msprof
