// Tests the Python module msprof with a script that uses it on captures of the demo.
#include <catch2/catch.hpp>
#include <filesystem>

#include "support/require.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

using namespace msprof::test;

namespace {

const std::string kPython = MSPROF_PYTHON;

bool has_python(const std::string& module) {
  if (!require_or_skip("python", std::filesystem::exists(kPython), kPython + " is missing"))
    return false;
  return require_or_skip(module, run_program(kPython, {"-c", "import " + module}).exit_code == 0,
                         kPython + " has no " + module);
}

void run_case(const std::string& name) {
  const TempFolder folder;
  const RunResult result =
      run_program(kPython,
                  {"-X", "faulthandler", MSPROF_PYTHON_SCRIPTS "/profile_module.py", name,
                   MSPROF_DEMO, folder.path().string()},
                  {folder.path(),
                   {{"PYTHONPATH", MSPROF_PYTHON_MODULE},
                    {"PYTHONDONTWRITEBYTECODE", "1"},
                    {"MSPROF_PROGRAM", msprof_path()},
                    {"HOME", folder.path().string()}}});
  INFO(result.out << result.err);
  CHECK(result.exit_code == 0);
}

}  // namespace

TEST_CASE("a capture opened by path, store or folder has its verdict, tables and SQL") {
  if (has_python("numpy")) run_case("capture");
}

TEST_CASE("the store of a capture may be in another folder") {
  if (has_python("json")) run_case("stores");
}

TEST_CASE("columns have the types and all digits of their values, also with NULL and mixed") {
  if (has_python("numpy")) run_case("types");
}

TEST_CASE("without numpy, columns are lists") {
  if (has_python("json")) run_case("lists");
}

TEST_CASE("tables become frames of pandas") {
  if (has_python("pandas")) run_case("pandas");
}

TEST_CASE("advise, compare and list return what their JSON documents contain") {
  if (has_python("json")) run_case("answers");
}

TEST_CASE("errors of the module have the message, id and exit code of the program") {
  if (has_python("json")) run_case("errors");
}

TEST_CASE("collect runs an application, also next to a block that may stop it") {
  if (has_python("json")) run_case("collect");
}

TEST_CASE("the samples of docs/python.md run") {
  if (has_python("numpy")) run_case("manual");
}

TEST_CASE("the module is at most 800 lines in the syntax of Python 3.7, and documented") {
  if (has_python("ast")) run_case("syntax");
}
