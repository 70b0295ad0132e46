// --drain on real boards: recordings that do not fit on them, and connections that break while
// draining.
#include <signal.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <random>
#include <string>

#include "base/host_name.hpp"
#include "board/collect_board_fixture.hpp"
#include "board/disk/drain_journal.hpp"
#include "board/disk/drainer.hpp"
#include "support/files.hpp"
#include "support/network_proxy.hpp"
#include "support/small_disk.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMb = 1 << 20;

// A run leaves about 8 MB of this disk for its recording.
constexpr std::uint64_t kDiskBytes = 10 * kMb;

// busybox cannot punch holes; many boards also have util-linux, which can. The user's file `listed`
// appears once the drain has listed the recording: each listing ends with a `df` in its folder, and
// the second `df` proves that a listing is complete.
void prepare_board(BoardServer& board, const BoardUser& user) {
  board.replace_tool("fallocate", "exec /usr/bin/fallocate \"$@\"");
  board.replace_tool("df", std::string("if [ -e ") + kBoardJob + "/data/n ]; then\n  if [ -e '" +
                               user.at("looked") + "' ]; then : >'" + user.at("listed") +
                               "'; fi\n  : >'" + user.at("looked") +
                               "'\nfi\nexec /bin/busybox df \"$@\"");
}

// Returns the bytes that a run on a small disk leaves for its recording.
std::uint64_t room_on(const SmallDisk& disk) {
  return fs::space(disk.path()).available - 2 * application_bytes();
}

// Writes a file that grows visibly, so that the drain need not wait until it is unchanged.
Words pouring(const BoardUser& user, std::uint64_t bytes) {
  return {"job",   kBoardJob,         "big",  "n", std::to_string(kDrainBlock),
          "await", user.at("listed"), "pour", "n", std::to_string(bytes)};
}

// Returns the drain's folder in the output folder; empty if there is no drain.
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

// Returns the drain's process on the board, a shell.
pid_t drain_process(const BoardServer& board) {
  for (const std::string& run : names_in(board.home() / "msprof/runs")) {
    const fs::path file = board.home() / "msprof/runs" / run / "drain.pid";
    if (fs::exists(file)) return std::stoi(read_file(file));
  }
  return 0;
}

// A run on a small disk whose msprof was killed while draining: the board has kept the rest.
struct KilledDrain {
  explicit KilledDrain(BoardKind kind)
      : board({.kind = kind, .home = disk.path() / "home"}), user(board) {
    prepare_board(board, user);
    const BoardCollecting run(user, {"--drain", "--reconnect", "1"},
                              pouring(user, 40 * room_on(disk)));
    // The first 4 MB are freed before the connection is lost.
    REQUIRE(is_draining(user, run, 5 * kMb));
    shorten_wait_for_lost_run(board);
    run.send(SIGKILL);
    run.wait();
    REQUIRE(eventually([&] { return !names_in(kept).empty(); }));
    REQUIRE(eventually([&] { return names_in(board.home() / "msprof/runs").empty(); }));
    REQUIRE(eventually([&] { return board.processes().empty(); }));
    name = names_in(kept).front();
    size = fs::file_size(rest());
  }
  // The file whose first part the board has freed.
  fs::path rest() const { return kept / name / kBoardJob / "data/n"; }
  std::string written() const { return big_bytes((size + 7) / 8 * 8).substr(0, size); }
  RunResult fetch(const fs::path& output, const Words& options = {}) const {
    Words words = {"collect",           "--fetch",  "--config",
                   user.ini().string(), "--output", output.string()};
    words.insert(words.end(), options.begin(), options.end());
    return run_msprof(words, user.run_options());
  }

  const SmallDisk disk{kDiskBytes};
  BoardServer board;
  const BoardUser user;
  const fs::path kept = board.home() / "msprof/kept";
  std::string name;
  std::uint64_t size = 0;
};

void check_fetch(const KilledDrain& scene, const fs::path& output) {
  CHECK((read_file(scene.rest()) != scene.written()));
  const RunResult result = scene.fetch(output);
  INFO(result.err);
  CHECK(result.exit_code == 0);  // the application's end was not seen
  CHECK(names_in(output) == kOnlyJob);
  CHECK((read_file(output / kBoardJob / "data/n") == scene.written()));
  CHECK_FALSE(fs::exists(output / kBoardJob / ".drained"));
  CHECK_FALSE(contains(result.err, "missing"));
  CHECK(drain_folder(scene.user).empty());
  CHECK(litter_on(scene.board) == "");
}

// `home`: the local folder named by the board's note. If `is_in_part`, it has only the first
// blocks; otherwise it is missing.
void check_refused_and_forced(const KilledDrain& scene, const fs::path& home, bool is_in_part) {
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
  CHECK(forced.exit_code == 3);
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
  CHECK(litter_on(scene.board) + find_litter(scene.user) == "");
}

}  // namespace

TEST_CASE("--drain: a run that records many times the free space completes") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(kDiskBytes);
  BoardScene scene({.kind = each_kind(), .home = disk.path() / "home"});
  prepare_board(scene.board, scene.user);
  const std::uint64_t times = tests_whole() ? 20 : 4;
  const std::uint64_t size = times * room_on(disk) + 12345;
  const RunResult result = scene.user.collect({"--drain"}, pouring(scene.user, size));
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "downloaded during the run"));
  CHECK(scene.arrived() == kOnlyJob);
  CHECK((read_file(scene.user.in_job("data/n")) == big_bytes(size)));
  CHECK(fs::exists(scene.user.in_job("data/n.done")));
  CHECK(fs::exists(scene.user.in_job("info.json.0")));
  CHECK_FALSE(fs::exists(scene.user.in_job(".drained")));
  CHECK(scene.litter() == "");
}

TEST_CASE("A drain restarts after a lost connection, and the run completes") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(kDiskBytes);
  BoardScene scene({.kind = each_kind(), .home = disk.path() / "home"});
  prepare_board(scene.board, scene.user);
  const std::uint64_t size = 3 * room_on(disk);
  const BoardCollecting run(scene.user, {"--drain", "-v"}, pouring(scene.user, size));
  for (std::uint64_t part = 1; part <= 4; ++part) {
    if (!is_draining(scene.user, run, part * size / 6)) break;
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

TEST_CASE("Files downloaded before a lost connection are joined with the rest on the board") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(kDiskBytes);
  BoardServer board({.kind = each_kind(), .home = disk.path() / "home"});
  NetworkProxy network(board.port(), {}, std::nullopt);
  const BoardUser user(board, network.port());
  prepare_board(board, user);
  const std::uint64_t room = room_on(disk);
  // Breaks at a random moment in a few megabytes of data.
  const std::uint64_t moment = std::random_device()() % room;
  CAPTURE(moment);
  const BoardCollecting run(user, {"--drain", "--reconnect", kAmple, "--keep"},
                            pouring(user, 40 * room));
  REQUIRE(is_draining(user, run, room + moment));
  network.cut_now(
      GENERATE_COPY(from_range(sample_for_case(std::vector{CutKind::reset, CutKind::close}, 1))));
  const RunResult result = run.wait();
  INFO(result.err);
  CHECK(result.exit_code == 6);
  CHECK(contains(result.err, "the connection was lost while main ran"));
  CHECK(names_in(user.output()) == kOnlyJob);
  const std::string bytes = read_file(user.in_job("data/n"));
  CHECK(bytes.size() > room + moment);
  CHECK((bytes == big_bytes(bytes.size() / 8 * 8).substr(0, bytes.size())));
  const fs::path kept = board.home() / "msprof/kept";
  const auto runs = names_in(kept);
  REQUIRE(runs.size() == 1);
  CHECK(bytes.size() == fs::file_size(kept / runs.front() / "profiling" / kBoardJob / "data/n"));
  CHECK(litter_on(board, 1) + find_litter(user) == "");
}

TEST_CASE("After msprof is killed, data freed on the board is on the local machine") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(kDiskBytes);
  BoardServer board({.kind = each_kind(), .home = disk.path() / "home"});
  const BoardUser user(board);
  prepare_board(board, user);
  const std::uint64_t room = room_on(disk);
  const BoardCollecting run(user, {"--drain", "--reconnect", "1"}, pouring(user, 40 * room));
  REQUIRE(is_draining(user, run, 2 * room));
  shorten_wait_for_lost_run(board);
  run.send(SIGKILL);
  run.wait();
  // The board ends the run and keeps its data.
  const fs::path kept = board.home() / "msprof/kept";
  REQUIRE(eventually([&] { return !names_in(kept).empty(); }));
  const std::string name = names_in(kept).front();
  const fs::path file = kept / name / kBoardJob / "data/n";
  REQUIRE(eventually([&] { return names_in(board.home() / "msprof/runs").empty(); }));
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

TEST_CASE("--fetch joins the data downloaded before msprof was killed with the board's rest") {
  if (!SmallDisk::is_available_or_skip()) return;
  const KilledDrain scene(each_kind());
  check_fetch(scene, scene.user.output());
  // The next run into the same folder removes what the killed msprof left there.
  CHECK(find_litter(scene.user) == "");
}

TEST_CASE("--fetch into another folder finds the downloaded data through the board's note") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk elsewhere(100 * kMb);  // links to files on another disk are impossible
  const KilledDrain scene(each_kind());
  check_fetch(scene, elsewhere.path() / "out");
}

TEST_CASE("Without the downloaded data --fetch changes nothing; --force reports what is missing") {
  if (!SmallDisk::is_available_or_skip()) return;
  const KilledDrain scene(each_kind());
  const fs::path home = drain_folder(scene.user);
  fs::rename(home, scene.user.at("other-laptop"));
  check_refused_and_forced(scene, home, false);
}

TEST_CASE("With part of the downloaded data --fetch changes nothing; --force uses that part") {
  if (!SmallDisk::is_available_or_skip()) return;
  const KilledDrain scene(each_kind());
  const fs::path home = drain_folder(scene.user);
  fs::resize_file(home / "raw" / kBoardJob / "data/n", 5 * kDrainBlock + 1);
  check_refused_and_forced(scene, home, true);
}

TEST_CASE("A board that cannot free space is reported, with the time until its disk is full") {
  BoardScene scene({.kind = each_kind()});
  // Each df reports 1 MB less; with little free space, the polling interval is short.
  scene.board.replace_tool("df",
                           "left=$(cat ~/left 2>/dev/null || echo 20000)\n"
                           "echo $((left > 2000 ? left - 1000 : left)) > ~/left\n"
                           "echo 'Filesystem 1024-blocks Used Available Capacity Mounted'\n"
                           "echo \"disk 100000 0 $left 0% /\"");
  const std::string end = scene.user.at("end");
  const BoardCollecting run(scene.user, {"--drain"},
                            {"job", kBoardJob, "big", "n", std::to_string(3 * kMb), "await", end});
  // Waits until both messages were printed.
  CHECK(eventually([&] {
    const std::string err = run.err();
    return run.has_ended() || (contains(err, "cannot free disk space during the run") &&
                               contains(err, "will be full in about"));
  }));
  write_file(end, "");
  const RunResult result = run.wait();
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "cannot free disk space during the run"));
  CHECK(contains(result.err, "will be full in about"));
  CHECK((read_file(scene.user.in_job("data/n")) == big_bytes(3 * kMb)));
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(scene.litter() == "");
}

TEST_CASE("A board without stat, tar and SFTP can be drained") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(kDiskBytes);
  BoardScene scene(
      {.kind = BoardKind::dropbear, .without = {"stat", "tar"}, .home = disk.path() / "home"});
  prepare_board(scene.board, scene.user);
  const std::uint64_t size = 3 * room_on(disk);
  const RunResult result = scene.user.collect({"--drain"}, pouring(scene.user, size));
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK((read_file(scene.user.in_job("data/n")) == big_bytes(size)));
  CHECK(scene.litter() == "");
}

}  // namespace msprof::test
