// Where a run is stored on a board and what it leaves there: --keep, --clean-board, --no-upload,
// --board-dir, and boards with little space.
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <string>

#include "board/collect_board_fixture.hpp"
#include "board/collect_views.hpp"
#include "support/files.hpp"
#include "support/small_disk.hpp"

namespace msprof::test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

TEST_CASE("--keep keeps the run on the board and prints its path; --clean-board removes it") {
  const BoardScene scene({.kind = each_kind()});
  const RunResult kept =
      scene.user.collect({"--keep"}, {"job", kBoardJob, "write", "made", "by the run"});
  INFO(kept.err);
  REQUIRE(kept.exit_code == 0);
  const auto runs = names_in(scene.board.home() / "msprof/kept");
  REQUIRE(runs.size() == 1);
  const fs::path place = scene.board.home() / "msprof/kept" / runs[0];
  CHECK(contains(kept.err, place.string()));
  CHECK(read_file(place / "tree/project/made") == "by the run");
  CHECK(scene.litter(1) == "");

  Words words = {"collect", "--config", scene.user.ini(), "--clean-board"};
  const RunResult cleaned = run_msprof(words, scene.user.run_options());
  INFO(cleaned.err);
  CHECK(cleaned.exit_code == 0);
  CHECK(contains(cleaned.err, scene.board.address() + " no longer has any files of msprof"));
  CHECK_FALSE(fs::exists(scene.board.home() / "msprof"));
  // An empty board causes no error.
  CHECK(run_msprof(words, scene.user.run_options()).exit_code == 0);
  CHECK_FALSE(fs::exists(scene.board.home() / "msprof"));

  const RunResult run = scene.user.collect({"--clean-board"}, {"job", kOtherBoardJob});
  CHECK(run.exit_code == 0);
  CHECK(fs::exists(scene.user.output() / kOtherBoardJob / "info.json.0"));
  CHECK_FALSE(fs::exists(scene.board.home() / "msprof"));
  CHECK_FALSE(contains(run.err, "keeps a copy"));
  CHECK(scene.litter() == "");
}

TEST_CASE("--clean-board refuses to delete results that were never fetched; --force deletes them") {
  const BoardScene scene({.kind = each_kind()});
  const fs::path kept = scene.board.home() / "msprof/kept";
  // Two kept runs: one that lost its connection, and one without an owner.
  write_file(kept / "20260101-120000-1" / kBoardJob / "data/aicore.0", std::string(5000, 'x'));
  write_file(kept / "20260102-120000-2/tree/project/main", "x");
  const std::string before = fingerprint(kept);
  Words words = {"collect", "--config", scene.user.ini(), "--clean-board", "--json"};
  const RunResult refused = run_msprof(words, scene.user.run_options());
  INFO(refused.err);
  CHECK(refused.exit_code == 5);
  CHECK(parse_document(refused).at("error_id") == "kept_results");
  CHECK(contains(refused.err, kept.string()));
  CHECK(contains(refused.err, "20260101-120000-1 ("));
  CHECK(contains(refused.err, "20260102-120000-2 ("));
  CHECK(fingerprint(kept) == before);
  CHECK(scene.litter(2) == "");

  // With -m, the check happens before any upload or run.
  const RunResult run = scene.user.collect({"--clean-board"}, {"job", kBoardJob});
  CHECK(run.exit_code == 5);
  CHECK(contains(run.err, "[kept_results]"));
  CHECK(scene.arrived().empty());
  CHECK_FALSE(fs::exists(scene.board.home() / "msprof/cache"));
  CHECK(fingerprint(kept) == before);
  CHECK(scene.litter(2) == "");

  words.emplace_back("--force");
  const RunResult forced = run_msprof(words, scene.user.run_options());
  INFO(forced.err);
  CHECK(forced.exit_code == 0);
  CHECK_FALSE(fs::exists(scene.board.home() / "msprof"));
}

TEST_CASE("Results of a killed run are kept, even by a later --clean-board") {
  const BoardScene scene;
  // The remains of a run whose board was switched off.
  const std::string job = std::string("profiling/") + kBoardJob + "/data/aicore.0";
  write_file(scene.board.home() / "msprof/runs/20260101-120000-1" / job, "records");
  const RunResult run = run_msprof({"collect", "--config", scene.user.ini(), "--clean-board"},
                                   scene.user.run_options());
  INFO(run.err);
  CHECK(run.exit_code == 5);
  CHECK(contains(run.err, "[kept_results]"));
  const fs::path kept = scene.board.home() / "msprof/kept/20260101-120000-1";
  CHECK(read_file(kept / kBoardJob / "data/aicore.0") == "records");
  CHECK(scene.litter(1) == "");
}

TEST_CASE("--clean-board refuses to delete results that cannot be moved to kept/") {
  BoardScene scene;
  scene.board.replace_tool("mv", "case \"$*\" in *kept/*) exit 1 ;; esac\nexec /usr/bin/mv \"$@\"");
  const fs::path run = scene.board.home() / "msprof/runs/20260101-120000-1";
  const fs::path data = run / "profiling" / kBoardJob / "data/aicore.0";
  write_file(data, "records");
  const RunResult refused = run_msprof({"collect", "--config", scene.user.ini(), "--clean-board"},
                                       scene.user.run_options());
  INFO(refused.err);
  CHECK(refused.exit_code == 5);
  CHECK(contains(refused.err, "[kept_results]"));
  CHECK(contains(refused.err, run.string()));
  CHECK(read_file(data) == "records");
}

TEST_CASE("--no-upload runs the project on the board without changing it") {
  const BoardScene scene({.kind = each_kind()});
  const fs::path there = scene.board.home() / "my app";
  fs::create_directories(there);
  fs::copy(scene.user.project(), there, fs::copy_options::recursive);
  write_file(there / kOtherBoardJob / "data/aicore.0", "of an older run");
  const std::string before = fingerprint(there);
  // An absolute path, and one relative to the account's home.
  const std::string folder = GENERATE_REF(there.string(), std::string("my app"));
  Words words = {"collect",
                 "-m",
                 "main",
                 "--config",
                 scene.user.ini(),
                 "--json",
                 "--output",
                 scene.user.output(),
                 "--no-upload",
                 "--remote-dir",
                 folder,
                 "--",
                 "job",
                 kBoardJob,
                 "append",
                 "acl.json",
                 " ",
                 "write",
                 "made",
                 "x"};
  RunOptions options = scene.user.run_options();
  options.folder = scene.user.output();
  const RunResult run = run_msprof(words, options);
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(find_step(parse_document(run), "upload").at("bytes") == 0);
  CHECK(fs::exists(scene.user.in_job("data/aicore.0.m.1.1.1.0")));
  const fs::path files = scene.user.output() / (std::string(kBoardJob) + ".files");
  CHECK(read_file(files / "made") == "x");
  const Json acl = Json::parse(read_file(files / "acl.json"));
  CHECK(acl.at("profiler").at("switch") == "on");
  CHECK(acl.at("mine") == 1);
  CHECK(scene.arrived() == Words{kBoardJob, std::string(kBoardJob) + ".files"});
  CHECK(fingerprint(there) == before);
  CHECK(names_in(scene.board.home() / "msprof/cache").empty());
  CHECK(scene.litter() == "");
}

TEST_CASE("acl.json on a board has an output of letters, digits and '_' below the board's folder") {
  const BoardScene scene({.kind = each_kind()});
  const RunResult run = scene.user.collect({}, {"job", kBoardJob, "append", "acl.json", " "});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  const Json profiler =
      Json::parse(read_file(scene.user.output() / (std::string(kBoardJob) + ".files") / "acl.json"))
          .at("profiler");
  const std::string output = profiler.at("output");
  const std::string begin = scene.board.home().string() + "/";
  REQUIRE(output.starts_with(begin + "msprof/runs/20"));
  CHECK(output.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/",
                                 begin.size()) == std::string::npos);
  // Boards accept one spelling or the other.
  for (const char* key : {"aicpu", "aacpu"}) CHECK(profiler.at(key) == "on");
  for (const char* key : {"aic_metrics", "aac_metrics"})
    CHECK(profiler.at(key) == "ArithmeticUtilization");
}

TEST_CASE("Files of an earlier version in .msprof are found, and its copies are used") {
  BoardScene scene({.kind = each_kind()});
  // Files changed recently would be compared.
  for (const auto& entry : fs::recursive_directory_iterator(scene.user.project()))
    fs::last_write_time(entry, fs::file_time_type::clock::now() - std::chrono::hours(1));
  scene.user.remember_project();
  const fs::path old = scene.board.home() / ".msprof";
  Words fetch = {"collect",  "--config",          scene.user.ini(),
                 "--output", scene.user.output(), "--fetch"};
  // Creates the board's copy of the project.
  REQUIRE(scene.user.collect({}, {"job", kBoardJob}).exit_code == 0);
  fs::create_directories(old / "runs");
  fs::rename(scene.board.home() / "msprof/cache", old / "cache");
  const std::string job = kOtherBoardJob;
  const bool is_kept = GENERATE(true, false);
  const fs::path run = old / (is_kept ? "kept" : "runs") / "20260101-120000-1";
  write_file(run / (is_kept ? "" : "profiling") / job / "data/aicore.0", "records");
  if (!is_kept) {
    fs::create_directories(run / "tree");
    // The msprof of this run was killed together with the board.
    write_file(old / "lock/owner", "999999 1 20260101-120000-1 held me@there 1\n");
  }

  const RunResult doctor = run_msprof(
      {"doctor", "-m", "main", "--config", scene.user.ini().string()}, scene.user.run_options());
  INFO(doctor.out);
  CHECK(contains(doctor.out, is_kept ? old.string() + "/kept: 20260101-120000-1"
                                     : "without cleaning up: 20260101-120000-1"));
  const bool comes_after_a_run = GENERATE(true, false);
  if (comes_after_a_run) {
    const RunResult next = scene.user.collect({"--json"}, {"job", kBoardJob});
    INFO(next.err);
    CHECK(next.exit_code == 0);
    CHECK(find_step(parse_document(next), "upload").at("bytes") == 0);
    CHECK(names_in(scene.board.home() / "msprof/cache").size() == 1);
  }
  const RunResult fetched = run_msprof(fetch, scene.user.run_options());
  INFO(fetched.err);
  CHECK(fetched.exit_code == 0);
  CHECK(read_file(scene.user.output() / job / "data/aicore.0") == "records");
  CHECK(names_in(old / "kept").empty());
  CHECK(names_in(old / "runs").empty());
  CHECK(scene.litter() == "");

  write_file(old / "kept/20260101-120000-2" / job / "data/aicore.0", "records");
  Words clean = {"collect", "--config", scene.user.ini(), "--clean-board"};
  const RunResult refused = run_msprof(clean, scene.user.run_options());
  CHECK(refused.exit_code == 5);
  CHECK(contains(refused.err, "20260101-120000-2 ("));
  clean.emplace_back("--force");
  CHECK(run_msprof(clean, scene.user.run_options()).exit_code == 0);
  CHECK_FALSE(fs::exists(old));
  CHECK_FALSE(fs::exists(scene.board.home() / "msprof"));
}

TEST_CASE("A run started by an earlier version can be continued and keeps the board busy") {
  const BoardScene scene({.kind = each_kind()});
  // The folder used by earlier versions.
  const BoardCollecting first(
      scene.user, {"--survive", "--board-dir", ".msprof"},
      {"job", kBoardJob, "ready", scene.user.at("ready"), "await", scene.user.at("go")});
  REQUIRE(eventually([&] { return fs::exists(scene.user.at("ready")) || first.has_ended(); }));
  first.send(SIGKILL);
  first.wait();
  const RunResult busy = scene.user.collect({}, {"job", kOtherBoardJob});
  INFO(busy.err);
  CHECK(busy.exit_code == 6);
  CHECK(contains(busy.err, "is busy"));
  write_file(scene.user.at("go"), "");
  Words attach = {"collect",        "--attach", "--config",
                  scene.user.ini(), "--output", scene.user.output()};
  // The message about a lost run prints the command with --board-dir, too.
  if (GENERATE(false, true)) attach.insert(attach.end(), {"--board-dir", ".msprof"});
  const RunResult result = run_msprof(attach, scene.user.run_options());
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(names_in(scene.board.home() / ".msprof/runs").empty());
}

TEST_CASE("--clean-board keeps the user's own files in a folder of that name") {
  const BoardScene scene;
  write_file(scene.board.home() / "msprof/notes.txt", "mine");
  REQUIRE(scene.user.collect({}, {"job", kBoardJob}).exit_code == 0);
  const RunResult clean = run_msprof({"collect", "--config", scene.user.ini(), "--clean-board"},
                                     scene.user.run_options());
  CHECK(clean.exit_code == 0);
  CHECK(names_in(scene.board.home() / "msprof") == Words{"notes.txt"});
}

TEST_CASE("An application on CANN is not run as a board application, uploaded or not") {
  BoardScene scene({.kind = each_kind()});
  // Signs of CANN: an import of Python's module `acl` here, the name of its library below.
  write_file(scene.user.project() / "main", "#!/usr/bin/env python3\nimport acl\n");
  scene.user.remember_project();
  const fs::path there = scene.board.home() / "app";
  write_file(there / "main", "#!/bin/sh\n# libascendcl.so\ntouch ran\n");
  fs::permissions(there / "main", fs::perms::owner_all);
  const bool is_there = GENERATE(true, false);
  Words options;
  if (is_there) options = {"--no-upload", "--remote-dir", "app"};
  const RunResult run = scene.user.collect(options, {});
  INFO(run.err);
  CHECK(run.exit_code == 2);
  CHECK(contains(run.err, "main loads libascendcl"));
  CHECK(contains(run.err, "--cann"));
  CHECK(scene.litter() == "");
  options.insert(options.end(), {"--dialect", "svp"});
  const RunResult forced = scene.user.collect(options, {});
  CHECK(contains(forced.err, "likely causes:\n  - main loads libascendcl"));
  CHECK(names_in(there) == Words{"main"});
}

TEST_CASE("--board-dir sets the folder on the board") {
  const BoardScene scene;
  const TempFolder elsewhere;
  const auto run_with = [&](const Words& options) {
    const RunResult run = scene.user.collect(options, {"cwd", "job", kBoardJob});
    INFO(run.err);
    CHECK(run.exit_code == 0);
    return run.out;
  };
  const std::string absolute = elsewhere / "made for it";
  CHECK(run_with({"--board-dir", absolute}).starts_with(absolute + "/msprof/runs/"));
  CHECK(run_with({"--board-dir", "below/home"})
            .starts_with((scene.board.home() / "below/home/msprof/runs/").string()));
  configure(scene.user, scene.board.ini("board_dir = " + absolute + "\n"));
  CHECK(run_with({}).starts_with(absolute + "/msprof/runs/"));
  CHECK_FALSE(fs::exists(scene.board.home() / "msprof"));
  for (const fs::path& folder : {fs::path(absolute), scene.board.home() / "below/home"}) {
    CHECK(names_in(folder / "msprof/runs").empty());
    CHECK(names_in(folder / "msprof/cache").size() == 1);
    CHECK_FALSE(fs::exists(folder / "msprof/lock"));
  }
}

TEST_CASE("A board folder that cannot be created ends the run with a remedy") {
  const BoardScene scene({.kind = BoardKind::dropbear});
  write_file(scene.board.home() / "a file", "x");
  const RunResult run = scene.user.collect({"--board-dir", "a file"}, {"job", kBoardJob});
  INFO(run.err);
  CHECK(run.exit_code == 5);
  CHECK(contains(run.err, "--board-dir"));
  CHECK(contains(run.err, "a file"));
  CHECK(scene.arrived().empty());
  CHECK(scene.litter() == "");
}

TEST_CASE("Without space for two copies, the run uses the board's copy itself") {
  if (!SmallDisk::is_available_or_skip()) return;
  // There is space for the project and the recording, but not for the project twice.
  constexpr std::size_t kModelBytes = 14 << 20;
  const SmallDisk disk(34 << 20);
  BoardScene scene({.kind = BoardKind::dropbear, .home = disk / "home"});
  write_file(scene.user.project() / "models/big.om", std::string(kModelBytes, 'b'));
  scene.user.remember_project();
  for (int i = 0; i < 2; ++i) {
    const RunResult run = scene.user.collect({"--json"}, {"job", kBoardJob});
    INFO(run.err);
    REQUIRE(run.exit_code == 0);
    CHECK(contains(run.err, "low disk space on " + scene.board.address()));
    CHECK_FALSE(parse_document(run).contains("remains"));
    CHECK(find_step(parse_document(run), "upload").at("bytes") > kModelBytes);
    CHECK(names_in(scene.board.home() / "msprof/cache").empty());
    CHECK(scene.litter() == "");
  }
  CHECK(scene.arrived() == Words{kBoardJob, std::string(kBoardJob) + "~2"});
}

}  // namespace msprof::test
