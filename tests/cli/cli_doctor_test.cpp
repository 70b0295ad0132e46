// msprof doctor from a user's view: reasons why a run would give no profile, and why a capture has
// no product. tests/doctor covers boards.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "cli/cli_fixture.hpp"
#include "support/prof/prof_folder.hpp"
#include "support/prof/prof_run.hpp"
#include "support/small_disk.hpp"

namespace msprof::test {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// The output of `msprof doctor --json`.
struct Said {
  int exit_code = -1;
  json document;

  // Returns "result: evidence | remedy" of the check `name`; empty if there is no such check.
  std::string of(const std::string& name) const {
    for (const json& check : document["checks"]) {
      if (check["name"] == name) {
        return check["result"].get<std::string>() + ": " + check["evidence"].get<std::string>() +
               " | " + check.value("remedy", "");
      }
    }
    return "";
  }
};

Said doctor(Words words, const RunOptions& options = {}) {
  words.insert(words.begin(), "doctor");
  words.push_back("--json");
  const RunResult result = run_msprof(words, options);
  UNSCOPED_INFO(result.out << result.err);
  Said said{result.exit_code, json::parse(result.out, nullptr, false)};
  REQUIRE(said.document.is_object());
  CHECK(said.document["schema"] == "msprof.doctor/2");
  CHECK(said.document["exit_code"] == result.exit_code);
  return said;
}

// Runs doctor on a capture and checks that the capture is unchanged.
Said examine(const fs::path& capture, Words more = {}) {
  const std::string before = fingerprint(capture);
  more.insert(more.begin(), {"-dir", capture.string()});
  Said said = doctor(more);
  CHECK(fingerprint(capture) == before);
  return said;
}

std::string with_aicore(JobBuilder& job, const Done& done = {}) {
  AicoreRecord record;
  record.total = 10;
  job.info_json("500").net_info("net", 1).data(DataName{}, aicore_file({record}), done);
  return job.folder().string();
}

// Uses an empty HOME, so that the account's cache has no influence.
RunOptions at_home(const TempFolder& home, const fs::path& folder) {
  return {.folder = folder,
          .variables = {{"HOME", home.path().string()},
                        {"XDG_CACHE_HOME", (home / "cache").string()},
                        {"MSPROF_SSH_PASSWORD", "secret-word"}}};
}

}  // namespace

TEST_CASE("doctor finds nothing wrong with a good capture, with or without its store") {
  const TempFolder folder;
  const JobBuilder job = make_face(folder.path(), "JOBA");
  Said said = examine(job.folder());
  CHECK(said.exit_code == 0);
  CHECK(said.document["failed"] == 0);
  CHECK(said.document["warning"] == 0);
  CHECK(contains(said.of("store"), "ok: no store yet"));
  CHECK(contains(said.of("products"), "op_summary, op_statistic, acl_statistic"));
  REQUIRE(run_msprof({"import", "-q", "-dir", job.folder().string()}).exit_code == 0);
  said = examine(job.folder());
  CHECK(said.exit_code == 0);
  CHECK(contains(said.of("store"), "is up to date"));
}

TEST_CASE("doctor reports why a product of a board's capture is missing") {
  struct Case {
    std::string name, check, begins, remedy;
    int exit_code;
    std::function<void(JobBuilder&)> make;
  };
  const auto only_calls = [](JobBuilder& job) {
    job.info_json("500").net_info("net", 1).data(DataName{.type = "acl_api"}.text(),
                                                 acl_api_file({{1, 1, 10, 20}}));
  };
  const std::vector<Case> cases = {
      {"acl_api off", "summary acl_statistic", "warning: no data: no acl_api.* file in data/",
       "--acl_api on", 0, [](JobBuilder& job) { with_aicore(job); }},
      {"not executed, or a model without marks", "summary op_summary",
       "warning: no data: no aicore.* file in data/", "--online_model_type=2", 0, only_calls},
      {"no svp_acl_finalize", "aicore", "failed: missing .done", "svp_acl_finalize", 3,
       [](JobBuilder& job) { with_aicore(job, kNoDone); }},
      {"cut", "aicore", "failed: shorter than the length in its .done", "copy the whole folder", 3,
       [](JobBuilder& job) { with_aicore(job, {.file_len = 4096}); }},
      {"a layout of its own", "summary op_summary", "failed: no data: aicore: unknown layout",
       "--layout", 3,
       [](JobBuilder& job) {
         job.info_json("500").net_info("net", 1).data(DataName{}, std::string(224, 'x'));
       }},
      {"an empty file", "summary op_summary",
       "warning: no data: the files of aicore|aicpu contain no", "", 4,
       [](JobBuilder& job) { job.info_json("500").net_info("net", 1).data(DataName{}, ""); }},
      {"no info.json", "info.json", "failed: missing", "copy the whole folder", 3,
       [](JobBuilder& job) { with_aicore(job), job.remove("info.json.0"); }},
      {"no frequency", "info.json", "failed: frequency missing or 0", "aic_frequency", 3,
       [](JobBuilder& job) { with_aicore(job), job.info_json("0"); }},
      {"nothing recorded", "profile", "failed: no product has data: no data was recorded",
       "svp_acl_finalize", 4, [](JobBuilder& job) { job.info_json("500"); }},
      {"only a folder", "capture", "failed: the run recorded no data", "--online_model_type=2", 4,
       [](JobBuilder&) {}},
  };
  for (const Case& one : cases) {
    INFO(one.name);
    const TempFolder folder;
    JobBuilder job(folder.path());
    one.make(job);
    const Said said = examine(job.folder());
    CHECK(said.exit_code == one.exit_code);
    CHECK(said.of(one.check).find(one.begins) == 0);
    CHECK(contains(said.of(one.check), one.remedy));
  }
}

TEST_CASE("doctor quotes a folder with a blank in its commands") {
  const TempFolder folder;
  JobBuilder job(folder.path() / "two words");
  job.info_json("500").net_info("net", 1).data(DataName{}, std::string(224, 'x'));
  const Said said = examine(job.folder());
  CHECK(contains(said.of("aicore"), "msprof layout -dir '" + job.folder().string() + "' --write"));
}

TEST_CASE("doctor reports a faulty store and reads the raw files instead") {
  const TempFolder folder;
  JobBuilder job = make_face(folder.path(), "JOBA");
  REQUIRE(run_msprof({"import", "-q", "-dir", job.folder().string()}).exit_code == 0);
  const auto damage = [&](const std::string& sql) { query(job.store(), sql); };
  damage("PRAGMA user_version = 9999");
  CHECK(contains(examine(job.folder()).of("store"), "was made by a newer msprof (schema 9999"));
  damage("PRAGMA user_version = 1");
  CHECK(contains(examine(job.folder()).of("store"), "was made by an older msprof (schema 1"));
  for (const char* table : {"raw_file", "import_log", "task"}) {
    INFO(table);
    REQUIRE(run_msprof({"import", "-q", "-dir", job.folder().string()}).exit_code == 0);
    damage(std::string("DROP TABLE ") + table);
    const Said said = examine(job.folder());
    CHECK(contains(said.of("store"), "is damaged"));
    CHECK(said.exit_code == 0);
  }
  write_file(job.store(), "no database");
  const Said said = examine(job.folder());
  CHECK(contains(said.of("store"), "is damaged"));
  CHECK(contains(said.of("store"), "msprof import -dir " + job.folder().string()));
  CHECK(contains(said.of("products"), "op_summary"));
  CHECK(said.exit_code == 0);
  REQUIRE(run_msprof({"import", "-q", "-dir", job.folder().string()}).exit_code == 0);
  job.info_json("800");
  CHECK(contains(examine(job.folder()).of("store"), "is outdated"));
}

TEST_CASE("doctor reports why a product of an Atlas capture is missing") {
  const TempFolder folder;
  prof::RunShape shape;
  shape.tasks = 60;
  shape.collectives = shape.memory = shape.marks = shape.pmu = false;
  const fs::path good = prof::make_run(folder.path(), {}, shape).folder;
  Said said = examine(good);
  CHECK(said.exit_code == 0);
  CHECK(contains(said.of("products"), "op_summary"));
  CHECK(contains(said.of("counters"), "warning: no core counters were recorded"));
  CHECK(contains(said.of("counters"), "--aic-metrics=PipeUtilization"));
  CHECK(
      contains(said.of("summary msprof_tx"), "skipped: no data: the application marks no ranges"));
  CHECK(contains(said.of("summary msprof_tx"), "--msproftx=on"));
  CHECK(contains(said.of("summary communication_statistic"), "skipped: no data: no collective"));
  CHECK(contains(said.of("summary l2_cache"), "--l2=on"));

  fs::remove_all(good / "host/data");
  fs::create_directories(good / "host/data");
  CHECK(contains(examine(good).of("host"), "failed: host/data is empty: the disk was full"));
  fs::remove_all(good / "host");
  said = examine(good);
  CHECK(said.exit_code == 3);
  CHECK(contains(said.of("raw files"), "no host folder"));
  CHECK(contains(said.of("summary api_statistic"), "no api_event file in host/data"));
  CHECK(contains(said.of("summary op_summary"), "no task_track file in host/data"));
}

TEST_CASE("doctor reports missing info files, dictionaries and end of a PROF folder") {
  const TempFolder folder;
  prof::RunShape shape;
  shape.tasks = 60;
  const fs::path good = prof::make_run(folder.path(), {}, shape).folder;
  for (const auto& entry : fs::recursive_directory_iterator(good)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("end_info") || contains(name, "hash_dic")) fs::remove(entry.path());
  }
  Said said = examine(good);
  CHECK(said.exit_code == 3);
  CHECK(contains(said.of("hash_dic"), "failed: missing dictionary"));
  CHECK(contains(said.of("capture"), "ok: "));
  CHECK(contains(said.document.dump(), "the end is unknown"));
  fs::remove(good / "device_0" / "info.json.0");
  said = examine(good);
  CHECK(contains(said.of("info.json"), "failed: missing or broken"));
  fs::remove_all(good / "device_0" / "data");
  fs::remove_all(good / "device_1");
  said = examine(good);
  CHECK(contains(said.of("device"), "warning: no device data"));
  CHECK(contains(said.of("raw files"), "no data folder"));
}

TEST_CASE("doctor reports a folder without a capture as one failed check and continues") {
  const TempFolder folder;
  const JobBuilder job = make_face(folder.path(), "JOBA");
  fs::create_directories(folder / "empty");
  const Said said = doctor(
      {"-dir", (folder / "empty").string(), (folder / "gone").string(), job.folder().string()});
  CHECK(said.exit_code == 4);
  CHECK(said.document["failed"] == 2);
  CHECK(contains(said.of("products"), "op_summary"));
}

TEST_CASE("doctor describes the folder of a run without data") {
  const TempFolder folder;
  const auto of = [&](const std::string& name) {
    return doctor({"-dir", (folder / name).string()}).of("capture");
  };
  write_file(folder / "JOBINFO/info.json.0", "{}");
  CHECK(contains(of("JOBINFO"), "recorded no data: it has info.json.N and no data"));
  fs::create_directories(folder / "JOBEMPTY/data");
  CHECK(contains(of("JOBEMPTY"), "recorded no data: no info.json.N and no data"));
  write_file(folder / "JOBODD/data/notes.txt", "x");
  CHECK_FALSE(contains(of("JOBODD"), "recorded no data"));
}

TEST_CASE("doctor warns of a program on CANN, and of sources that read no acl.json") {
  const TempFolder home;
  const TempFolder project;
  write_file(project / "main", "#!/usr/bin/env python3\nimport acl\n");
  fs::permissions(project / "main", fs::perms::owner_all);
  Said said = doctor({"-m", "main"}, at_home(home, project.path()));
  CHECK(contains(said.of("interface"), "ok: main loads libascendcl"));
  said =
      doctor({"-m", "main", "--project", project.path().string()}, at_home(home, project.path()));
  CHECK(contains(said.of("interface"), "warning: main loads libascendcl"));
  CHECK(contains(said.of("interface"), "without --project"));
  CHECK(said.of("svp_acl_init") == "");
  for (const char* call : {"svp_acl_init(\"\");", "if (svp_acl_init ( NULL ) != 0) return 1;",
                           "svp_acl_init(nullptr);"}) {
    write_file(project / "src/sample.cpp",
               "// svp_acl_init(\"\")\nint main() {\n  " + std::string(call) + "\n}\n");
    said = doctor({"-m", "main"}, at_home(home, project.path()));
    INFO(call);
    CHECK(contains(said.of("svp_acl_init"), "warning: src/sample.cpp:3 calls it without a file"));
  }
  write_file(project / "src/sample.cpp", "// svp_acl_init(\"\")\nsvp_acl_init(\"acl.json\");\n");
  CHECK(doctor({"-m", "main"}, at_home(home, project.path())).of("svp_acl_init") == "");
}

TEST_CASE("doctor prints one line per check, remedies below, and with -q only problems") {
  const TempFolder folder;
  const JobBuilder job = make_partial(folder.path(), "JOBA");
  const Words words = {"doctor", "-dir", job.folder().string()};
  const RunResult all = run_msprof(words);
  CHECK(all.exit_code == 3);
  CHECK(all.out.starts_with("JOBA\n  ok       capture: "));
  CHECK(contains(all.out, "\n  failed   aicore: missing .done"));
  CHECK(contains(all.out, "\n           call svp_acl_finalize"));
  CHECK(contains(all.out, "\nverdict: 1 failed, "));
  CHECK(all.out.find('\033') == std::string::npos);
  const RunResult problems = run_msprof({"doctor", "-q", "-dir", job.folder().string()});
  CHECK(problems.exit_code == 3);
  CHECK_FALSE(contains(problems.out, "  ok "));
  CHECK(contains(problems.out, "  failed   aicore"));
  const RunResult coloured = run_msprof(words, {.terminal_columns = 100});
  CHECK(contains(coloured.out, "\033[1;31mfailed"));
  const RunResult plain =
      run_msprof(words, {.variables = {{"NO_COLOR", "1"}}, .terminal_columns = 100});
  CHECK(plain.out.find("\033[1;31m") == std::string::npos);
}

TEST_CASE("doctor without options checks this machine and the project in this folder") {
  const TempFolder home;
  const TempFolder project;
  Said said = doctor({}, at_home(home, project.path()));
  CHECK(contains(said.of("project"), "skipped: no -m given"));
  CHECK(contains(said.of("output folder"), "ok: "));
  CHECK(contains(said.of("cache folder"), "ok: "));
  CHECK_FALSE(said.of("umask").empty());
  CHECK_FALSE(fs::exists(home / "cache"));

  fs::copy_file(msprof_path(), project / "main");
  write_file(project / "acl.json", R"({"profiler": {"switch": "of"}})");
  write_file(project / "models" / "a.om", "PICO....");
  said = doctor({}, at_home(home, project.path()));
  CHECK(contains(said.of("project"), "ok: "));
  CHECK(contains(said.of("executable"), "ok: main"));
  CHECK(contains(said.of("svp_acl calls"), "warning: neither main nor a library of the project"));
  CHECK(contains(said.of("acl.json: switch"), "ok: \"of\"; msprof collect sets on"));
  CHECK(contains(said.of("models"), "the file does not show whether"));
  CHECK(contains(said.of("models"), "--online_model_type=2"));
  CHECK(contains(said.of("architecture"), "ok: "));
  CHECK(contains(said.of("libraries"), "ok: "));
  CHECK_FALSE(contains(said.document.dump(), "secret-word"));

  // A program for another machine: e_machine, at offset 18 of the ELF header, is AArch64.
  write_file(project / "main", patched(read_file(project / "main"), 18, std::string("\xb7\0", 2)));
  said = doctor({"-m", "main"}, at_home(home, project.path()));
  CHECK(said.exit_code == 7);
  CHECK(contains(said.of("architecture"), "failed: the executable is built for AArch64"));
  fs::permissions(project / "main", fs::perms::owner_read);
  said = doctor({}, at_home(home, project.path()));
  CHECK(said.exit_code == 4);
  CHECK(contains(said.of("project"), "main is not executable"));
  said = doctor({"-m", "nothing"}, at_home(home, project.path()));
  CHECK(said.exit_code == 4);
  CHECK(contains(said.of("project"), "failed: "));
}

TEST_CASE("doctor knows models of msprof's own runtime, and an acl.json without a program") {
  const TempFolder home;
  const TempFolder project;
  fs::copy_file(msprof_path(), project / "main");
  write_file(project / "models" / "m.json", R"({"format": "msprof-model", "version": 1})");
  Said said = doctor({}, at_home(home, project.path()));
  CHECK(contains(said.of("models"), "ok: 1 model for msprof's own runtime"));
  CHECK(contains(said.of("acl.json"), "ok: missing"));
  fs::remove(project / "main");
  write_file(project / "profile.json", "{}{");
  said = doctor({"--acl-json", "profile.json"}, at_home(home, project.path()));
  CHECK(said.exit_code == 0);
  CHECK(contains(said.of("profile.json"), "warning: is not JSON; msprof collect replaces it"));
}

TEST_CASE("A missing library fails, one outside the loader's path causes a warning") {
  const TempFolder home;
  const TempFolder project;
  std::string main = read_file(msprof_path());
  const std::string needed = "libsqlite3.so.0";
  const std::string other = "libsqlite9.so.0";
  for (auto at = main.find(needed); at != std::string::npos; at = main.find(needed)) {
    main.replace(at, needed.size(), other);
  }
  write_file(project / "main", main);
  fs::permissions(project / "main", fs::perms::owner_all);
  const auto libraries = [&](int exit_code) {
    const Said said = doctor({"-m", "main"}, at_home(home, project.path()));
    CHECK(said.exit_code == exit_code);
    return said.of("libraries");
  };
  CHECK(contains(libraries(7), "failed: not on this machine and not in the project: " + other));
  write_file(project / "plugins" / other, "");
  CHECK(contains(libraries(0),
                 "warning: in folders of the project that the loader does not search: plugins/"));
  write_file(project / "lib" / other, "");
  CHECK(contains(libraries(0), "ok: "));
}

TEST_CASE("doctor only warns about a umask that lets others change captures") {
  const TempFolder home;
  const auto check_umask = [&](const std::string& mask) {
    const RunResult result = run_program(
        "/bin/sh", {"-c", "umask " + mask + "; exec \"$0\" doctor --json", msprof_path()},
        at_home(home, home.path()));
    return Said{result.exit_code, json::parse(result.out, nullptr, false)}.of("umask");
  };
  CHECK(contains(check_umask("0077"), "ok: 0077: other accounts cannot read captures"));
  CHECK(
      contains(check_umask("0022"), "ok: 0022: other accounts of this machine can read captures"));
  CHECK(contains(check_umask("0002"), "warning: 0002: other accounts of this machine can change"));
}

TEST_CASE("The loss of a killed run is described for the runtime that made the capture") {
  const TempFolder folder;
  JobBuilder ours(folder / "ours");
  with_aicore(ours, kNoDone);
  const std::string here = examine(ours.folder()).of("aicore");
  CHECK(contains(here, "failed: missing .done"));
  CHECK(contains(here, "the last record of each file"));
  CHECK_FALSE(contains(here, "2 MB"));
  JobBuilder board(folder / "board");
  board.info_json("500").net_info("net", 1).data(DataName{}, std::string(224, 'x'), kNoDone);
  const RunResult text = run_msprof({"doctor", "-dir", board.folder().string()});
  CHECK(contains(text.out, "up to one second (2 MB) of records is lost"));
}

TEST_CASE("A long text is printed once under a heading and in every check of the document") {
  const TempFolder folder;
  JobBuilder job(folder.path());
  job.info_json("500").net_info("net", 1).data(DataName{.type = "acl_api"}.text(),
                                               acl_api_file({{1, 1, 10, 20}}));
  const auto count_in = [](const std::string& text, const std::string& part) {
    int count = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
    return count;
  };
  const Said said = examine(job.folder());
  for (const char* part : {"no model was executed", "convert the model with atc"}) {
    INFO(part);
    CHECK(count_in(said.document.dump(), part) > 1);
    const RunResult text = run_msprof({"doctor", "-dir", job.folder().string()});
    INFO(text.out);
    CHECK(count_in(text.out, part) == 1);
    CHECK(contains(text.out, "summary op_statistic: as above\n"));
  }
}

TEST_CASE("doctor distinguishes stale run folders from those in use") {
  const TempFolder home;
  const TempFolder other;
  fs::create_directories(home / "cache/msprof/runs/run_1_2_3");
  write_file(home / "cache/msprof/runs/run_1_2_3.lock", "");
  fs::create_directories(home / "cache/msprof/runs/run_4_5_6");
  write_file(home / "cache/msprof/runs/run_4_5_6.lock", "");
  const int lock = ::open((home / "cache/msprof/runs/run_4_5_6.lock").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(::flock(lock, LOCK_EX | LOCK_NB) == 0);
  const Said said = doctor({}, at_home(home, other.path()));
  CHECK(contains(said.of("leftovers"), "warning: 1 earlier run in "));
  CHECK(said.exit_code == 0);
  ::close(lock);
}

TEST_CASE("doctor fails if results cannot be stored: a full disk, an invalid folder") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(4 << 20);
  const TempFolder home;
  const TempFolder work;
  write_file(disk / "filler", std::string(3 << 20, 'x'));
  Said said = doctor({"--output", disk.path().string()}, at_home(home, work.path()));
  CHECK(said.exit_code == 5);
  CHECK(contains(said.of("output folder"),
                 "too little to record | choose another folder with --output DIR"));
  write_file(work / "file", "");
  said = doctor({"--output", (work / "file").string()}, at_home(home, work.path()));
  CHECK(said.exit_code == 5);
  CHECK(contains(said.of("output folder"), "failed: "));
}

TEST_CASE("doctor reports a missing or bad ini file and skips the rest") {
  const TempFolder home;
  const TempFolder work;
  Said said = doctor({"--config", "no.ini"}, at_home(home, work.path()));
  CHECK(said.exit_code == 4);
  CHECK(contains(said.of("ini file"), "failed: cannot read no.ini"));
  CHECK(contains(said.of("login"), "skipped: not checked"));
  write_file(work / "bad.ini", "[ssh_config]\nip = 1.2.3.4\nusername = a\nport = x\n");
  said = doctor({"--config", "bad.ini"}, at_home(home, work.path()));
  CHECK(said.exit_code == 2);
  CHECK(contains(said.of("ini file"), "failed: bad.ini, line 4: port must be a whole number"));
  CHECK(run_msprof({"doctor", "--key", "k"}).exit_code == 2);
}

}  // namespace msprof::test
