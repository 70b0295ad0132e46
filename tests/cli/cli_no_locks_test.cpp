// File systems without locks: Lustre mounted without flock, FUSE. Commands read and write as
// elsewhere, and report once that they read without locks.
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "cli/cli_fixture.hpp"
#include "support/eventually.hpp"
#include "support/prof/prof_run.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kSentence = "has no locks";

RunOptions without_locks(int error_number) {
  const char* sanitizer = std::getenv("ASAN_OPTIONS");
  return {.folder = {},
          .variables = {{"LD_PRELOAD", NO_LOCKS_LIBRARY},
                        {"LOCK_ERROR", std::to_string(error_number)},
                        // ASan expects to be loaded first, but works as the second.
                        {"ASAN_OPTIONS", std::string(sanitizer == nullptr ? "" : sanitizer) +
                                             ":verify_asan_link_order=0"}}};
}

}  // namespace

TEST_CASE("commands work on a file system without locks, and report it once") {
  const int error_number = GENERATE(ENOSYS, ENOLCK, EOPNOTSUPP);
  CAPTURE(error_number);
  const TempFolder folder;
  prof::RunShape shape;
  shape.tasks = 60;
  const std::string dir = prof::make_run(folder.path(), {}, shape).folder.string();
  const std::string job = make_face(folder.path(), "JOBA").folder().string();
  const std::string page = (folder / "page.html").string();
  const std::string part = (folder / "rank.part").string();
  const std::vector<Words> commands = {
      {"import", "-dir", dir, "-dir", job},
      {"export", "all", "-dir", dir, "-dir", job},
      {"export", "parquet", "-dir", dir},
      {"show", "-dir", dir},
      {"query", "-dir", dir, "SELECT count(*) FROM v_tasks"},
      {"advise", "-dir", dir, "--lang", "en"},
      {"report", "-dir", dir},
      {"compare", dir, dir, "--html", page},
      {"rank", "-dir", dir, "--output", part},
      {"merge", part, "--output", (folder / "cluster.db").string()},
      {"query", "-dir", (folder / "cluster.db").string(), "SELECT count(*) FROM ranks"},
      {"cluster", dir, "--output", (folder / "cluster").string()},
      {"list", folder.path().string()},
      {"follow", folder.path().string(), "--once", "--interval", "0.01"},
      {"doctor", "-dir", dir}};
  for (const Words& words : commands) {
    const RunResult plain = run_msprof(words);
    const RunResult result = run_msprof(words, without_locks(error_number));
    CAPTURE(words, result.err, plain.err);
    CHECK(result.exit_code == plain.exit_code);
    // A separate process merges a cluster, and its messages are shown, too.
    const std::size_t most = words.front() == "cluster" ? 2 : 1;
    CHECK(count_occurrences(result.err, kSentence) <= most);
    CHECK(count_occurrences(plain.err, kSentence) == 0);
  }
  CHECK(count_occurrences(run_msprof({"show", "-dir", dir}, without_locks(error_number)).err,
                          kSentence) == 1);
  for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
    CHECK_FALSE(contains(entry.path().filename().string(), ".msprof-tmp"));
}

TEST_CASE("products are the same on a file system without locks") {
  const TempFolder folder;
  prof::RunShape shape;
  shape.tasks = 60;
  const std::string dir = prof::make_run(folder.path(), {}, shape).folder.string();
  const auto products = [&](const char* name, const RunOptions& options) {
    const fs::path out = folder / name;
    const RunResult result =
        run_msprof({"export", "all", "-q", "-dir", dir, "--output", out.string()}, options);
    CHECK(result.exit_code == 0);
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(out)) {
      const std::string file = entry.path().lexically_relative(out).string();
      if (entry.is_regular_file() && !contains(file, ".msprof_products"))
        files[file] = read_file(entry.path());
    }
    return files;
  };
  CHECK((products("a", {}) == products("b", without_locks(ENOLCK))));
}

TEST_CASE("a store with a journal of another program is not read without locks, but rebuilt") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  REQUIRE(run_msprof({"import", "-dir", job.folder().string()}).exit_code == 0);
  write_file(job.store().string() + "-wal", "what another program wrote");
  const RunResult result =
      run_msprof({"show", "-dir", job.folder().string()}, without_locks(ENOSYS));
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "verdict: "));
  CHECK(names_in(job.store().parent_path()) == Words{"msprof.db"});
}

TEST_CASE("without locks, the lock file of a killed follower is kept until somebody removes it") {
  const TempFolder folder;
  const fs::path lock = folder / ".msprof-follow.lock";
  const Words words = {"follow", folder.path().string(), "--interval", "0.01", "--once"};
  {
    RunningProgram follower(msprof_path(), {words.begin(), words.end() - 1}, without_locks(ENOSYS));
    REQUIRE(eventually([&] { return fs::exists(lock) && fs::file_size(lock) > 0; }));
    follower.send(SIGKILL);
    follower.wait();
  }
  const RunResult refused = run_msprof(words, without_locks(ENOSYS));
  CHECK(refused.exit_code == 5);
  CHECK(contains(refused.err, "if it has certainly ended, remove " + lock.string()));
  fs::remove(lock);
  CHECK(run_msprof(words, without_locks(ENOSYS)).exit_code == 0);
}
