// Boards that send forbidden entries, files whose .done disagrees, and wrong clocks.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "board/collect_board_fixture.hpp"
#include "support/files.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

// One member of a tar archive in 512-byte blocks (POSIX ustar).
std::string tar_member(const std::string& name, char kind, const std::string& link,
                       const std::string& bytes) {
  std::string head(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) {
    head.replace(at, text.size(), text);
  };
  char octal[16] = {};
  std::snprintf(octal, sizeof octal, "%011zo", bytes.size());
  put(0, name);
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, octal);
  put(136, "00000000000");
  put(148, "        ");
  head[156] = kind;
  put(157, link);
  put(257, std::string("ustar\0"
                       "00",
                       8));
  unsigned sum = 0;
  for (const char c : head) sum += static_cast<unsigned char>(c);
  std::snprintf(octal, sizeof octal, "%06o", sum);
  put(148, octal);
  head[154] = '\0';
  std::string padded = bytes;
  padded.resize((bytes.size() + 511) / 512 * 512);
  return head + padded;
}

constexpr char kFile = '0';
constexpr char kHardLink = '1';
constexpr char kLink = '2';

// Adds members in front of those that the board's tar packs, in the same archive.
void smuggle(BoardScene& scene, const std::string& members) {
  write_file(scene.user.at("smuggled"), members);
  before_packing(scene.board, "cat '" + scene.user.at("smuggled") + "'");
}

std::int64_t file_time(const fs::path& path) {
  struct stat status = {};
  ::stat(path.c_str(), &status);
  return status.st_mtim.tv_sec;
}

constexpr std::chrono::hours kYear{365 * 24};

void set_age(const fs::path& path, std::chrono::hours age) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - age);
}

struct Sent {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

// Runs, requires success, and returns the uploaded part of the project.
Sent run_and_see_what_is_sent(const BoardScene& scene, const Words& application) {
  const RunResult result = scene.user.collect({"--json"}, application);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  Sent sent;
  const auto document = nlohmann::json::parse(result.out);
  for (const auto& step : document["steps"]) {
    if (step["name"] == "upload") sent = {step["files"], step["bytes"]};
  }
  return sent;
}

}  // namespace

TEST_CASE("Unexpected files from a board are refused, counted and not written") {
  BoardScene scene;
  const std::string job = std::string("./") + kBoardJob;
  const fs::path victim = scene.user.at("victim");
  fs::create_directories(victim);
  std::string members;
  SECTION("a name outside the folder") {
    members = tar_member("../evil", kFile, "", "evil") +
              tar_member(job + "/../../../../evil", kFile, "", "evil");
  }
  SECTION("an absolute name") {
    members = tar_member((victim / "evil").string(), kFile, "", "evil");
  }
  SECTION("a link to outside the folder, and a file through it") {
    // If the link is not followed, the file stays in the capture.
    members = tar_member(job + "/way", kLink, victim.string(), "") +
              tar_member(job + "/way/behind", kFile, "", "evil");
  }
  SECTION("a second name for a file of this machine") {
    members = tar_member(job + "/evil", kHardLink, scene.user.ini().string(), "");
  }
  SECTION("names with control characters") {
    members = tar_member(job + "/data/evil\nline", kFile, "", "evil") +
              tar_member(job + "/data/evil\x01", kFile, "", "evil") +
              tar_member(job + "/data/\x1b[31mevil", kFile, "", "evil");
  }
  smuggle(scene, members);
  const std::string ini = read_file(scene.user.ini());
  const RunResult result =
      scene.user.collect({}, {"job", kBoardJob, "write", "JOB/data/good", "yes"});
  INFO(result.err);
  CHECK(result.exit_code == 3);
  CHECK(contains(result.err, "refused"));
  CHECK(result.err.find_first_of("\x01\x1b") == std::string::npos);
  // The capture itself is complete.
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(read_file(scene.user.in_job("data/good")) == "yes");
  // No smuggled file is anywhere on the user's machine.
  CHECK(fs::is_empty(victim));
  CHECK(read_file(scene.user.ini()) == ini);
  for (const auto& entry : fs::recursive_directory_iterator(scene.user.at(""))) {
    INFO(entry.path().string());
    CHECK_FALSE(contains(entry.path().filename().string(), "evil"));
    CHECK_FALSE(fs::is_symlink(entry.symlink_status()));
    if (entry.is_regular_file()) CHECK(fs::hard_link_count(entry) == 1);
  }
  CHECK(scene.litter() == "");
}

TEST_CASE("An invalid or truncated archive does not lose the data on the board") {
  BoardScene scene({.kind = each_kind()});
  SECTION("no archive") {
    before_packing(scene.board, "echo 'Segmentation fault' >&2; echo rubbish; exit 1");
  }
  SECTION("cut off") {
    const std::string member =
        tar_member(std::string("./") + kBoardJob + "/x", kFile, "", std::string(9000, 'x'));
    write_file(scene.user.at("half"), member.substr(0, 2000));
    before_packing(scene.board, "cat '" + scene.user.at("half") + "'; exit 0");
  }
  SECTION("nothing at all") {
    before_packing(scene.board, "exit 0");
  }
  const RunResult result =
      scene.user.collect({}, {"job", kBoardJob, "write", "JOB/data/good", "yes"});
  INFO(result.err);
  // Files are then fetched one by one: this succeeds, or the message says where they are.
  if (result.exit_code == 0) {
    CHECK(scene.arrived() == kOnlyJob);
    CHECK(read_file(scene.user.in_job("data/good")) == "yes");
    CHECK(scene.litter() == "");
  } else {
    CHECK(result.exit_code == 3);
    CHECK(scene.arrived().empty());
    CHECK(scene.litter(1) == "");
    const auto kept = names_in(scene.board.home() / "msprof/kept");
    REQUIRE(kept.size() == 1);
    CHECK(contains(result.err, "kept/" + kept.front()));
  }
}

TEST_CASE("An endless archive is stopped, and the recording is fetched another way") {
  BoardScene scene({.kind = each_kind()});
  const std::string name = std::string("./") + kBoardJob + "/data/more";
  // A file announced with 8 GB, or endless empty files.
  const std::string endless = GENERATE("file", "files");
  const std::string member = tar_member(name, kFile, "", "");
  std::string huge = member;
  huge.replace(124, 11, "77777777777");
  unsigned sum = 0;
  huge.replace(148, 8, "        ");
  for (const char c : huge) sum += static_cast<unsigned char>(c);
  char octal[8] = {};
  std::snprintf(octal, sizeof octal, "%06o", sum);
  huge.replace(148, 7, std::string(octal, 7));
  write_file(scene.user.at("huge"), huge);
  write_file(scene.user.at("empty"), member + member + member + member);
  before_packing(scene.board,
                 endless == "file"
                     ? "/bin/cat '" + scene.user.at("huge") + "' /dev/zero\nexit 0"
                     : "while :; do /bin/cat '" + scene.user.at("empty") + "' || exit 0; done");
  const RunResult result =
      scene.user.collect({}, {"job", kBoardJob, "write", "JOB/data/good", "yes"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(read_file(scene.user.in_job("data/good")) == "yes");
  const fs::path more = scene.user.in_job("data/more");
  CHECK((!fs::exists(more) || fs::file_size(more) == 0));
  CHECK(scene.litter() == "");
}

TEST_CASE("An error between the application's end and the fetch removes no recording") {
  BoardScene scene({.kind = each_kind()});
  // The board's answer about processes that are left does not end.
  scene.board.replace_tool(
      "grep",
      "case \"$*\" in *MSPROF_RUN=*) dd if=/dev/zero bs=1000000 count=20 >&2 2>/dev/null ;; esac\n"
      "exec /usr/bin/grep \"$@\"");
  const RunResult result =
      scene.user.collect({"--clean-board"}, {"job", kBoardJob, "write", "JOB/data/good", "yes"});
  INFO(result.err);
  CHECK(result.exit_code != 0);
  CHECK(contains(result.err, "does not end"));
  CHECK(scene.arrived().empty());
  const auto kept = names_in(scene.board.home() / "msprof/kept");
  REQUIRE(kept.size() == 1);
  CHECK(contains(result.err, "collect --fetch " + kept.front()));
  const fs::path recording = scene.board.home() / "msprof/kept" / kept.front() / kBoardJob;
  CHECK(read_file(recording / "data/good") == "yes");
  CHECK(scene.litter(1) == "");
}

TEST_CASE("Unusual names and links created by an application are not fetched, but counted") {
  const BoardScene scene({.kind = each_kind()});
  const RunResult result =
      scene.user.collect({}, {"job", kBoardJob, "odd-names", "odd", "link-out", "leaves"});
  INFO(result.err);
  CHECK(result.exit_code == 3);
  CHECK(contains(result.err, "3 entries on the board were refused"));
  CHECK_FALSE(contains(result.err, "\x01"));
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(names_in(scene.user.in_job("data")) == Words{"aicore.0.m.1.1.1.0"});
  CHECK(scene.litter() == "");
}

TEST_CASE("A .done with another length is reported with both lengths") {
  const BoardScene scene({.kind = each_kind()});
  const RunResult result =
      scene.user.collect({}, {"job", kBoardJob, "done", "short", "99", "done", "right", "16"});
  INFO(result.err);
  CHECK(result.exit_code == 3);
  CHECK(contains(result.err, "data/short: expected 99 bytes from its .done, got 16"));
  CHECK_FALSE(contains(result.err, "data/right"));
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(fs::file_size(scene.user.in_job("data/short")) == 16);
  CHECK(scene.litter() == "");
}

TEST_CASE("A clock that is a year off neither hides a change nor causes extra uploads") {
  // The board shares this machine's clock, so the project's times are shifted instead.
  BoardScene scene(GENERATE(BoardOptions{.kind = BoardKind::openssh},
                            BoardOptions{.kind = BoardKind::dropbear},
                            BoardOptions{.kind = BoardKind::openssh, .without = {"stat"}}));
  const fs::path models = scene.user.project() / "models";
  write_file(models / "ahead", "12345");
  write_file(models / "behind", "12345");
  set_age(scene.user.project() / "main", kYear);
  set_age(scene.user.project() / "acl.json", -kYear);
  set_age(models / "m.om", std::chrono::hours(1));
  set_age(models / "ahead", -kYear);
  set_age(models / "behind", kYear);
  scene.user.remember_project();
  CHECK(run_and_see_what_is_sent(scene, {"job", kBoardJob}).files == 5);
  CHECK(run_and_see_what_is_sent(scene, {"job", kBoardJob}).bytes == 0);

  // Equal sizes: only the time differs, in either direction.
  write_file(models / "ahead", "abcde");
  set_age(models / "ahead", kYear);
  write_file(models / "behind", "fghij");
  set_age(models / "behind", -kYear);
  scene.user.remember_project();
  const Sent changed = run_and_see_what_is_sent(scene, {"job", kBoardJob});
  CHECK(changed.files == 2);
  CHECK(changed.bytes == 10);
  const auto cached = names_in(scene.board.home() / "msprof/cache");
  REQUIRE(cached.size() == 1);
  const fs::path cache = scene.board.home() / "msprof/cache" / cached.front();
  CHECK(read_file(cache / "models/ahead") == "abcde");
  CHECK(read_file(cache / "models/behind") == "fghij");
  CHECK(file_time(cache / "models/behind") == file_time(models / "behind"));
  CHECK(scene.litter() == "");
}

TEST_CASE("Files that a run writes are found whatever time the project's files have") {
  BoardScene scene(GENERATE(BoardOptions{.kind = BoardKind::openssh},
                            BoardOptions{.kind = BoardKind::dropbear},
                            BoardOptions{.kind = BoardKind::dropbear, .without = {"stat"}}));
  for (const char* name : {"ahead", "behind", "untouched"}) {
    write_file(scene.user.project() / name, "12345");
  }
  set_age(scene.user.project() / "ahead", -kYear);
  set_age(scene.user.project() / "behind", kYear);
  set_age(scene.user.project() / "untouched", -kYear);
  scene.user.remember_project();
  const RunResult result =
      scene.user.collect({}, {"job", kBoardJob, "write", "ahead", "abcde", "write", "behind",
                              "fghij", "write", "new", "n", "remove", "models/m.om"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  const std::string files = std::string(kBoardJob) + ".files";
  CHECK(scene.arrived() == Words{kBoardJob, files});
  CHECK(names_in(scene.user.output() / files) == Words{"ahead", "behind", "new"});
  CHECK(read_file(scene.user.output() / files / "ahead") == "abcde");
  CHECK(contains(result.err, "models/m.om"));
  CHECK(scene.litter() == "");
}

}  // namespace msprof::test
