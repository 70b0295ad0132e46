#include "golden/shared_cases.hpp"

#include <catch2/catch.hpp>

#include "support/require.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

const fs::path& shared_folder() {
  static const fs::path folder = MSPROF_SHARED_DIR;
  return folder;
}

bool has_cases_or_skip(const std::string& group) {
  return require_or_skip("shared", fs::is_directory(shared_folder() / "cases" / group),
                         "../shared is absent");
}

fs::path prof_in(const fs::path& parent) {
  const Lines names = names_in(parent);
  REQUIRE(names.size() == 1);
  return parent / names.front();
}

SharedCase::SharedCase(const std::string& group, const std::string& name)
    : expected(shared_folder() / "cases" / group / name / "expected") {
  fs::copy(expected.parent_path() / "input", folder / "input", fs::copy_options::recursive);
  prof = prof_in(folder / "input");
  products = prof / "mindstudio_profiler_output";
}

std::string compare_products(const fs::path& expected, const fs::path& actual, const Lines& options,
                             const Lines& files) {
  Lines words = {"python3", (shared_folder() / "tools" / "compare_cann.py").string()};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {expected.string(), actual.string()});
  words.insert(words.end(), files.begin(), files.end());
  const RunResult result = run_program("/usr/bin/env", words);
  return result.exit_code == 0 ? "equal" : result.out + result.err;
}

}  // namespace msprof::test
