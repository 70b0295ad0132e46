// The store: reproducible, up to date, and complete even if an import is interrupted.
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <random>

#include "base/atomic_file.hpp"
#include "cli/cli_fixture.hpp"
#include "support/eventually.hpp"
#include "support/sample.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

#ifdef __SANITIZE_ADDRESS__
// fewer, because AddressSanitizer slows the import down
constexpr std::size_t kManyRecords = 40'000;
#else
constexpr std::size_t kManyRecords = 200'000;
#endif

Words with_dir(Words words, const JobBuilder& job) {
  words.insert(words.end(), {"-dir", job.folder().string()});
  return words;
}

bool imports(const RunResult& result) {
  return contains(result.err, "verdict: ");
}

// Waits until the import writes its temporary store; returns false if the import ended earlier.
bool wait_for_temporary(RunningProgram& program, const fs::path& folder) {
  while (!program.has_ended()) {
    for (const auto& name : names_in(folder)) {
      if (name.starts_with('.')) return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("the same input gives the same bytes in store and products") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  std::vector<std::string> first;
  for (int round = 0; round < 2; ++round) {
    CHECK(run_msprof(with_dir({"import"}, job)).exit_code == 0);
    CHECK(run_msprof(with_dir({"export", "timeline"}, job)).exit_code == 0);
    CHECK(run_msprof(with_dir({"export", "summary"}, job)).exit_code == 0);
    CHECK(run_msprof(with_dir({"export", "summary", "--format", "json"}, job)).exit_code == 0);
    std::vector<std::string> products;
    for (const char* name : {"sqlite", "summary", "timeline"}) {
      for (const auto& file : names_in(job.folder() / name)) {
        products.push_back(file + ":" + read_file(job.folder() / name / file));
      }
    }
    REQUIRE(products.size() == 9);
    if (round == 0) {
      first = products;
    } else {
      CHECK((products == first));
    }
  }
}

TEST_CASE("export and show import once, and again only if a raw file changed") {
  const TempFolder folder;
  auto job = make_face(folder.path(), "JOBA");
  const Words verb =
      GENERATE(as<Words>(), Words{"show"}, Words{"export", "summary"}, Words{"export", "timeline"});
  CHECK(imports(run_msprof(with_dir(verb, job))));
  CHECK_FALSE(imports(run_msprof(with_dir(verb, job))));
  set_age(job, 5);
  CHECK(imports(run_msprof(with_dir(verb, job))));
  CHECK_FALSE(imports(run_msprof(with_dir(verb, job))));
  job.file("data/new.txt", "x");
  CHECK(imports(run_msprof(with_dir(verb, job))));
  job.remove("data/new.txt");
  CHECK(imports(run_msprof(with_dir(verb, job))));
  job.data("acl_api.0.face.31", acl_api_file(face_calls()), {.pid = 4711, .tid = 1});
  CHECK(imports(run_msprof(with_dir(verb, job))));
  CHECK_FALSE(imports(run_msprof(with_dir(verb, job))));
}

TEST_CASE("the next export contains a change of the raw data") {
  const TempFolder folder;
  auto job = make_face(folder.path(), "JOBA");
  CHECK(run_msprof(with_dir({"export", "summary"}, job)).exit_code == 0);
  job.info_json("1000");
  CHECK(run_msprof(with_dir({"export", "summary", "op_statistic"}, job)).exit_code == 0);
  CHECK(contains(read_file(job.folder() / "summary/op_statistic_0_31_0_0.csv"),
                 ",6.001,2,3.001,3.001,3.000\n"));
}

TEST_CASE("import creates a new store even if nothing changed") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  const auto result = run_msprof(with_dir({"import"}, job));
  CHECK(imports(result));
  CHECK(imports(run_msprof(with_dir({"import"}, job))));
}

TEST_CASE("stores of another version, damaged ones and those of another program are rebuilt") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  REQUIRE(run_msprof(with_dir({"import"}, job)).exit_code == 0);
  const std::string good = read_file(job.store());
  std::string other = good;
  // Offsets in the SQLite file header: user version at 60, application id at 68.
  SECTION("version") {
    other = patched(good, 60, std::string("\0\0\x7f\xff", 4));
  }
  SECTION("application") {
    other = patched(good, 68, std::string("\0\0\0\1", 4));
  }
  SECTION("text") {
    other = "not a database";
  }
  SECTION("empty") {
    other = "";
  }
  SECTION("cut") {
    other = good.substr(0, 16384);
  }
  write_file(job.store(), other);
  const auto result = run_msprof(with_dir({"export", "summary"}, job));
  CHECK(result.exit_code == 0);
  CHECK(imports(result));
  CHECK((read_file(job.store()) == good));
}

TEST_CASE("a killed import leaves the old store, and the next one cleans up") {
  const TempFolder folder;
  JobBuilder job(folder.path());
  add_many_records(job, kManyRecords);
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(run_msprof(with_dir({"import"}, job)).exit_code == 0);
  const auto duration = std::chrono::steady_clock::now() - begin;
  const std::string good = read_file(job.store());

  std::mt19937 random(20251120);
  std::uniform_real_distribution<double> fraction(0.05, 0.9);
  int killed = 0;
  const HangDeadline hang;
  for (int round = 0; round < (tests_whole() ? 20 : 5) || (killed == 0 && !hang.is_over());
       ++round) {
    RunningProgram import(msprof_path(), with_dir({"import"}, job));
    // The test needs a kill at a random moment; no event is awaited.
    const auto delay =
        std::chrono::duration_cast<std::chrono::nanoseconds>(duration * fraction(random));
    const timespec pause = {delay.count() / 1'000'000'000, delay.count() % 1'000'000'000};
    ::nanosleep(&pause, nullptr);
    import.send(SIGKILL);
    killed += import.wait().signal == SIGKILL;
    REQUIRE((read_file(job.store()) == good));
  }
  CHECK(killed > 0);
  CHECK_FALSE(imports(run_msprof(with_dir({"export", "summary", "op_statistic"}, job))));
  REQUIRE(run_msprof(with_dir({"import"}, job)).exit_code == 0);
  CHECK(names_in(job.folder() / "sqlite") == Words{"msprof.db"});
  CHECK((read_file(job.store()) == good));
}

TEST_CASE("Ctrl-C, TERM and HUP stop an import with exit code 130 and leave no partial files") {
  const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
  const TempFolder folder;
  JobBuilder job(folder.path());
  add_many_records(job, kManyRecords);
  RunResult result;
  // An import may end before the signal arrives; then it is started again.
  for (const HangDeadline hang; result.exit_code != 130 && !hang.is_over();) {
    fs::remove_all(job.folder() / "sqlite");
    RunningProgram import(msprof_path(), with_dir({"import"}, job));
    if (wait_for_temporary(import, job.folder() / "sqlite")) import.send(signal);
    result = import.wait();
  }
  CHECK(result.exit_code == 130);
  CHECK(contains(result.err, "interrupted"));
  CHECK(names_in(job.folder() / "sqlite").empty());
}

TEST_CASE("Ctrl-C stops an export with exit code 130 and leaves no partial file") {
  const TempFolder folder;
  JobBuilder job(folder.path());
  add_many_records(job, kManyRecords);
  REQUIRE(run_msprof(with_dir({"import"}, job)).exit_code == 0);
  RunResult result;
  for (const HangDeadline hang; result.exit_code != 130 && !hang.is_over();) {
    fs::remove_all(job.folder() / "timeline");
    RunningProgram program(msprof_path(), with_dir({"export", "timeline"}, job));
    if (wait_for_temporary(program, job.folder() / "timeline")) program.send(SIGINT);
    result = program.wait();
  }
  CHECK(result.exit_code == 130);
  CHECK(names_in(job.folder() / "timeline").empty());
}

TEST_CASE("concurrent imports of one capture do not affect each other") {
  const TempFolder folder;
  JobBuilder job(folder.path());
  add_many_records(job, 20'000);
  REQUIRE(run_msprof(with_dir({"import"}, job)).exit_code == 0);
  const std::string good = read_file(job.store());
  std::vector<std::unique_ptr<RunningProgram>> imports;
  for (int i = 0; i < 4; ++i) {
    imports.push_back(std::make_unique<RunningProgram>(msprof_path(), with_dir({"import"}, job)));
  }
  for (auto& import : imports) CHECK(import->wait().exit_code == 0);
  CHECK((read_file(job.store()) == good));
  CHECK(names_in(job.folder() / "sqlite") == Words{"msprof.db"});
}

TEST_CASE("temporary files of running programs are kept, those of killed ones are removed") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  fs::create_directory(job.folder() / "sqlite");
  {
    const msprof::TemporaryFile live(job.folder() / "sqlite/msprof.db");
    const std::string name = live.path().filename().string();
    std::string left = name;
    char& digit = left[left.find('-') - 1];
    digit = digit == '0' ? '1' : '0';
    write_file(job.folder() / "sqlite" / left, "x");
    REQUIRE(run_msprof(with_dir({"import"}, job)).exit_code == 0);
    CHECK(names_in(job.folder() / "sqlite") == Words{name, "msprof.db"});
  }
  CHECK(names_in(job.folder() / "sqlite") == Words{"msprof.db"});
}

TEST_CASE("progress is shown only on a terminal, and not with -q") {
  const TempFolder folder;
  JobBuilder job(folder.path());
  add_many_records(job, 20'000);
  const auto shown = run_msprof(with_dir({"import"}, job), {.terminal_columns = 80});
  CHECK(shown.exit_code == 0);
  CHECK(contains(shown.out, "importing JOB"));
  CHECK(contains(shown.out, "100%"));
  const auto quiet = run_msprof(with_dir({"import", "-q"}, job), {.terminal_columns = 80});
  CHECK_FALSE(contains(quiet.out, "importing"));
  CHECK_FALSE(contains(run_msprof(with_dir({"import"}, job)).err, "importing"));
}
