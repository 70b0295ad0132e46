// --nfs on real boards. Replacements for mount and umount in the board's PATH mount a folder of
// this machine instead, as there is no NFS server. Needs permission to mount.
#include <signal.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <string>

#include "board/collect_board_fixture.hpp"
#include "support/files.hpp"
#include "support/network_proxy.hpp"
#include "support/small_disk.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

constexpr const char* kShare = "192.0.2.1:/home/me/profiling";

// The share, with a file of other users, and the board's replaced tools, which log their arguments.
struct Share {
  explicit Share(BoardServer& board) : home(board.home()) {
    fs::create_directories(folder() / "others");
    write_file(folder() / "others/file", "theirs");
    board.replace_tool("mount", "echo \"mount $*\" >> '" + log().string() +
                                    "'\nfor last; do :; done\nexec /bin/mount --bind '" +
                                    folder().string() + "' \"$last\"");
    board.replace_tool("umount",
                       "echo \"umount $*\" >> '" + log().string() + "'\nexec /bin/umount \"$@\"");
  }
  fs::path folder() const { return temp / "share"; }
  fs::path log() const { return temp / "log"; }
  std::string said() const { return fs::exists(log()) ? read_file(log()) : ""; }
  // The folders in the share, without the other users' folder.
  std::vector<std::string> runs() const {
    auto names = names_in(folder());
    std::erase(names, "others");
    return names;
  }
  // True if the other users' file is unchanged and the share is not mounted.
  bool is_untouched() const {
    return read_file(folder() / "others/file") == "theirs" && !is_mounted();
  }
  bool is_let_go() const {
    return eventually([&] { return !is_mounted(); });
  }
  // Checks only this board's mount: another test may have mounted the share.
  bool is_mounted() const { return contains(read_file("/proc/mounts"), home.string() + "/"); }

  TempFolder temp;
  fs::path home;  // the board's home folder
};

Words nfs() {
  return {"--nfs", kShare};
}

// A run that records into the share over a network that can break.
struct ShareScene {
  RunResult run(const Words& application, const std::function<void(const BoardCollecting&)>& end) {
    Words options = nfs();
    options.insert(options.end(), {"--reconnect", "1"});
    const BoardCollecting run(user, options, application);
    REQUIRE(eventually([&] { return fs::exists(user.at("ready")) || run.has_ended(); }));
    shorten_wait_for_lost_run(board);
    end(run);
    RunResult result = run.wait();
    INFO(result.err);
    CHECK(share.is_let_go());
    CHECK(share.is_untouched());
    return result;
  }
  Words endless() const { return {"job", kBoardJob, "ready", user.at("ready"), "hang"}; }
  void check_fetched() const {
    CHECK(names_in(user.output()) == kOnlyJob);
    CHECK(share.runs().empty());
    CHECK(litter_on(board) == "");
  }
  // The results were not fetched: they stay where they were recorded.
  void check_left() const {
    REQUIRE(share.runs().size() == 1);
    CHECK(fs::exists(share.folder() / share.runs().front() / kBoardJob / "info.json.0"));
    CHECK(litter_on(board) == "");
  }

  BoardServer board{{.kind = each_kind()}};
  NetworkProxy network{board.port(), {}, std::nullopt};
  const BoardUser user{board, network.port()};
  const Share share{board};
};

}  // namespace

TEST_CASE("--nfs records into a folder of the server and unmounts it afterwards") {
  if (!SmallDisk::is_available_or_skip()) return;
  BoardScene scene({.kind = each_kind()});
  const Share share(scene.board);
  const RunResult result =
      scene.user.collect(nfs(), {"job", kBoardJob, "big", "n", "100000", "write", "made", "x"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "records into " + std::string(kShare) + "/msprof_"));
  CHECK(contains(share.said(), "mount -t nfs -o nolock,tcp " + std::string(kShare) + " /"));
  CHECK(contains(share.said(), "/profiling\numount /"));
  CHECK((read_file(scene.user.in_job("data/n")) == big_bytes(100000)));
  CHECK(share.is_untouched());
  // The fetched results were removed, and the other users' files do not count as results.
  CHECK(share.runs().empty());
  CHECK(scene.arrived() == Words{kBoardJob, std::string(kBoardJob) + ".files"});
  CHECK(scene.litter() == "");
}

TEST_CASE("A folder that cannot be mounted ends the run before it starts") {
  if (!SmallDisk::is_available_or_skip()) return;
  BoardScene scene({.kind = each_kind()});
  const Share share(scene.board);
  scene.board.replace_tool("mount", "echo 'mount.nfs: access denied by server' >&2\nexit 32");
  const RunResult result = scene.user.collect(nfs(), {"job", kBoardJob});
  INFO(result.err);
  CHECK(result.exit_code == 5);
  CHECK(contains(result.err, "access denied by server"));
  CHECK(contains(result.err, kShare));
  CHECK(scene.arrived().empty());
  CHECK(share.is_untouched());
  CHECK(scene.litter() == "");
}

TEST_CASE("Ctrl-C unmounts the share after its results were fetched") {
  if (!SmallDisk::is_available_or_skip()) return;
  ShareScene scene;
  scene.run(scene.endless(), [](const BoardCollecting& run) { run.send(SIGINT); });
  scene.check_fetched();
}

TEST_CASE("A failed application's results are fetched from the share, which is unmounted") {
  if (!SmallDisk::is_available_or_skip()) return;
  ShareScene scene;
  scene.run({"job", kBoardJob, "exit", "3"}, [](const BoardCollecting&) {});
  scene.check_fetched();
}

TEST_CASE("After a lost connection the share is unmounted without removing files") {
  if (!SmallDisk::is_available_or_skip()) return;
  ShareScene scene;
  const RunResult result = scene.run(scene.endless(), [&](const BoardCollecting&) {
    scene.network.refuse(true);
    scene.network.cut_now();
  });
  scene.check_left();
  CHECK(contains(result.err, scene.share.runs().front()));
}

TEST_CASE("If msprof is killed, the board unmounts the share without removing files") {
  if (!SmallDisk::is_available_or_skip()) return;
  ShareScene scene;
  scene.run(scene.endless(), [](const BoardCollecting& run) { run.send(SIGKILL); });
  scene.check_left();
}

TEST_CASE("The value of --nfs is checked before anything is done") {
  const BoardScene scene;
  for (const std::string share : {"server", ":/x", "-o:/x", "server:x"}) {
    const RunResult result = scene.user.collect({"--nfs", share}, {});
    INFO(result.err);
    CHECK(result.exit_code == 2);
    CHECK(contains(result.err, "SERVER:/path"));
  }
  CHECK(scene.user.collect({"--nfs", kShare, "--drain"}, {}).exit_code == 2);
}

}  // namespace msprof::test
