// Interrupted uploads of a large file continue at the same byte, and never combine two versions of
// it.
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <string>

#include "board/collect_board_fixture.hpp"
#include "board/transfer/range_sum.hpp"
#include "board/transfer/upload_parts.hpp"
#include "support/files.hpp"
#include "support/network_proxy.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kModelBytes = 14 << 20;
constexpr std::uint64_t kCutAt = 9 << 20;
constexpr std::uint64_t kSlack = 4 << 20;  // for data in transit, the application, handshakes

struct PartScene {
  PartScene(const BoardOptions& options, const std::optional<Cut>& cut)
      : board(options), network(board.port(), {}, cut), user(board, network.port()) {
    write_model(big_bytes(kModelBytes));
  }
  void write_model(const std::string& bytes) {
    write_file(user.project() / "big.om", bytes);
    for (const auto& entry : fs::recursive_directory_iterator(user.project()))
      fs::last_write_time(entry, fs::file_time_type::clock::now() - std::chrono::hours(1));
    user.remember_project();
  }
  fs::path copy() const {
    const fs::path cache = board.home() / "msprof/cache";
    for (const std::string& name : names_in(cache)) {
      if (fs::is_directory(cache / name)) return cache / name / "big.om";
    }
    return cache;
  }

  BoardServer board;
  NetworkProxy network;
  BoardUser user;
};

const std::vector<BoardOptions> kEachWay = {
    {},
    {.kind = BoardKind::dropbear},
    {.without = {"tar"}},
    {.kind = BoardKind::dropbear, .without = {"tar"}},
    {.kind = BoardKind::dropbear, .without = {"sha256sum"}},
    {.kind = BoardKind::dropbear, .without = {"sha256sum", "cksum"}},
};

Cut cut_at(CutKind kind) {
  return {.after_bytes = kCutAt, .direction = Direction::up, .kind = kind};
}

// A board that holds a part of the model, from a run ended by a signal.
struct EndedUpload : PartScene {
  explicit EndedUpload(int signal)
      : PartScene(GENERATE_COPY(from_range(sample_for_case(kEachWay, 1))),
                  cut_at(CutKind::freeze)) {
    const BoardCollecting run(user, {"--reconnect", "0"}, {"job", kBoardJob});
    REQUIRE(eventually([&] { return network.cuts() == 1 || run.has_ended(); }));
    shorten_wait_for_lost_run(board);
    run.send(signal);
    network.freeze(false);
    const RunResult ended = run.wait();
    INFO(ended.err);
    CHECK((ended.exit_code == 130 || ended.signal == SIGKILL));
    CHECK(litter_on(board) == "");
    CHECK(fs::file_size(copy()) >= kSlack);
  }
};

// Runs a project with a large model in place on the board with --no-upload.
RunResult run_there(const BoardUser& user, const fs::path& there, const Words& options,
                    const Words& application) {
  Words all = {"--no-upload", "--remote-dir", there.string(), "-v"};
  all.insert(all.end(), options.begin(), options.end());
  RunOptions run = user.run_options();
  run.folder = user.output();
  return run_msprof(user.words(all, application), run);
}

}  // namespace

TEST_CASE("The checksum equals that of POSIX cksum(1)") {
  Cksum sum;
  CHECK(sum.value() == 4294967295U);
  sum.add("1234");
  sum.add("56789");
  CHECK(sum.value() == 930766865U);  // printf 123456789 | cksum
}

TEST_CASE("An upload interrupted within a large file continues there") {
  const BoardOptions board = GENERATE_COPY(from_range(sample_for_case(kEachWay, 2)));
  PartScene scene(board, cut_at(CutKind::close));
  const RunResult result = scene.user.collect({"--reconnect", kAmple}, {"job", kBoardJob});
  INFO(result.err);
  CHECK(scene.network.cuts() == 1);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "big.om continues at "));
  CHECK((read_file(scene.copy()) == big_bytes(kModelBytes)));
  CHECK(scene.network.bytes_up() > kModelBytes);
  CHECK(scene.network.bytes_up() < kModelBytes + application_bytes() + kSlack);
  CHECK(litter_on(scene.board) + find_litter(scene.user) == "");
}

TEST_CASE("The next run continues the upload of an interrupted or killed one") {
  EndedUpload scene(GENERATE_COPY(from_range(sample_for_case(std::vector{SIGINT, SIGKILL}, 1))));
  const std::uint64_t before = scene.network.bytes_up();
  const RunResult next = scene.user.collect({}, {"job", kBoardJob});
  INFO(next.err);
  CHECK(next.exit_code == 0);
  CHECK((read_file(scene.copy()) == big_bytes(kModelBytes)));
  CHECK(contains(next.err, "big.om continues at "));
  CHECK(scene.network.bytes_up() - before < kModelBytes - kCutAt + application_bytes() + kSlack);
}

TEST_CASE("The next run sends a file again if its part on the board is of another version") {
  EndedUpload scene(GENERATE_COPY(from_range(sample_for_case(std::vector{SIGINT, SIGKILL}, 1))));
  std::string bytes = big_bytes(kModelBytes);
  bytes[kSlack / 2] ^= 1;  // same size and same time
  scene.write_model(bytes);
  const std::uint64_t before = scene.network.bytes_up();
  const RunResult next = scene.user.collect({}, {"job", kBoardJob});
  INFO(next.err);
  CHECK(next.exit_code == 0);
  CHECK((read_file(scene.copy()) == bytes));
  CHECK(scene.network.bytes_up() - before > kModelBytes);
}

TEST_CASE("--no-upload links large files and reports changes in them") {
  BoardScene scene({.kind = each_kind()});
  const fs::path there = scene.board.home() / "app";
  fs::copy(scene.user.project(), there, fs::copy_options::recursive);
  write_file(there / "big.om", big_bytes(4 << 20));
  fs::permissions(there / "big.om",
                  fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  const std::string before = fingerprint(there);
  const bool survives = GENERATE(false, true);
  const Words options = survives ? Words{"--survive", "--keep"} : Words{"--keep"};
  const RunResult run =
      run_there(scene.user, there, options,
                {"job", kBoardJob, "append", "acl.json", " ", "write", "made", "x"});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(contains(run.err, "hard links"));
  CHECK_FALSE(contains(run.err, "changed during the run"));
  CHECK(fingerprint(there) == before);
  // The run, which is kept, has a hard link to the file.
  CHECK(fs::hard_link_count(there / "big.om") == 2);

  const RunResult writes = run_there(scene.user, there, survives ? Words{"--survive"} : Words{},
                                     {"job", kOtherBoardJob, "append", "big.om", "more"});
  INFO(writes.err);
  CHECK(writes.exit_code == 0);
  CHECK(contains(writes.err, "changed during the run"));
  CHECK(contains(writes.err, (there / "big.om").string()));
  CHECK(fs::exists(scene.user.output() / (std::string(kOtherBoardJob) + ".files") / "big.om"));
}

TEST_CASE("--no-upload on a board without hard links uses links or a copy, with a message") {
  BoardScene scene;
  const fs::path there = scene.board.home() / "app";
  fs::copy(scene.user.project(), there, fs::copy_options::recursive);
  write_file(there / "big.om", big_bytes(4 << 20));
  const std::string before = fingerprint(there);
  const bool no_links = GENERATE(false, true);
  // Simulates a runs folder on another file system, or on one without links.
  scene.board.replace_tool("cp", std::string("case $1 in -al") + (no_links ? "|-as" : "") +
                                     ") exit 1 ;; esac\nexec /bin/cp \"$@\"");
  const RunResult run =
      run_there(scene.user, there, {"--keep"}, {"job", kBoardJob, "write", "made", "x"});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(contains(run.err, no_links ? "second copy" : "different file systems"));
  CHECK(fingerprint(there) == before);
  const fs::path kept = scene.board.home() / "msprof/kept";
  const fs::path tree = kept / names_in(kept).front() / "tree/app";
  CHECK(fs::is_symlink(tree / "big.om") == !no_links);
  CHECK_FALSE(fs::is_symlink(tree / "main"));
  CHECK((read_file(tree / "big.om") == big_bytes(4 << 20)));
}

}  // namespace msprof::test
