// Tests the Python modules acl and mstx with scripts run by the system's Python; also the demo and
// the manual's samples.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "support/require.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

using namespace msprof::test;
using nlohmann::json;

namespace {

const std::string kPython = MSPROF_PYTHON;
const std::string kModules = MSPROF_PYTHON_MODULES;
const std::string kDemo = MSPROF_DEMO_ACL;

bool has_modules() {
  return require_or_skip("python", !kModules.empty() && std::filesystem::exists(kPython),
                         "the Python modules are not built");
}

bool has_numpy() {
  return has_modules() &&
         require_or_skip("numpy", run_program(kPython, {"-c", "import numpy"}).exit_code == 0,
                         kPython + " has no numpy");
}

using Variables = std::vector<std::pair<std::string, std::string>>;

RunResult run_python(const std::string& script, std::vector<std::string> arguments,
                     const TempFolder& folder, Variables variables = {}) {
  arguments.insert(arguments.begin(), {"-X", "faulthandler", script});
  variables.emplace_back("PYTHONPATH", kModules);
  variables.emplace_back("PYTHONDONTWRITEBYTECODE", "1");
  return run_program(kPython, arguments, {folder.path(), std::move(variables)});
}

// Runs a script of this folder, which contains its own assertions.
RunResult run_script(const std::string& name, const TempFolder& folder,
                     const std::vector<std::string>& arguments = {}) {
  RunResult result = run_python(MSPROF_PYTHON_SCRIPTS "/" + name + ".py", arguments, folder);
  INFO(result.out << result.err);
  CHECK(result.exit_code == 0);
  return result;
}

std::vector<std::filesystem::path> captures(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with("PROF_")) found.push_back(entry.path());
  }
  return found;
}

void import(const std::filesystem::path& capture) {
  const RunResult result = run_msprof({"import", "-dir", capture.string()});
  INFO(result.out << result.err);
  REQUIRE(result.exit_code == 0);
  CHECK((result.out + result.err).find("complete") != std::string::npos);
}

json query(const std::filesystem::path& capture, const std::string& sql) {
  const RunResult rows =
      run_msprof({"query", sql, "-q", "-dir", capture.string(), "--format", "json"});
  INFO(rows.err);
  REQUIRE(rows.exit_code == 0);
  return json::parse(rows.out);
}

// Counts how often each operator type ran.
std::map<std::string, int> count_types(const std::filesystem::path& capture) {
  std::map<std::string, int> counts;
  for (const json& row : query(capture,
                               "SELECT op_type, count(*) AS n FROM v_tasks"
                               " WHERE op_type IS NOT NULL GROUP BY op_type"))
    counts[row.at("op_type").is_string() ? row.at("op_type").get<std::string>() : ""] =
        row.at("n").get<int>();
  return counts;
}

std::map<std::string, int> count_stages(const std::filesystem::path& capture) {
  std::map<std::string, int> counts;
  for (const json& row : query(capture, "SELECT message FROM v_user_ranges"))
    ++counts[row.at("message").get<std::string>()];
  return counts;
}

std::string checksum(const std::string& out) {
  std::smatch found;
  INFO(out);
  REQUIRE(std::regex_search(out, found, std::regex("checksum ([0-9.]+),")));
  return found[1];
}

}  // namespace

TEST_CASE("the modules have every name that programs for pyACL use") {
  if (!has_modules()) return;
  const TempFolder folder;
  CHECK(run_script("names", folder).err.empty());
}

TEST_CASE("functions of the module acl return values and codes like pyACL") {
  if (!has_modules()) return;
  const TempFolder folder;
  run_script("conventions", folder);
}

TEST_CASE("numpy arrays, bytes and device memory are passed by address") {
  if (!has_numpy()) return;
  const TempFolder folder;
  CHECK(run_script("memory", folder).err.empty());
}

TEST_CASE("waiting calls release the GIL, and streams call Python functions") {
  if (!has_modules()) return;
  const TempFolder folder;
  const RunResult result = run_script("threads", folder);
  // The error of the second function has no caller, so it is printed.
  CHECK(result.err.find("ZeroDivisionError") != std::string::npos);
}

TEST_CASE("stamps, steps and mstx of a program in Python are in its recording") {
  if (!has_modules()) return;
  const TempFolder folder;
  CHECK(run_script("stamps", folder, {(folder / "out").string()}).err.empty());
  REQUIRE(captures(folder.path()).size() == 1);
  const auto capture = captures(folder.path())[0];
  import(capture);
  const json rows = query(capture, "SELECT kind, domain, message FROM v_user_ranges");
  std::set<std::string> found;
  for (const json& row : rows) {
    found.insert(row.at("kind").get<std::string>() + " " + row.at("message").get<std::string>());
  }
  CHECK(found == std::set<std::string>{"push/pop 外层 outer", "marker a mark", "start/end crossing",
                                       "marker_ex on the stream", "marker mstx mark",
                                       "start/end mstx range", "start/end mstx by keyword",
                                       "marker in a domain", "start/end range in a domain",
                                       "start/end by its name"});
  CHECK(rows.size() == found.size());
  std::set<std::string> of_domain;
  for (const json& row : rows) {
    if (row.at("domain") == "python") of_domain.insert(row.at("message").get<std::string>());
  }
  CHECK(of_domain == std::set<std::string>{"in a domain", "range in a domain"});
  CHECK(count_types(capture) == std::map<std::string, int>{{"Relu", 3}, {"Add", 3}});
}

TEST_CASE("mstx calls in Python are recorded if a recorder exists, otherwise ignored") {
  if (!has_modules()) return;
  const TempFolder folder;
  const std::string script = MSPROF_PYTHON_SCRIPTS "/mstx_alone.py";
  CHECK(run_python(script, {}, folder).out == "0 0\n");
  CHECK(captures(folder.path()).empty());
  CHECK(run_python(script, {}, folder, {{"MSTX_INJECTION_PATH", MSPROF_MSTX_LIBRARY}}).out ==
        "1 4096\n");
  REQUIRE(captures(folder.path()).size() == 1);
  import(captures(folder.path())[0]);
  CHECK(count_stages(captures(folder.path())[0]) ==
        std::map<std::string, int>{{"outer", 1}, {"mark", 1}});
}

TEST_CASE("the manual's sample of recording into files runs") {
  if (!has_numpy()) return;
  const TempFolder folder;
  const RunResult result = run_python(kDemo + "/sample_files.py",
                                      {kDemo + "/models/face_mask_fused.json", "out"}, folder);
  INFO(result.out << result.err);
  REQUIRE(result.exit_code == 0);
  REQUIRE(captures(folder.path()).size() == 1);
  import(captures(folder.path())[0]);
  const auto types = count_types(captures(folder.path())[0]);
  CHECK(types.at("ConvBNRelu") == 11);
  CHECK(types.at("Softmax") == 1);
}

TEST_CASE("the manual's sample of a subscription reads every operator of every execution") {
  if (!has_numpy()) return;
  const TempFolder folder;
  const RunResult result =
      run_python(kDemo + "/sample_subscribe.py", {kDemo + "/models/face_mask.json", "7"}, folder);
  INFO(result.out << result.err);
  REQUIRE(result.exit_code == 0);
  std::map<std::string, int> counts;
  std::istringstream lines(result.out);
  for (std::string word; lines >> word;) {
    if (word != "operator") continue;
    std::string model, type, name;
    std::uint64_t start = 0, end = 0, duration = 0;
    lines >> model >> type >> name >> start >> end >> duration;
    ++counts[type];
    CHECK(start <= end);
  }
  CHECK(counts == std::map<std::string, int>{{"Conv2D", 77},
                                             {"BNInferenceD", 77},
                                             {"Relu", 77},
                                             {"TransData", 42},
                                             {"Add", 14},
                                             {"Pool", 14},
                                             {"FullyConnected", 7},
                                             {"Softmax", 7},
                                             {"na", 7}});  // the key points of an execution
}

TEST_CASE("the recogniser in Python and the one in C compute the same, with either model") {
  const TempFolder folder;
  const RunResult apart = run_program(kDemo + "/main", {"--images", "5"}, {folder.path()});
  const RunResult fused = run_program(
      kDemo + "/main", {"--images", "5", "--model", "face_mask_fused"}, {folder.path()});
  INFO(apart.err << fused.err);
  REQUIRE(apart.exit_code == 0);
  REQUIRE(fused.exit_code == 0);
  CHECK(apart.err.empty());
  CHECK(apart.out.starts_with("face_mask: 5 pictures, "));
  CHECK(checksum(apart.out) == checksum(fused.out));
  CHECK(captures(folder.path()).empty());
  if (!has_numpy()) return;
  const RunResult python = run_python(kDemo + "/main.py", {"--images", "5"}, folder);
  INFO(python.err);
  REQUIRE(python.exit_code == 0);
  CHECK(checksum(python.out) == checksum(apart.out));
  CHECK(python.out.substr(0, python.out.find("median")) ==
        apart.out.substr(0, apart.out.find("median")));
}

TEST_CASE("the recogniser's stages and operators are in its profile, and a slow start is found") {
  const TempFolder folder;
  const RunResult result = run_program(
      kDemo + "/main", {"--images", "3", "--slow-start", "3", "--output", "out"}, {folder.path()});
  INFO(result.out << result.err);
  REQUIRE(result.exit_code == 0);
  REQUIRE(captures(folder.path()).size() == 1);
  const auto capture = captures(folder.path())[0];
  import(capture);
  CHECK(count_stages(capture) == std::map<std::string, int>{{"CreateMultipleStreamsFromFile", 1},
                                                            {"decode", 3},
                                                            {"preprocess", 3},
                                                            {"infer", 3},
                                                            {"postprocess", 3}});
  const json longest = query(
      capture, "SELECT message, duration_us FROM v_user_ranges ORDER BY duration_us DESC LIMIT 1");
  CHECK(longest.at(0).at("message") == "CreateMultipleStreamsFromFile");
  CHECK(longest.at(0).at("duration_us") >= 3'000'000.0);
  const auto types = count_types(capture);
  CHECK(types.at("TransData") == 3 * 6);
  CHECK(types.at("BNInferenceD") == 3 * 11);
}

TEST_CASE("the fused model has neither TransData nor operators to fuse, and runs fewer") {
  const TempFolder folder;
  const auto run = [&](const std::string& model) {
    const RunResult result = run_program(
        kDemo + "/main", {"--images", "3", "--model", model, "--output", model}, {folder.path()});
    INFO(result.out << result.err);
    REQUIRE(result.exit_code == 0);
    REQUIRE(captures(folder / model).size() == 1);
    const auto capture = captures(folder / model)[0];
    import(capture);
    return capture;
  };
  const auto apart = run("face_mask"), fused = run("face_mask_fused");
  for (const char* type : {"TransData", "Conv2D", "BNInferenceD", "Relu"}) {
    CHECK(count_types(apart).contains(type));
    CHECK_FALSE(count_types(fused).contains(type));
  }
  const auto executed_operators = [](const std::filesystem::path& capture) {
    return query(capture, "SELECT count(*) AS count FROM v_tasks WHERE op_type IS NOT NULL")
        .at(0)
        .at("count")
        .get<int>();
  };
  CHECK(executed_operators(fused) < executed_operators(apart));
}

TEST_CASE("unknown arguments of the recogniser are refused") {
  const TempFolder folder;
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--model", "other"},
                                                    {"--images", "0"},
                                                    {"--images"},
                                                    {"--what"}}) {
    CHECK(run_program(kDemo + "/main", arguments, {folder.path()}).exit_code == 2);
  }
  CHECK(run_program(kDemo + "/main", {"--help"}, {folder.path()}).exit_code == 0);
}
