// System limits of a process: file size, number of open files.
#include <catch2/catch.hpp>

#include "cli/cli_fixture.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

// Runs msprof with a limit of the shell's ulimit, e.g. "-n 8".
RunResult run_limited(const std::string& limit, const Words& words) {
  Words all = {"-c", "ulimit " + limit + " && exec \"$0\" \"$@\"", msprof_path()};
  all.insert(all.end(), words.begin(), words.end());
  return run_program("/bin/sh", all);
}

}  // namespace

TEST_CASE("exceeding the file size limit is reported like a full disk") {
  const TempFolder folder;
  const std::string dir = make_face(folder.path(), "JOBA").folder().string();
  const Words words = GENERATE(Words{"import"}, Words{"export", "all"}, Words{"report"});
  INFO(words.front());
  Words all = words;
  all.insert(all.end(), {"-dir", dir});
  if (words.front() != "import") REQUIRE(run_msprof({"import", "-q", "-dir", dir}).exit_code == 0);
  const RunResult result = run_limited("-f 1", all);
  INFO(result.err);
  CHECK(result.signal == 0);
  CHECK(result.exit_code == 5);
  CHECK(contains(result.err, "error: "));
  CHECK_FALSE(contains(result.err, "internal error"));
  CHECK(run_msprof(all).exit_code == 0);
}

TEST_CASE("too many open files are not reported as missing files") {
  const TempFolder folder;
  const std::string dir = make_face(folder.path(), "JOBA").folder().string();
  const fs::path out = folder / "out";
  int failed = 0;
  for (int files = 4; files < 16; ++files) {
    const RunResult result = run_limited("-n " + std::to_string(files),
                                         {"export", "all", "-dir", dir, "--output", out.string()});
    if (result.exit_code == 127) continue;  // the loader cannot map the libraries
    INFO(files << " files: exit " << result.exit_code << ", " << result.out << result.err);
    CHECK((result.exit_code == 0 || result.exit_code == 3 || result.exit_code == 5));
    CHECK_FALSE(contains(result.err, "internal error"));
    if (result.exit_code != 0) {
      ++failed;
      CHECK((contains(result.err, "error: ") || contains(result.err, "PARTIAL")));
    }
    fs::remove_all(out);
  }
  CHECK(failed > 0);
}
