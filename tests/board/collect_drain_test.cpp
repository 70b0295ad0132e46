// --drain on real boards: recordings that do not fit on them, and lines that break meanwhile.
#include <signal.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <random>
#include <string>

#include "base/host_name.hpp"
#include "board/collect_board_fixture.hpp"
#include "board/drain_journal.hpp"
#include "board/drainer.hpp"
#include "support/files.hpp"
#include "support/network_proxy.hpp"
#include "support/small_disk.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMb = 1 << 20;

// A busybox board frees nothing by itself; many have util-linux beside it.
void give_fallocate(BoardServer& board) {
  board.replace_tool("fallocate", "exec /usr/bin/fallocate \"$@\"");
}

// What a run on a disk of 16 MB leaves for its recording.
std::uint64_t room_on(const SmallDisk& disk) {
  return fs::space(disk.path()).available - 2 * application_bytes();
}

Words pouring(std::uint64_t bytes) {
  return {"job", kBoardJob, "pour", "n", std::to_string(bytes)};
}

// The folder of a drain in the output folder; empty: none.
fs::path drain_folder(const BoardUser& user) {
  for (const std::string& name : names_in(user.output())) {
    if (name.starts_with("drained-")) return user.output() / name;
  }
  return {};
}

std::uint64_t drained_bytes(const BoardUser& user) {
  const fs::path file = drain_folder(user) / "raw" / kBoardJob / "data/n";
  std::error_code error;
  const auto size = fs::file_size(file, error);
  return error ? 0 : size;
}

bool is_draining(const BoardUser& user, const BoardCollecting& run, std::uint64_t from) {
  return eventually([&] { return run.has_ended() || drained_bytes(user) > from; }) &&
         !run.has_ended();
}

// The board's end of it, a shell.
pid_t drain_process(const BoardServer& board) {
  for (const std::string& run : names_in(board.home() / ".msprof/runs")) {
    const fs::path file = board.home() / ".msprof/runs" / run / "drain.pid";
    if (fs::exists(file)) return std::stoi(read_file(file));
  }
  return 0;
}

}  // namespace

TEST_CASE("A run that records 20 times what is free on its board ends complete") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(16 * kMb);
  BoardScene scene({.kind = each_kind(), .home = disk.path() / "home"});
  give_fallocate(scene.board);
  const std::uint64_t size = 20 * room_on(disk) + 12345;
  const RunResult result = scene.user.collect({"--drain"}, pouring(size));
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "came home while it ran"));
  CHECK(scene.arrived() == kOnlyJob);
  CHECK((read_file(scene.user.in_job("data/n")) == big_bytes(size)));
  CHECK(fs::exists(scene.user.in_job("data/n.done")));
  CHECK(fs::exists(scene.user.in_job("info.json.0")));
  CHECK_FALSE(fs::exists(scene.user.in_job(".drained")));
  CHECK(scene.litter() == "");
}

TEST_CASE("A drain whose connection ends begins anew, and the run ends complete") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(16 * kMb);
  BoardScene scene({.kind = each_kind(), .home = disk.path() / "home"});
  give_fallocate(scene.board);
  const std::uint64_t size = 8 * room_on(disk);
  const BoardCollecting run(scene.user, {"--drain", "-v"}, pouring(size));
  for (std::uint64_t part = 1; part <= 4; ++part) {
    if (!is_draining(scene.user, run, part * size / 8)) break;
    const pid_t process = drain_process(scene.board);
    if (process > 1) ::kill(process, SIGKILL);
  }
  const RunResult result = run.wait();
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "the drain has ended"));
  CHECK(scene.arrived() == kOnlyJob);
  CHECK((read_file(scene.user.in_job("data/n")) == big_bytes(size)));
  CHECK(scene.litter() == "");
}

TEST_CASE("What came home before a line broke and what is on the board then are one file") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(16 * kMb);
  BoardServer board({.kind = each_kind(), .home = disk.path() / "home"});
  give_fallocate(board);
  NetworkProxy network(board.port(), {}, std::nullopt);
  const BoardUser user(board, network.port());
  const std::uint64_t room = room_on(disk);
  // Somewhere within the work on a few megabytes.
  const std::uint64_t moment = std::random_device()() % (2 * room);
  CAPTURE(moment);
  const BoardCollecting run(user, {"--drain", "--reconnect", kAmple, "--keep"}, pouring(40 * room));
  REQUIRE(is_draining(user, run, room + moment));
  network.cut_now(GENERATE(CutKind::reset, CutKind::close));
  const RunResult result = run.wait();
  INFO(result.err);
  CHECK(result.exit_code == 6);
  CHECK(contains(result.err, "the connection was lost while main ran"));
  CHECK(names_in(user.output()) == kOnlyJob);
  const std::string bytes = read_file(user.in_job("data/n"));
  CHECK(bytes.size() > room + moment);
  CHECK((bytes == big_bytes(bytes.size() / 8 * 8).substr(0, bytes.size())));
  const fs::path kept = board.home() / ".msprof/kept";
  const auto runs = names_in(kept);
  REQUIRE(runs.size() == 1);
  CHECK(bytes.size() == fs::file_size(kept / runs.front() / "profiling" / kBoardJob / "data/n"));
  CHECK(litter_on(board, 1) + litter_of(user) == "");
}

TEST_CASE("An msprof that is killed has here what is not on the board any more") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(16 * kMb);
  BoardServer board({.kind = each_kind(), .home = disk.path() / "home"});
  give_fallocate(board);
  const BoardUser user(board);
  const std::uint64_t room = room_on(disk);
  const BoardCollecting run(user, {"--drain", "--reconnect", "1"}, pouring(40 * room));
  REQUIRE(is_draining(user, run, 2 * room));
  shorten_wait_for_lost_run(board);
  run.send(SIGKILL);
  run.wait();
  // The board ends the run and keeps what it has.
  const fs::path kept = board.home() / ".msprof/kept";
  REQUIRE(eventually([&] { return !names_in(kept).empty(); }));
  const std::string name = names_in(kept).front();
  const fs::path file = kept / name / kBoardJob / "data/n";
  REQUIRE(eventually([&] { return names_in(board.home() / ".msprof/runs").empty(); }));
  const std::string there = read_file(file);
  const DrainJournal journal(drain_folder(user));
  const std::string path = std::string(kBoardJob) + "/data/n";
  REQUIRE(journal.files().contains(path));
  const std::uint64_t length = journal.files().at(path).length;
  CHECK(length > room);
  CHECK(there.size() > length);
  const std::string expected = big_bytes(there.size() / 8 * 8).substr(0, there.size());
  CHECK((read_file(journal.file(path)).substr(0, length) == expected.substr(0, length)));
  CHECK((there.substr(length) == expected.substr(length)));
  CHECK(contains(read_file(kept / name / ".drained"), drain_folder(user).string()));
  CHECK(eventually([&] { return board.processes().empty(); }));
}

namespace {

// A run on a small disk whose msprof was killed while it drained: the board has kept its rest.
struct KilledDrain {
  explicit KilledDrain(BoardKind kind)
      : board({.kind = kind, .home = disk.path() / "home"}), user(board) {
    give_fallocate(board);
    const BoardCollecting run(user, {"--drain", "--reconnect", "1"}, pouring(40 * room_on(disk)));
    // The first 4 MB are freed before more is asked for.
    REQUIRE(is_draining(user, run, 5 * kMb));
    shorten_wait_for_lost_run(board);
    run.send(SIGKILL);
    run.wait();
    REQUIRE(eventually([&] { return !names_in(kept).empty(); }));
    REQUIRE(eventually([&] { return names_in(board.home() / ".msprof/runs").empty(); }));
    REQUIRE(eventually([&] { return board.processes().empty(); }));
    name = names_in(kept).front();
    size = fs::file_size(rest());
  }
  // The file of which the board has freed the first part.
  fs::path rest() const { return kept / name / kBoardJob / "data/n"; }
  std::string written() const { return big_bytes((size + 7) / 8 * 8).substr(0, size); }
  RunResult fetch(const fs::path& output, const Words& options = {}) const {
    Words words = {"collect",           "--fetch",  "--config",
                   user.ini().string(), "--output", output.string()};
    words.insert(words.end(), options.begin(), options.end());
    return run_msprof(words, user.run_options());
  }

  const SmallDisk disk{16 * kMb};
  BoardServer board;
  const BoardUser user;
  const fs::path kept = board.home() / ".msprof/kept";
  std::string name;
  std::uint64_t size = 0;
};

}  // namespace

TEST_CASE("--fetch puts together what came home before msprof was killed and the board's rest") {
  if (!SmallDisk::is_available_or_skip()) return;
  // From another output folder it is found by its note.
  const bool is_elsewhere = GENERATE(false, true);
  const KilledDrain scene(is_elsewhere ? BoardKind::dropbear : BoardKind::openssh);
  CHECK((read_file(scene.rest()) != scene.written()));
  const TempFolder elsewhere;
  const fs::path output = is_elsewhere ? elsewhere / "out" : scene.user.output();
  const RunResult result = scene.fetch(output);
  INFO(result.err);
  CHECK(result.exit_code == 6);  // nobody saw its end
  CHECK(names_in(output) == kOnlyJob);
  CHECK((read_file(output / kBoardJob / "data/n") == scene.written()));
  CHECK_FALSE(fs::exists(output / kBoardJob / ".drained"));
  CHECK_FALSE(contains(result.err, "missing"));
  CHECK(drain_folder(scene.user).empty());
  CHECK(litter_on(scene.board) == "");
  // What the killed msprof had begun goes with the next run into the same folder.
  if (!is_elsewhere) CHECK(litter_of(scene.user) == "");
}

TEST_CASE("Without what came home, --fetch leaves all as it is; --force names what is missing") {
  if (!SmallDisk::is_available_or_skip()) return;
  const bool is_in_part = GENERATE(false, true);
  const KilledDrain scene(is_in_part ? BoardKind::openssh : BoardKind::dropbear);
  const fs::path home = drain_folder(scene.user);
  const fs::path laptop = scene.user.at("other-laptop");
  const fs::path part = home / "raw" / kBoardJob / "data/n";
  if (is_in_part) {
    fs::resize_file(part, 5 * kDrainBlock + 1);
  } else {
    fs::rename(home, laptop);
  }
  const std::string rest = read_file(scene.rest());
  const RunResult refused = scene.fetch(scene.user.output());
  INFO(refused.err);
  CHECK(refused.exit_code == 4);
  CHECK(contains(refused.err, home.string()));
  CHECK(contains(refused.err, "nothing was fetched"));
  CHECK(contains(refused.err, "--force"));
  CHECK_FALSE(fs::exists(scene.user.in_job("")));
  CHECK((read_file(scene.rest()) == rest));
  if (!is_in_part) CHECK(contains(refused.err, " on " + own_host_name()));
  const RunResult forced = scene.fetch(scene.user.output(), {"--force"});
  INFO(forced.err);
  CHECK(forced.exit_code == 6);
  CHECK(names_in(scene.user.output()) == kOnlyJob);
  std::string expected = rest;
  if (is_in_part) expected.replace(0, 5 * kDrainBlock, scene.written(), 0, 5 * kDrainBlock);
  CHECK((read_file(scene.user.in_job("data/n")) == expected));
  std::uint64_t zeros = 0;
  for (std::uint64_t at = 0; at + kDrainBlock <= expected.size(); at += kDrainBlock) {
    if (expected.find_first_not_of('\0', at) >= at + kDrainBlock) zeros += kDrainBlock;
  }
  CHECK(zeros > 0);
  CHECK(contains(forced.err, std::string(kBoardJob) + "/data/n: " + std::to_string(zeros) +
                                 " of its " + std::to_string(scene.size) + " bytes are missing"));
  CHECK(litter_on(scene.board) + litter_of(scene.user) == "");
}

TEST_CASE("A board that can free nothing is named, and so is the time until its disk is full") {
  BoardScene scene({.kind = each_kind()});
  // Each look finds 5 MB less.
  scene.board.replace_tool("df",
                           "left=$(cat ~/left 2>/dev/null || echo 90000)\n"
                           "echo $((left - 5000)) > ~/left\n"
                           "echo 'Filesystem 1024-blocks Used Available Capacity Mounted'\n"
                           "echo \"disk 100000 0 $left 0% /\"");
  const std::string end = scene.user.at("end");
  const BoardCollecting run(scene.user, {"--drain"},
                            {"job", kBoardJob, "big", "n", std::to_string(3 * kMb), "await", end});
  // As many looks as both sentences take.
  CHECK(eventually([&] {
    const std::string err = run.err();
    return run.has_ended() ||
           (contains(err, "cannot free what has come home") && contains(err, "is full in about"));
  }));
  write_file(end, "");
  const RunResult result = run.wait();
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "cannot free what has come home"));
  CHECK(contains(result.err, "is full in about"));
  CHECK((read_file(scene.user.in_job("data/n")) == big_bytes(3 * kMb)));
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(scene.litter() == "");
}

TEST_CASE("Without stat, tar and SFTP a board is drained as well") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(16 * kMb);
  BoardScene scene(
      {.kind = BoardKind::dropbear, .without = {"stat", "tar"}, .home = disk.path() / "home"});
  give_fallocate(scene.board);
  const std::uint64_t size = 3 * room_on(disk);
  const RunResult result = scene.user.collect({"--drain"}, pouring(size));
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK((read_file(scene.user.in_job("data/n")) == big_bytes(size)));
  CHECK(scene.litter() == "");
}

}  // namespace msprof::test
