// Full disks on the board and the user's machine, and results that are numerous, big, or still
// being written.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "board/collect_board_fixture.hpp"
#include "support/files.hpp"
#include "support/loop_disk.hpp"
#include "support/small_disk.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMegabyte = 1 << 20;
// Space for two copies of the application on the board (cache and run), plus `more`.
std::uint64_t room_for_run(std::uint64_t more) {
  return 2 * application_bytes() + more;
}

// Output of df for a disk that is never full.
constexpr const char* kLyingDf =
    "echo 'Filesystem 1024-blocks Used Available Capacity Mounted'\n"
    "echo 'disk 100000000 0 100000000 0% /'";

fs::path only_kept(const BoardServer& board) {
  const fs::path all = board.home() / "msprof/kept";
  const auto runs = names_in(all);
  return runs.size() == 1 ? all / runs.front() : all / "not there";
}

}  // namespace

TEST_CASE("A project that is too big for the board's disk is not sent") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(room_for_run(12 * kMegabyte));
  BoardScene scene({.kind = each_kind(), .home = disk.path() / "home"});
  write_file(scene.user.project() / "models/n.om", big_bytes(20 * kMegabyte));
  scene.user.remember_project();
  const RunResult result = scene.user.collect({}, {"job", kBoardJob});
  INFO(result.err);
  CHECK(result.exit_code == 5);
  CHECK(contains(result.err, "the project needs"));
  CHECK(contains(result.err, "--board-dir"));
  CHECK(scene.arrived().empty());
  CHECK(scene.litter() == "");
}

TEST_CASE("Fetched files are synced to disk before the board's copy is removed") {
  const std::string kind = GENERATE("ext4", "xfs");
  CAPTURE(kind);
  if (!LoopDisk::is_available_or_skip(kind)) return;
  const LoopDisk disk(kind);
  const TempFolder folder;
  BoardScene scene({.kind = BoardKind::openssh});
  fs::remove(scene.user.output());
  fs::create_directory_symlink(disk.path(), scene.user.output());
  disk.sync();
  // Simulates a power cut just before the run is removed.
  const fs::path cut_image = folder / "cut";
  scene.board.replace_tool("rm", "[ ! -e \"$2/profiling\" ] || /usr/bin/cp --sparse=always '" +
                                     disk.image().string() + "' '" + cut_image.string() +
                                     "'\nexec /usr/bin/rm \"$@\"");
  const RunResult result = scene.user.collect(
      {}, {"job", kBoardJob, "big", "big", "3000000", "many", "small", "20", "write", "note", "x"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  REQUIRE(fs::exists(cut_image));
  const LoopDisk cut(kind, cut_image);
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(disk.path())) {
    if (!entry.is_regular_file() || entry.path().filename() == "run.json") continue;
    const std::string name = entry.path().lexically_relative(disk.path()).string();
    CAPTURE(name);
    ++files;
    REQUIRE(fs::exists(cut / name));
    CHECK((read_file(cut / name) == read_file(entry.path())));
  }
  CHECK(files > 20);
}

TEST_CASE("The free space left on a board's disk after the upload is reported") {
  if (!SmallDisk::is_available_or_skip()) return;
  // The project fits, but not the space reserved for the recording.
  const SmallDisk disk(room_for_run(12 * kMegabyte));
  BoardScene scene({.kind = BoardKind::openssh, .home = disk.path() / "home"});
  const std::uint64_t free = fs::space(disk.path()).available;
  write_file(scene.user.project() / "models/n.om",
             big_bytes(free - application_bytes() - 3 * kMegabyte));
  scene.user.remember_project();
  const RunResult result = scene.user.collect({}, {"job", kBoardJob});
  INFO(result.err);
  CHECK(result.exit_code == 5);
  CHECK(contains(result.err, "plus 8.0 MB for the recording"));
  CHECK(scene.litter() == "");
}

TEST_CASE("A board's disk that fills during the upload is reported") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(room_for_run(4 * kMegabyte));
  BoardScene scene({.kind = each_kind(), .home = disk.path() / "home"});
  scene.board.replace_tool("df", kLyingDf);
  write_file(scene.user.project() / "models/n.om", big_bytes(20 * kMegabyte));
  scene.user.remember_project();
  const RunResult result = scene.user.collect({}, {"job", kBoardJob});
  INFO(result.err);
  CHECK(result.exit_code == 5);
  CHECK(contains(result.err, "No space left on device"));
  CHECK(scene.arrived().empty());
  CHECK(scene.litter() == "");
  // With enough space, the next run works.
  fs::remove(scene.user.project() / "models/n.om");
  scene.user.remember_project();
  const RunResult next = scene.user.collect({}, {"job", kBoardJob});
  INFO(next.err);
  CHECK(next.exit_code == 0);
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(scene.litter() == "");
}

TEST_CASE(
    "A board's disk that fills during the run is reported, and the recorded data is fetched") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(room_for_run(30 * kMegabyte));
  const BoardScene scene({.kind = each_kind(), .home = disk.path() / "home"});
  const RunResult result = scene.user.collect({}, {"job", kBoardJob, "fill", "JOB/data/filler"});
  INFO(result.err);
  CHECK(contains(result.out, "No space left on device"));
  CHECK(result.exit_code == 3);
  CHECK(contains(result.err, "disk is full"));
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(fs::file_size(scene.user.in_job("data/filler")) > 20 * kMegabyte);
  CHECK(scene.litter() == "");
}

TEST_CASE(
    "Results too large for the local disk stay on the board, and the message gives their path") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(8 * kMegabyte);
  BoardScene scene({.kind = each_kind()});
  const Words application = {"job", kBoardJob, "big", "n", std::to_string(20 * kMegabyte)};
  SECTION("known in advance") {}
  SECTION("found during the transfer") {
    // Another program fills the disk before the first byte arrives.
    before_packing(scene.board, "cat /dev/zero >'" + (disk.path() / "filler").string() + "'");
  }
  Words words = scene.user.words({}, application);
  *(std::find(words.begin(), words.end(), scene.user.output().string())) =
      (disk.path() / "out").string();
  const RunResult result = run_msprof(words, scene.user.run_options());
  INFO(result.err);
  CHECK(result.exit_code == 5);
  CHECK(contains(result.err, "--output"));
  CHECK(contains(result.err, only_kept(scene.board).string()));
  CHECK(names_in(disk.path() / "out").empty());
  CHECK((read_file(only_kept(scene.board) / kBoardJob / "data/n") == big_bytes(20 * kMegabyte)));
  CHECK(scene.litter(1) == "");
}

TEST_CASE("Results that can be neither fetched nor moved to kept/ stay where they are") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(8 * kMegabyte);
  BoardScene scene;
  scene.board.replace_tool("mv", "case \"$*\" in *kept/*) exit 1 ;; esac\nexec /usr/bin/mv \"$@\"");
  Words words =
      scene.user.words({}, {"job", kBoardJob, "big", "n", std::to_string(20 * kMegabyte)});
  *(std::find(words.begin(), words.end(), scene.user.output().string())) =
      (disk.path() / "out").string();
  const RunResult result = run_msprof(words, scene.user.run_options());
  INFO(result.err);
  CHECK(result.exit_code == 5);
  const auto runs = names_in(scene.board.home() / "msprof/runs");
  REQUIRE(runs.size() == 1);
  const fs::path data = fs::path(kBoardJob) / "data/n";
  CHECK(fs::exists(scene.board.home() / "msprof/runs" / runs.front() / "profiling" / data));
  // A run leaves them while they cannot be moved; the next one moves them.
  CHECK(scene.user.collect({}, {"job", kBoardJob}).exit_code == 0);
  CHECK(fs::exists(scene.board.home() / "msprof/runs" / runs.front() / "profiling" / data));
  scene.board.replace_tool("mv", "exec /usr/bin/mv \"$@\"");
  CHECK(scene.user.collect({}, {"job", kOtherBoardJob}).exit_code == 0);
  CHECK((read_file(only_kept(scene.board) / data) == big_bytes(20 * kMegabyte)));
}

TEST_CASE("--keep keeps the whole run, too, if its results cannot be fetched") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(8 * kMegabyte);
  const BoardScene scene;
  Words words =
      scene.user.words({"--keep"}, {"job", kBoardJob, "big", "n", std::to_string(20 * kMegabyte)});
  *(std::find(words.begin(), words.end(), scene.user.output().string())) =
      (disk.path() / "out").string();
  const RunResult result = run_msprof(words, scene.user.run_options());
  INFO(result.err);
  CHECK(result.exit_code == 5);
  const fs::path kept = only_kept(scene.board);
  CHECK(fs::exists(kept / "tree"));
  CHECK((read_file(kept / "profiling" / kBoardJob / "data/n") == big_bytes(20 * kMegabyte)));
}

TEST_CASE("Ten thousand small files arrive") {
  const BoardScene scene({.kind = each_kind()});
  const RunResult result = scene.user.collect({}, {"job", kBoardJob, "many", "s", "10000"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(scene.arrived() == kOnlyJob);
  const auto names = names_in(scene.user.in_job("data"));
  CHECK(names.size() == 10'001);
  std::uint64_t whole = 0;
  for (const std::string& name : names) {
    if (fs::file_size(scene.user.in_job("data") / name) == 4096) ++whole;
  }
  CHECK(whole == 10'000);
  CHECK(scene.litter() == "");
}

TEST_CASE("A large file arrives byte for byte") {
  const BoardScene scene;
  const std::uint64_t size = (tests_whole() ? 200 : 70) * kMegabyte;
  const RunResult result =
      scene.user.collect({}, {"job", kBoardJob, "big", "n", std::to_string(size)});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK((read_file(scene.user.in_job("data/n")) == big_bytes(size)));
  CHECK(scene.litter() == "");
}

TEST_CASE(
    "A file still being written by the run's process stops growing and is fetched completely") {
  const BoardScene scene({.kind = each_kind()});
  const RunResult result = scene.user.collect(
      {"--keep"}, {"job", kBoardJob, "grow", "JOB/data/n", scene.user.at("grower")});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "left 1 process running; it was stopped"));
  CHECK(scene.arrived() == kOnlyJob);
  // --keep: the capture equals the copy on the board.
  const fs::path there = only_kept(scene.board) / "profiling" / kBoardJob / "data/n";
  CHECK((read_file(scene.user.in_job("data/n")) == read_file(there)));
  CHECK(scene.litter(1) == "");
}

TEST_CASE("A file that other processes keep writing is reported, and the rest is fetched") {
  BoardScene scene({.kind = each_kind()});
  // This writer does not belong to the run, so it is not stopped: it writes after each time the
  // file is packed or read.
  const std::string job = std::string("profiling/") + kBoardJob + "/data/n";
  const std::string write = "for n in '" + (scene.board.home() / "msprof/runs").string() + "'/*/" +
                            job + "; do\n  [ ! -e \"$n\" ] || echo more >>\"$n\"\ndone";
  after_packing(scene.board, write);
  scene.board.replace_tool("cat", "/usr/bin/cat \"$@\"\ncode=$?\n" + write + "\nexit $code");
  const RunResult result =
      scene.user.collect({}, {"job", kBoardJob, "big", "n", "1000", "write", "JOB/data/m", "all"});
  INFO(result.err);
  CHECK(result.exit_code == 3);
  CHECK(contains(result.err, "could not fetch "));
  CHECK(contains(result.err, "a process may still be writing"));
  CHECK(contains(result.err, kBoardJob));
  CHECK(contains(result.err, "data/n"));
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(read_file(scene.user.in_job("data/m")) == "all");
  CHECK(fs::file_size(scene.user.in_job("data/n")) > 1000);
  CHECK(scene.litter() == "");
}

}  // namespace msprof::test
