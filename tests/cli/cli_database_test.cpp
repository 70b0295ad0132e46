// Databases opened by other programs, and the -wal, -shm and -journal files left next to them.
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <csignal>

#include "cli/cli_fixture.hpp"
#include "support/prof/prof_run.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

// A program, such as a viewer that saves notes, that runs `sql` and keeps `database` open. The
// destructor kills it, so that its files next to the database remain.
class Viewer {
 public:
  Viewer(const fs::path& database, const std::string& sql) {
    std::array<int, 2> ready{};
    REQUIRE(::pipe2(ready.data(), O_CLOEXEC) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) work(database, sql, ready[1]);
    ::close(ready[1]);
    char answer = 0;
    REQUIRE(::read(ready[0], &answer, 1) == 1);
    ::close(ready[0]);
    REQUIRE(answer == 'y');
  }
  ~Viewer() { die(); }
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;

  void die() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  pid_t pid() const { return pid_; }

 private:
  [[noreturn]] static void work(const fs::path& database, const std::string& sql, int ready) {
    sqlite3* db = nullptr;
    const bool done = sqlite3_open(database.c_str(), &db) == SQLITE_OK &&
                      sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
    if (::write(ready, done ? "y" : "n", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  pid_t pid_ = -1;
};

// A change in the write-ahead log that is not yet in the database.
constexpr const char* kLogged =
    "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE IF NOT EXISTS note(text);"
    "INSERT INTO note VALUES('mine'); UPDATE STRING_IDS SET value = 'spoilt';";
// An uncommitted transaction. If its journal were applied to a new database, it would corrupt it.
constexpr const char* kUnfinished =
    "PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN IMMEDIATE; UPDATE STRING_IDS SET value = "
    "'spoilt';";

struct AtlasRun {
  TempFolder folder;
  fs::path capture;
  fs::path database;
  std::string good;

  AtlasRun() {
    prof::RunShape shape;
    shape.tasks = 400;
    capture = prof::make_run(folder.path(), {}, shape).folder;
    CHECK(exported("db").exit_code == 0);
    database = capture / "msprof_20231114221320.db";
    good = read_file(database);
  }
  RunResult exported(const std::string& what) const {
    return run_msprof({"export", what, "-dir", capture.string()});
  }
  Words beside() const {
    Words names;
    for (const std::string& name : names_in(capture)) {
      if (name.find(".db-") != std::string::npos) names.push_back(name.substr(name.find("-")));
    }
    return names;
  }
};

}  // namespace

TEST_CASE("journal files next to the unified database are removed with the old one") {
  const AtlasRun run;
  const std::string sql = GENERATE(kLogged, kUnfinished);
  Viewer(run.database, sql).die();
  REQUIRE_FALSE(run.beside().empty());
  const auto result = run.exported("db");
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(run.beside().empty());
  CHECK(read_file(run.database) == run.good);
  CHECK(query(run.database, "PRAGMA integrity_check") == Words{"ok"});
  CHECK(query(run.database, "SELECT count(*) FROM STRING_IDS WHERE value = 'spoilt'") ==
        Words{"0"});
}

TEST_CASE("journal files of a deleted database do not get into the new one") {
  const AtlasRun run;
  Viewer(run.database, kLogged).die();
  fs::remove(run.database);
  CHECK(run.exported("db").exit_code == 0);
  CHECK(run.beside().empty());
  CHECK(read_file(run.database) == run.good);
}

TEST_CASE("a unified database open in another program is not changed, and the program is named") {
  const AtlasRun run;
  const std::string sql = GENERATE(kLogged, kUnfinished);
  Viewer viewer(run.database, sql);
  for (const std::string what : {"db", "all"}) {
    const auto before = read_file(run.database);
    const Words beside = run.beside();
    const auto result = run.exported(what);
    CHECK(result.exit_code == 5);
    CHECK(contains(result.err, "[database_in_use]"));
    CHECK(contains(result.err, run.database.string()));
    CHECK(contains(result.err, "(process " + std::to_string(viewer.pid()) + ")"));
    CHECK(read_file(run.database) == before);
    CHECK(run.beside() == beside);
  }
  // Other products can still be written.
  CHECK(run.exported("timeline").exit_code == 0);
  viewer.die();
  CHECK(run.exported("db").exit_code == 0);
  CHECK(read_file(run.database) == run.good);
}

TEST_CASE("a database that is only read, or open without journal files, is replaced") {
  const AtlasRun run;
  const Viewer viewer(run.database, "BEGIN; SELECT count(*) FROM STRING_IDS;");
  CHECK(run.exported("db").exit_code == 0);
  CHECK(read_file(run.database) == run.good);
}

TEST_CASE("an import is refused while the store is open in another program, and cleans up later") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  const Words import = {"import", "-q", "-dir", job.folder().string()};
  REQUIRE(run_msprof(import).exit_code == 0);
  const std::string good = read_file(job.store());
  const std::string sql =
      "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; UPDATE name SET text = 'spoilt';";
  {
    const Viewer viewer(job.store(), sql);
    const std::string before = fingerprint(job.folder() / "sqlite");
    const auto result = run_msprof(import);
    CHECK(result.exit_code == 5);
    CHECK(contains(result.err, "[database_in_use]"));
    CHECK(fingerprint(job.folder() / "sqlite") == before);
  }
  REQUIRE(names_in(job.folder() / "sqlite").size() == 3);
  CHECK(run_msprof(import).exit_code == 0);
  CHECK(names_in(job.folder() / "sqlite") == Words{"msprof.db"});
  CHECK(read_file(job.store()) == good);
}
