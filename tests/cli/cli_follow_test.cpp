// msprof follow: complete and incomplete captures, its memory across kills, commands, two
// followers.
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>

#include "cli/cli_fixture.hpp"
#include "support/eventually.hpp"
#include "support/prof/prof_run.hpp"

using namespace msprof::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

Words follow_words(const fs::path& folder, const Words& more = {}) {
  Words words = {"follow", folder.string(), "--interval", "0.01"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

RunResult follow_once(const fs::path& folder, Words more = {}) {
  more.emplace_back("--once");
  return run_msprof(follow_words(folder, more));
}

fs::path make_small_prof(const fs::path& parent) {
  prof::RunShape shape;
  shape.tasks = 60;
  return prof::make_run(parent, {}, shape).folder;
}

json state_in(const fs::path& folder) {
  return json::parse(read_file(folder / ".msprof-follow.json")).at("captures");
}

// Names a file that no later write of the same name can be mistaken for.
ino_t inode(const fs::path& file) {
  struct stat status = {};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  return status.st_ino;
}

// A program for --exec that appends its arguments and variables to the file `log`, then runs
// `more`.
std::string write_command(const fs::path& folder, const std::string& more = "") {
  const fs::path script = folder / "run me.sh";
  write_file(script,
             "#!/bin/sh\nprintf '%s|%s|%s|%s\\n' \"$#\" \"$1\" \"$MSPROF_EXIT_CODE\" \"$2\" >>'" +
                 (folder / "log").string() + "'\n[ \"$MSPROF_CAPTURE\" = \"$2\" ] || exit 99\n" +
                 more + "\n");
  fs::permissions(script, fs::perms::owner_all);
  return "'" + script.string() + "' 'two words'";
}

}  // namespace

TEST_CASE("follow imports and exports complete captures and leaves the others alone") {
  const TempFolder folder;
  const auto job = make_face(folder / "a/b", "JOBA");
  const fs::path prof = make_small_prof(folder / "worker_ascend_pt");
  const fs::path open_prof = make_small_prof(folder / "running");
  fs::remove(open_prof / "host/end_info");
  const auto open_job = make_partial(folder.path(), "JOBOPEN");
  const std::string before = fingerprint(open_prof) + fingerprint(open_job.folder());

  const auto result = follow_once(folder.path());
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(count_occurrences(result.out, "\n") == 2);
  CHECK(contains(result.out, "a/b/JOBA: complete"));
  CHECK(contains(result.out, "worker_ascend_pt/" + prof.filename().string() + ": complete"));
  CHECK(contains(result.err, "not finished: JOBOPEN: data/"));
  CHECK(contains(result.err, open_prof.filename().string() + ": host has no end_info"));
  CHECK(fs::exists(job.folder() / "summary"));
  CHECK(fs::exists(prof / "mindstudio_profiler_output"));
  CHECK(fingerprint(open_prof) + fingerprint(open_job.folder()) == before);
  CHECK(state_in(folder.path()).size() == 2);
  CHECK_FALSE(fs::exists(folder / ".msprof-follow.lock"));
}

TEST_CASE("follow handles a capture again only if it changes, and forgets removed ones") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  make_face(folder.path(), "JOBB");
  REQUIRE(follow_once(folder.path()).exit_code == 0);
  const std::string before = fingerprint(folder.path());
  const auto again = follow_once(folder.path());
  CHECK(again.exit_code == 0);
  CHECK(again.out.empty());
  CHECK(fingerprint(folder.path()) == before);

  set_age(job, 60);
  fs::remove_all(folder / "JOBB");
  const auto changed = follow_once(folder.path());
  CHECK(changed.out.starts_with("JOBA: complete"));
  const json state = state_in(folder.path());
  CHECK(state.size() == 1);
  CHECK(state.at("JOBA").at("exit_code") == 0);
}

TEST_CASE("follow reports a damaged capture once, until it changes") {
  const TempFolder folder;
  auto job = make_face(folder.path(), "JOBA");
  make_face(folder.path(), "JOBB");
  const std::string data = face_name("aicore").text();
  const std::string good = read_file(job.folder() / "data" / data);
  job.file("data/" + data, good.substr(0, good.size() - 5));
  const auto first = follow_once(folder.path(), {"-q"});
  CHECK(first.exit_code == 3);
  CHECK(contains(first.out, "JOBA: PARTIAL DATA"));
  CHECK(contains(first.out, "msprof doctor -dir"));
  CHECK_FALSE(contains(first.out, "JOBB"));  // -q prints only problems
  CHECK(first.err.empty());
  const auto second = follow_once(folder.path());
  CHECK(second.exit_code == 0);
  CHECK(second.out.empty());
  job.file("data/" + data, good);
  CHECK(contains(follow_once(folder.path()).out, "JOBA: complete"));
}

TEST_CASE("follow exports what --export names, with the arguments of export") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  REQUIRE(
      follow_once(folder.path(), {"--export", "summary op_statistic --format json"}).exit_code ==
      0);
  CHECK_FALSE(fs::exists(job.folder() / "timeline"));
  const Words names = names_in(job.folder() / "summary");
  REQUIRE(names.size() == 1);
  CHECK(names.front().starts_with("op_statistic"));
  CHECK(names.front().ends_with(".json"));
}

TEST_CASE("follow rejects wrong options before it waits for captures") {
  const TempFolder folder;
  const auto error_of = [&](const Words& more, int exit_code = 2) {
    const auto result = run_msprof(follow_words(folder.path(), more));
    CAPTURE(more, result.err);
    CHECK(result.exit_code == exit_code);
    return result.err;
  };
  CHECK(contains(error_of({"--export", "timeline --gzipped"}), "--gzipped"));
  CHECK(contains(error_of({"--export", "nothing"}), "unknown command 'nothing'"));
  CHECK(contains(error_of({"--export", "all --output x"}), "--output"));
  CHECK(contains(error_of({"--export", "all -dir x"}), "-dir"));
  CHECK(contains(error_of({"--exec", "a 'b"}), "--exec: the closing ' is missing"));
  CHECK(contains(error_of({"--exec", " "}), "--exec is empty"));
  CHECK(names_in(folder.path()).empty());
  CHECK(contains(run_msprof({"follow", (folder / "none").string()}).err, "no such folder"));
  CHECK(run_msprof({"follow", folder.path().string(), "--interval", "0"}).exit_code == 2);
  write_file(folder / ".msprof-follow.json", "{\"schema\": \"msprof.follow/1\"");
  CHECK(contains(error_of({}, 3), "Remove it to handle all captures again"));
}

TEST_CASE("--exec runs once per capture, without a shell, whatever the capture is called") {
  const TempFolder folder;
  const TempFolder outside;
  const Words names = {"-rf", "a\nb", "$(touch x);* '\"", "bad\xff\xfe%"};
  for (const std::string& name : names) make_face(folder / name, "JOBA");
  fs::create_directory_symlink(folder.path(), folder / "loop");
  fs::create_symlink(folder / "self", folder / "self");
  const std::string command = write_command(outside.path());
  const auto result = follow_once(folder.path(), {"--exec", command});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(count_occurrences(result.out, "\n") == names.size());
  CHECK(count_occurrences(result.out, ": complete") == names.size());
  const std::string log = read_file(outside / "log");
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(count_occurrences(log, "2|two words|0|" + (folder / name / "JOBA").string() + "\n") == 1);
  }
  CHECK(state_in(folder.path()).size() == names.size());
  CHECK(follow_once(folder.path(), {"--exec", command}).out.empty());
  CHECK(read_file(outside / "log") == log);
}

TEST_CASE("a command that fails is reported, and not run again") {
  const TempFolder folder;
  const TempFolder outside;
  make_face(folder.path(), "JOBA");
  const std::string command = write_command(outside.path(), "exit 3");
  const auto result = follow_once(folder.path(), {"--exec", command, "-q"});
  CHECK(result.exit_code == 7);
  CHECK(contains(result.out, "JOBA: complete"));
  CHECK(contains(result.out, "; command: exit code 3\n"));
  CHECK(follow_once(folder.path(), {"--exec", command}).exit_code == 0);
  CHECK(count_occurrences(read_file(outside / "log"), "\n") == 1);
  CHECK(state_in(folder.path()).at("JOBA").at("command") == "exit code 3");
  const auto missing = [&] {
    make_face(folder.path(), "JOBB");
    return follow_once(folder.path(), {"--exec", "no-such-program-here"});
  }();
  CHECK(missing.exit_code == 7);
  CHECK(contains(missing.out, "exit code 127"));
}

TEST_CASE("a follower killed during a command repeats the command, but not the export") {
  const TempFolder folder;
  const TempFolder outside;
  const auto job = make_face(folder.path(), "JOBA");
  const std::string command = write_command(outside.path(), "while :; do sleep 0.05; done");
  {
    RunningProgram follower(msprof_path(), follow_words(folder.path(), {"--exec", command}));
    REQUIRE(eventually([&] { return fs::exists(outside / "log"); }));
    follower.send(SIGKILL);
    CHECK(follower.wait().signal == SIGKILL);
  }
  CHECK(state_in(folder.path()).at("JOBA").at("command_due") == true);
  const fs::path product = job.folder() / "summary" / names_in(job.folder() / "summary").front();
  const ino_t store = inode(job.store());
  const ino_t exported = inode(product);
  const auto result = follow_once(folder.path(), {"--exec", write_command(outside.path())});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.out.starts_with("JOBA: complete"));
  CHECK(count_occurrences(read_file(outside / "log"), "\n") == 2);
  CHECK(inode(job.store()) == store);
  CHECK(inode(product) == exported);
  CHECK_FALSE(state_in(folder.path()).at("JOBA").contains("command_due"));
}

TEST_CASE("a follower killed during an import does the capture again and leaves no rests") {
  const TempFolder folder;
  JobBuilder job(folder.path(), "JOBA");
  add_many_records(job, 50'000);
  make_face(folder.path(), "JOBB");
  const auto is_importing = [&] { return fs::exists(job.folder() / "sqlite"); };
  {
    RunningProgram follower(msprof_path(), follow_words(folder.path()));
    REQUIRE(eventually([&] { return is_importing() || follower.has_ended(); }));
    follower.send(SIGKILL);
    CHECK(follower.wait().signal == SIGKILL);
  }
  const auto result = follow_once(folder.path());
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "JOBB: complete"));
  CHECK(state_in(folder.path()).size() == 2);
  CHECK(names_in(job.folder() / "sqlite") == Words{"msprof.db"});
  for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
    CHECK_FALSE(contains(entry.path().filename().string(), ".msprof-tmp"));
}

TEST_CASE("follow waits for captures, excludes a second follower, and ends with Ctrl-C") {
  const TempFolder folder;
  auto job = make_face(folder.path(), "JOBA");
  const std::string done = "data/" + face_name("aicore").text() + ".done";
  const std::string text = read_file(job.folder() / done);
  job.remove(done);
  RunningProgram follower(msprof_path(), follow_words(folder.path()));
  REQUIRE(eventually([&] { return fs::exists(folder / ".msprof-follow.lock"); }));
  const auto second = follow_once(folder.path());
  CHECK(second.exit_code == 5);
  CHECK(contains(second.err, "is in use by process " + std::to_string(follower.pid())));
  CHECK_FALSE(fs::exists(job.folder() / "sqlite"));
  job.file(done, text);
  REQUIRE(eventually([&] { return fs::exists(folder / ".msprof-follow.json"); }));
  make_face(folder / "later", "JOBB");
  REQUIRE(eventually([&] { return state_in(folder.path()).size() == 2; }));
  follower.send(SIGINT);
  const auto result = follower.wait();
  CHECK(result.exit_code == 130);
  CHECK(contains(result.out, "JOBA: complete"));
  CHECK(contains(result.out, "later/JOBB: complete"));
  CHECK_FALSE(fs::exists(folder / ".msprof-follow.lock"));
}

TEST_CASE("Ctrl-C ends a command of --exec, which runs again the next time") {
  const TempFolder folder;
  const TempFolder outside;
  make_face(folder.path(), "JOBA");
  const std::string command =
      write_command(outside.path(), "trap '' TERM\nwhile :; do sleep 0.05; done");
  RunningProgram follower(msprof_path(), follow_words(folder.path(), {"--exec", command}));
  REQUIRE(eventually([&] { return fs::exists(outside / "log"); }));
  follower.send(SIGINT);
  CHECK(follower.wait().exit_code == 130);
  CHECK(state_in(folder.path()).at("JOBA").at("command_due") == true);
}

TEST_CASE("follow ends if its folder is replaced, and keeps what it remembered") {
  const TempFolder folder;
  const fs::path root = folder / "root";
  make_face(root, "JOBA");
  RunningProgram follower(msprof_path(), follow_words(root));
  REQUIRE(eventually([&] { return fs::exists(root / ".msprof-follow.json"); }));
  fs::rename(root, folder / "away");
  fs::create_directory(root);
  const auto result = follower.wait();
  CHECK(result.exit_code == 5);
  CHECK(contains(result.err, "was removed or replaced"));
  CHECK(state_in(folder / "away").size() == 1);
  CHECK(names_in(root).empty());
}
