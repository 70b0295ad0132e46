// doctor's parsing of Python scripts: the values of string expressions, errors in profiling_options
// with file, line and column, and settings that override the environment.
#include "doctor/script_checks.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "collect/cann/profiling_options.hpp"
#include "doctor/project_checks.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"
#include "support/variable.hpp"

namespace msprof {

namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using test::write_file;

// "result name: evidence" of each check, one per line.
std::string check_lines(const CheckList& list) {
  std::string lines;
  for (const Check& check : list.checks()) {
    lines += fmt::format("{} {}: {}\n", result_name(check.result), check.name, check.evidence);
    if (check.result == CheckResult::warning || check.result == CheckResult::failed)
      CHECK_FALSE(check.remedy.empty());
  }
  return lines;
}

std::string run_checks(const std::string& text, const fs::path& folder) {
  write_file(folder / "train.py", text);
  CheckList list;
  CHECK(check_script(list, "train.py", folder / "train.py"));
  return check_lines(list);
}

std::string run_checks(const std::string& text) {
  const TempFolder folder;
  return run_checks(text, folder.path());
}

// Returns the unknown key in the options that a script sets to `expression`; "(unknown)" if the
// options are known only when it runs. The lines before define variables.
std::string find_key(const std::string& expression, const std::string& before = "") {
  const std::string said = run_checks(before + "\nprofiling_options = " + expression + "\n");
  if (said.find("built when the script runs") != std::string::npos) return "(unknown)";
  const std::string begin = "unknown key \"";
  const std::size_t at = said.find(begin);
  if (at == std::string::npos) return said;
  return said.substr(at + begin.size(), said.find('"', at + begin.size()) - at - begin.size());
}

constexpr const char* kWarning =
    "the script enables profiling: its settings override PROFILING_MODE and PROFILING_OPTIONS\n";

// The Estimator example of the vendor's manual, with its line breaks.
constexpr const char* kEstimator =
    R"py(from npu_bridge.estimator.npu.npu_config import NPURunConfig
from npu_bridge.estimator.npu.npu_config import ProfilingConfig
profiling_options = '{"output":"/tmp/profiling","training_trace":"on",task_trace":"on","fp_point":"","bp_point":"","aic_metrics":"PipeUtilization"}'
profiling_config = ProfilingConfig(enable_profiling=True, profiling_options = profiling_options)
session_config=tf.ConfigProto()
config = NPURunConfig(profiling_config=profiling_config, session_config=session_config)
)py";

constexpr const char* kSession = R"py(custom_op.name = "NpuOptimizer"
custom_op.parameter_map["profiling_mode"].b = True
custom_op.parameter_map["profiling_options"].s = tf.compat.as_bytes('{"output":"/tmp/profiling","task_time":"on"}')
)py";

// From the manual for TensorFlow 2.x: one text over several lines.
constexpr const char* kDevice = R"py(import npu_device
npu_device.global_options().profiling_config.enable_profiling = True
profiling_options = '{"output":"/home/profiling", \
  "training_trace":"on", \
  "task_time":"maybe"}'
npu_device.global_options().profiling_config.profiling_options = profiling_options
)py";

}  // namespace

TEST_CASE("String constants of a script are joined as in Python") {
  CHECK(find_key(R"py('{"abc":1}')py") == "abc");
  CHECK(find_key("(r'{\"a'\n  \"b\" # 'x'\n  u'''c\":1}''')") == "abc");
  CHECK(find_key(R"py('{"a' + ("b" + 'c') + '":1}')py") == "abc");
  CHECK(find_key(R"py('{"\x61\142\u0063":1}')py") == "abc");
  CHECK(find_key(R"py(tf.compat.as_bytes(b'{"abc":1}'))py") == "abc");
  CHECK(find_key(R"py(bytes('{"abc":1}', 'utf-8'))py") == "abc");
  CHECK(find_key(R"py('{"abc":1}'.encode('utf-8'))py") == "abc");
  CHECK(find_key("y + z", "y = 'old'\ny = '{\"ab'; z = 'c\":1}'") == "abc");
}

TEST_CASE("Values computed at run time are not guessed") {
  for (const char* expression :
       {"f'{a}'", "'a' % b", "'a'.format(b)", "json.dumps({})", "args.options", "'a' if b else 'c'",
        "['a']", "unknown", "'a' + unknown", "1", "'a'[1:]", "load('a')", "profiling_options"}) {
    INFO(expression);
    CHECK(find_key(expression) == "(unknown)");
  }
}

TEST_CASE("Endless expressions end quickly, and a script that is not Python 3 is skipped") {
  std::string doubling = "a0 = 'x'\n";
  for (int i = 1; i < 200; ++i) doubling += fmt::format("a{} = a{} + a{}\n", i, i - 1, i - 1);
  CHECK(find_key("a199", doubling) == "(unknown)");
  CHECK(find_key("a20", doubling) == "(unknown)");
  const std::string skipped = "skipped train.py: not checked: python3 cannot parse it (line ";
  for (const std::string& expression : {std::string(100'000, '('), std::string("'a")})
    CHECK(find_key(expression).starts_with(skipped + "2: "));
  CHECK(run_checks("print profiling_options").starts_with(skipped + "1: "));
}

TEST_CASE("Texts of a script beyond a limit are not read") {
  std::string script = "s = '" + std::string(10'000, 'a') + "'\n";
  for (int i = 0; i < 60; ++i) script += "f(profiling_options=s)\n";
  const std::string checks = run_checks(script);
  CHECK(checks.find("train.py:2: profiling_options") != std::string::npos);
  CHECK(checks.find("train.py:50: profiling_options: its value is built when the script runs") !=
        std::string::npos);
}

TEST_CASE("Settings in annotated assignments, defaults of parameters and bytes are found") {
  CHECK(run_checks("x = b\"\\u'abc\"\nprofiling_options: str = '{'").find("train.py:2") !=
        std::string::npos);
  CHECK(run_checks("def f(a, b=1, profiling_options='{'): pass").find("train.py:1") !=
        std::string::npos);
  CHECK(run_checks("def f(*, a, profiling_options='{'): pass").find("train.py:1") !=
        std::string::npos);
}

TEST_CASE("Without python3 the doctor reports that scripts are not checked") {
  const TempFolder folder;
  write_file(folder / "train.py", kSession);
  write_file(folder / "other.py", kSession);
  const test::Variable path("PATH", folder.path().string());
  CheckList list;
  CHECK(check_scripts(list, folder.path()));
  CHECK(check_lines(list) ==
        "skipped other.py: not checked, nor are scripts after it: python3, which parses scripts, "
        "cannot be started\n");
  CHECK_FALSE(list.checks().front().remedy.empty());
}

TEST_CASE("The missing quote in the manual's Estimator example is located") {
  CHECK(
      run_checks(kEstimator) ==
      "failed train.py:3: profiling_options: train.py:3:72: not valid JSON: invalid literal; last "
      "read: '\"on\",ta'; expected string literal\n"
      "warning train.py:4: enable_profiling: " +
          std::string(kWarning));
  const TempFolder folder;
  write_file(folder / "train.py", kEstimator);
  CheckList list;
  check_script(list, "train.py", folder / "train.py");
  CHECK(list.exit_code() == Exit::application_failed);
}

TEST_CASE("The manual's page shows what doctor says of the vendor's example") {
  const std::string script = kEstimator;
  const TempFolder folder;
  write_file(folder / "train.py", "import x\n\n" + script);
  CheckList list;
  check_script(list, "train.py", folder / "train.py");
  const std::string page = test::read_file(fs::path(MSPROF_SOURCE_DIR) / "docs/frameworks.md");
  REQUIRE(list.checks().size() == 2);
  for (const Check& check : list.checks()) {
    INFO(check.name);
    CHECK(page.find(fmt::format("  {:<8} {}: {}\n           {}\n", result_name(check.result),
                                check.name, check.evidence, check.remedy)) != std::string::npos);
  }
}

TEST_CASE("Valid options are shown, with their output folder") {
  CHECK(run_checks(kSession) ==
        "ok train.py:3: profiling_options: {\"output\":\"/tmp/profiling\",\"task_time\":\"on\"}\n"
        "warning train.py:2: profiling_mode: " +
            std::string(kWarning));
  const TempFolder folder;
  write_file(folder / "train.py", kSession);
  CheckList list;
  check_script(list, "train.py", folder / "train.py");
  CHECK(list.checks().back().remedy.ends_with("the results are in /tmp/profiling"));
  CHECK(list.exit_code() == Exit::ok);
}

TEST_CASE("Options over several lines are one string, and errors have their line") {
  CHECK(run_checks(kDevice) ==
        "failed train.py:3: profiling_options: train.py:5:3: \"task_time\" must be on, off, l0 or "
        "l1, not \"maybe\"\n"
        "warning train.py:2: enable_profiling: " +
            std::string(kWarning));
}

TEST_CASE("Options are found in every kind of call") {
  const std::string bad = R"('{"outptu":"/x"}')";
  for (const std::string& script : {
           "profiling_options = " + bad,
           "config.profiling_options=" + bad,
           "ProfilingConfig(profiling_options=" + bad + ")",
           "ProfilingConfig(True, " + bad + ")",
           "o['profiling_options'].s = " + bad,
           "o[\"profiling_options\"] = " + bad,
           "o = {'profiling_options': " + bad + "}",
           "o['ge.exec.profilingOptions'] = " + bad,
           "o = {\"ge.exec.profilingOptions\": " + bad + ", 'ge.exec.profilingMode': '0'}",
           "T = " + bad + "\nprofiling_options = T",
       }) {
    INFO(script);
    CHECK(run_checks(script).find("unknown key \"outptu\"; did you mean output?") !=
          std::string::npos);
  }
  for (const std::string script :
       {"profiling_options = None", "profiling_options = ''", "print(profiling_options)",
        "if profiling_options == 'x': pass", "f('profiling_options', 'x')",
        "# profiling_options = '{'", "'''profiling_options = \"{\"'''"}) {
    INFO(script);
    CHECK(run_checks(script) == "");
  }
}

TEST_CASE("Every way to enable profiling causes a warning, with the defaults if unset") {
  for (const std::string script :
       {"c.enable_profiling = True", "ProfilingConfig(enable_profiling=True)",
        "ProfilingConfig(True)", "m['profiling_mode'].b = True", "{'profiling_mode': True}",
        "{'ge.exec.profilingMode': '1'}", "o[\"ge.exec.profilingMode\"] = \"1\""}) {
    INFO(script);
    const std::string said = run_checks(script);
    CHECK(said.find(kWarning) != std::string::npos);
    CHECK(said.find(fmt::format("not set: the documented defaults, {}",
                                default_profiling_options())) != std::string::npos);
  }
  for (const std::string script :
       {"c.enable_profiling = False", "ProfilingConfig(False)", "m['profiling_mode'].b = False",
        "{'ge.exec.profilingMode': '0'}"}) {
    INFO(script);
    CHECK(run_checks(script).find("switched off in the script") != std::string::npos);
    CHECK(run_checks(script).find("warning") == std::string::npos);
  }
  CHECK(run_checks("c.enable_profiling = args.profile") == "");
}

TEST_CASE("NPURunConfig without a profiling_config uses the environment") {
  CHECK(run_checks("config = NPURunConfig(session_config=f(1), save=2)") ==
        "ok train.py:1: NPURunConfig: no profiling_config: PROFILING_MODE and PROFILING_OPTIONS "
        "apply\n");
  CHECK(run_checks("config = NPURunConfig(**arguments)") == "");
  CHECK(run_checks("from npu_bridge import NPURunConfig") == "");
}

TEST_CASE("An option built at run time is skipped with the reason") {
  CHECK(run_checks("profiling_options = json.dumps(options)") ==
        "skipped train.py:1: profiling_options: its value is built when the script runs\n");
}

TEST_CASE("The adapter's Profiler class conflicts with the environment; other classes do not") {
  CHECK(run_checks("from npu_bridge.npu_init import profiler\nwith profiler.Profiler(1): pass") ==
        "warning train.py:2: profiler.Profiler: the script profiles itself, which conflicts with "
        "PROFILING_MODE=true\n");
  CHECK(run_checks("from mine import profiler\nwith profiler.Profiler(1): pass") == "");
}

TEST_CASE("An acl.json used by a script overrides the environment if it enables profiling") {
  const TempFolder folder;
  write_file(folder / "acl.json", R"({"profiler":{"switch":"on"}})");
  write_file(folder / "off.json", R"({"profiler":{"switch":"off"}})");
  write_file(folder / "broken.json", "{");
  CHECK(run_checks("acl.init(\"acl.json\")", folder.path()) ==
        "warning train.py:1: acl.init: \"profiler\" in acl.json is on and overrides PROFILING_MODE "
        "and PROFILING_OPTIONS\n");
  for (const char* other : {"off.json", "broken.json", "missing.json"}) {
    INFO(other);
    CHECK(run_checks(fmt::format("acl.init(\"{}\")", other), folder.path()) == "");
  }
  CHECK(run_checks("acl.init()", folder.path()) == "");
}

TEST_CASE("Scripts of the project are found, and third-party ones are skipped") {
  const TempFolder folder;
  const std::string bad = "profiling_options = '{'\n";
  write_file(folder / "data.txt", bad);
  write_file(folder / "plain.py", "print(1)\n");
  for (const char* passed : {".venv/a.py", "env/a.py", "lib/site-packages/a.py", "JOBX/a.py",
                             "PROF_1/a.py", "1/2/3/4/5/6/7/8/9/deep.py"}) {
    fs::create_directories((folder / passed).parent_path());
    write_file(folder / passed, bad);
  }
  write_file(folder / "env/pyvenv.cfg", "home = /usr\n");
  CheckList nothing;
  CHECK_FALSE(check_scripts(nothing, folder.path()));
  CHECK(check_lines(nothing) == "skipped scripts: not read: folders that are nested too deeply\n");

  fs::create_directories(folder / "src" / "models");
  write_file(folder / "src/models/net.py", bad);
  write_file(folder / "large.py", bad + std::string(kMaxScriptBytes, '#'));
  CheckList list;
  CHECK(check_scripts(list, folder.path()));
  CHECK(check_lines(list) ==
        "failed src/models/net.py:1: profiling_options: src/models/net.py:1:23: not valid JSON: "
        "unexpected end of input; expected string literal\n"
        "skipped scripts: not read: 1 script (above 1 MiB, or beyond 2,000 files) and folders that "
        "are nested too deeply\n");
}

TEST_CASE("Scripts are checked with and without a program and an acl.json") {
  const TempFolder folder;
  write_file(folder / "train.py", kSession);
  const auto said = [&](const ProjectQuestion& question) {
    CheckList list;
    check_project(list, question);
    return check_lines(list);
  };
  ProjectQuestion question;
  question.project = folder.path().string();
  CHECK(said(question).find("skipped project") == std::string::npos);
  CHECK(said(question).find("warning train.py:2: profiling_mode") != std::string::npos);
  question.main = (folder / "train.py").string();
  CHECK(said(question).find("failed project") != std::string::npos);  // not executable
  CHECK(said(question).find("warning train.py:2: profiling_mode") != std::string::npos);
  fs::permissions(folder / "train.py", fs::perms::owner_all);
  CHECK(said(question).find("failed project") == std::string::npos);
  CHECK(said(question).find("warning train.py:2: profiling_mode") != std::string::npos);
  write_file(folder / "acl.json", R"({"profiler":{"switch":"on"}})");
  CHECK(said(question).find("warning train.py:2: profiling_mode") != std::string::npos);
  const TempFolder empty;
  ProjectQuestion of_empty;
  of_empty.project = empty.path().string();
  CHECK(said(of_empty).find("or script that requests a profile") != std::string::npos);
}

}  // namespace msprof
