// Connections that break during a run, and boards that disappear: data that can be saved arrives,
// and the board cleans up.
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "board/collect_board_fixture.hpp"
#include "board/collect_views.hpp"
#include "support/files.hpp"
#include "support/network_proxy.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kFirst = 6 << 20;
constexpr std::uint64_t kSecondFileBytes = 12 << 20;
constexpr std::uint64_t kPart = 3 << 20;
const Words kParts = {"n1", "n2", "n3", "n4", "n5", "n6"};

// The ways to transfer files: tar, SFTP, tar without SFTP, and cat.
const std::vector<BoardOptions> kEachWay = {{},
                                            {.without = {"tar"}},
                                            {.kind = BoardKind::dropbear},
                                            {.kind = BoardKind::dropbear, .without = {"tar"}}};

// A board behind a network that can break.
struct BrokenScene {
  explicit BrokenScene(const std::optional<Cut>& cut, const BoardOptions& options = {})
      : board(options), network(board.port(), {}, cut), user(board, network.port()) {}

  bool is_ready(const BoardCollecting& run) const {
    return eventually([&] { return fs::exists(user.at("ready")) || run.has_ended(); });
  }
  // Returns the only run that the board has kept.
  fs::path kept() const {
    const fs::path all = board.home() / "msprof/kept";
    const auto runs = names_in(all);
    return runs.empty() ? all : all / runs.front();
  }
  std::string litter(std::size_t kept_runs = 0) const {
    return litter_on(board, kept_runs) + find_litter(user);
  }

  BoardServer board;
  NetworkProxy network;
  BoardUser user;
};

// Adds two files to the project, sent in this order.
void add_models(BoardUser& user) {
  write_file(user.project() / "models/n1.om", big_bytes(kFirst));
  write_file(user.project() / "models/n2.om", big_bytes(kSecondFileBytes));
  // Recently changed files would be sent again in any case.
  for (const auto& entry : fs::recursive_directory_iterator(user.project())) {
    fs::last_write_time(entry, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  user.remember_project();
}

// Freezes the network at byte `after_bytes` of a connection until the test unfreezes it.
Cut frozen(std::uint64_t after_bytes, Direction direction) {
  return {.after_bytes = after_bytes, .direction = direction, .kind = CutKind::freeze};
}

// Records data, and more on TERM; otherwise runs forever.
Words endless_until_term(const BoardUser& user) {
  return {"job",     kBoardJob, "on-term", "write",          "JOB/data/last",
          "at TERM", "end",     "ready",   user.at("ready"), "hang"};
}

Words big_job() {
  Words words = {"job", kBoardJob};
  for (const std::string& name : kParts) {
    words.insert(words.end(), {"big", name, std::to_string(kPart)});
  }
  return words;
}

void check_gone_for_good(const BrokenScene& scene, const RunResult& result) {
  INFO(result.err);
  CHECK(result.exit_code == 6);
  CHECK(contains(result.err, "could not be restored within 1 s"));
  CHECK(contains(result.err, "--reconnect"));
  CHECK(names_in(scene.user.output()).empty());
}

// Checks that the board has ended a run whose msprof is gone, keeps its recording, and accepts the
// next run.
void check_ended_by_board(const BoardScene& scene) {
  // The next run removes the dead msprof's files from the output folder.
  CHECK(litter_on(scene.board, 1) == "");
  const RunResult next = scene.user.collect({}, {"job", kOtherBoardJob});
  INFO(next.err);
  CHECK(next.exit_code == 0);
  CHECK(scene.arrived() == Words{kOtherBoardJob});
  CHECK(scene.litter(1) == "");
}

}  // namespace

TEST_CASE("An interrupted upload continues over a new connection") {
  const auto kind = each_kind();
  const std::uint64_t whole = application_bytes() + kFirst;
  BrokenScene scene(Cut{.after_bytes = whole + kFirst, .direction = Direction::up}, {.kind = kind});
  add_models(scene.user);
  const RunResult result = scene.user.collect({"--reconnect", kAmple}, {"job", kBoardJob});
  INFO(result.err);
  CHECK(scene.network.cuts() == 1);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "connected to board@127.0.0.1"));
  CHECK(names_in(scene.user.output()) == kOnlyJob);
  // Files complete when the connection broke are not sent again.
  CHECK(scene.network.bytes_up() > whole + kSecondFileBytes);
  CHECK(scene.network.bytes_up() < whole + kFirst + kSecondFileBytes + kFirst);
  CHECK(scene.litter() == "");
}

TEST_CASE("An interrupted fetch continues over a new connection") {
  const auto kind = each_kind();
  BrokenScene scene(Cut{.after_bytes = 4 * kPart, .direction = Direction::down}, {.kind = kind});
  const RunResult result = scene.user.collect({"--reconnect", kAmple}, big_job());
  INFO(result.err);
  CHECK(scene.network.cuts() == 1);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "connected to board@127.0.0.1"));
  CHECK(names_in(scene.user.output()) == kOnlyJob);
  for (const std::string& name : kParts) {
    CHECK((read_file(scene.user.in_job("data") / name) == big_bytes(kPart)));
  }
  // At least two files were complete when the connection broke.
  CHECK(scene.network.bytes_down() > 6 * kPart);
  CHECK(scene.network.bytes_down() < (4 + 6 - 2) * kPart);
  CHECK(scene.litter() == "");
}

TEST_CASE("A connection lost within a large file loses no received byte") {
  constexpr std::uint64_t kLarge = 16 << 20;
  constexpr std::uint64_t kCut = 12 << 20;
  const BoardOptions board = GENERATE_COPY(from_range(sample_for_case(kEachWay, 2)));
  // After a close, data in transit still arrives.
  const Cut cut = {.after_bytes = kCut, .direction = Direction::down, .kind = CutKind::close};
  BrokenScene scene(cut, board);
  const RunResult result = scene.user.collect(
      {"--reconnect", kAmple, "-v"}, {"job", kBoardJob, "big", "large", std::to_string(kLarge)});
  INFO(result.err);
  CHECK(scene.network.cuts() == 1);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "large continues at "));
  CHECK((read_file(scene.user.in_job("data/large")) == big_bytes(kLarge)));
  CHECK(scene.network.bytes_down() > kLarge);
  CHECK(scene.network.bytes_down() < kLarge + kPart);
  CHECK(scene.litter() == "");
}

TEST_CASE(
    "After a lost connection the application is stopped with TERM, and its last records are "
    "fetched") {
  const auto kind = each_kind();
  BrokenScene scene(std::nullopt, {.kind = kind});
  const BoardCollecting run(scene.user, {"--reconnect", kAmple}, endless_until_term(scene.user));
  REQUIRE(scene.is_ready(run));
  scene.network.cut_now(GENERATE(CutKind::reset, CutKind::close));
  const RunResult result = run.wait();
  INFO(result.err);
  CHECK(result.exit_code == 6);
  CHECK(contains(result.err, "the connection was lost while main ran"));
  CHECK(names_in(scene.user.output()) == kOnlyJob);
  CHECK(read_file(scene.user.in_job("data/last")) == "at TERM");
  CHECK(scene.litter() == "");
}

TEST_CASE("Ctrl-C during the upload keeps the uploaded files for the next run and reports them") {
  const BoardOptions board = GENERATE_COPY(from_range(sample_for_case(kEachWay, 1)));
  const std::uint64_t whole = application_bytes() + kFirst;
  // The freeze is in the middle of the second model.
  BrokenScene scene(frozen(whole + kFirst, Direction::up), board);
  add_models(scene.user);
  const BoardCollecting run(scene.user, {"--json"}, {"job", kBoardJob});
  REQUIRE(eventually([&] { return scene.network.cuts() == 1 || run.has_ended(); }));
  run.send(SIGINT);
  scene.network.freeze(false);
  const RunResult result = run.wait();
  INFO(result.err);
  CHECK(result.exit_code == 130);
  CHECK(names_in(scene.user.output()).empty());
  const fs::path cache = scene.board.home() / "msprof/cache";
  const auto copies = names_in(cache);
  REQUIRE(copies.size() == 1);
  CHECK(contains(result.err, (cache / copies.front()).string()));
  CHECK(contains(result.err, "the next run sends the rest"));
  CHECK(contains(result.out, "\"remains\""));
  CHECK((read_file(cache / copies.front() / "models/n1.om") == big_bytes(kFirst)));
  const std::uint64_t part = fs::file_size(cache / copies.front() / "models/n2.om");
  CHECK(part >= kPart);
  CHECK(part < kSecondFileBytes);
  CHECK(scene.litter() == "");

  const std::uint64_t before = scene.network.bytes_up();
  const RunResult next = scene.user.collect({}, {"job", kBoardJob});
  INFO(next.err);
  CHECK(next.exit_code == 0);
  CHECK(contains(next.err, "n2.om continues at "));
  CHECK(scene.network.bytes_up() - before < kSecondFileBytes);
  CHECK((read_file(cache / copies.front() / "models/n2.om") == big_bytes(kSecondFileBytes)));
}

TEST_CASE("Ctrl-C within the first file keeps its uploaded part") {
  BrokenScene scene(frozen(kPart, Direction::up));
  write_file(scene.user.project() / "a.om", big_bytes(kSecondFileBytes));  // sent first
  scene.user.remember_project();
  const BoardCollecting run(scene.user, {}, {"job", kBoardJob});
  REQUIRE(eventually([&] { return scene.network.cuts() == 1 || run.has_ended(); }));
  run.send(SIGINT);
  scene.network.freeze(false);
  const RunResult result = run.wait();
  INFO(result.err);
  CHECK(result.exit_code == 130);
  CHECK(contains(result.err, "continues large files where this run stopped"));
  const fs::path cache = scene.board.home() / "msprof/cache";
  REQUIRE(names_in(cache).size() == 1);
  CHECK(names_in(cache / names_in(cache).front()) == Words{"a.om"});
  CHECK(scene.litter() == "");
}

TEST_CASE("Ctrl-C during the fetch loses no data") {
  const auto kind = each_kind();
  BrokenScene scene(frozen(kPart, Direction::down), {.kind = kind});
  const BoardCollecting run(scene.user, {}, big_job());
  REQUIRE(eventually([&] { return scene.network.cuts() == 1 || run.has_ended(); }));
  run.send(SIGINT);
  scene.network.freeze(false);
  const RunResult result = run.wait();
  INFO(result.err);
  CHECK(result.exit_code == 130);
  CHECK(names_in(scene.user.output()) == kOnlyJob);
  CHECK((read_file(scene.user.in_job("data/n6")) == big_bytes(kPart)));
  CHECK(scene.litter() == "");
}

TEST_CASE("An upload whose connection is lost for good leaves no files on either side") {
  BrokenScene scene(Cut{.after_bytes = application_bytes() + kSecondFileBytes,
                        .direction = Direction::up,
                        .refuse_afterwards = true},
                    {.kind = each_kind()});
  add_models(scene.user);
  shorten_wait_for_lost_run(scene.board);
  const RunResult result = scene.user.collect({"--reconnect", "1"}, {"job", kBoardJob});
  check_gone_for_good(scene, result);
  CHECK(scene.litter(0) == "");
}

TEST_CASE(
    "A fetch whose connection is lost for good leaves no local files, and the board keeps all") {
  BrokenScene scene(
      Cut{.after_bytes = 4 * kPart, .direction = Direction::down, .refuse_afterwards = true},
      {.kind = each_kind()});
  shorten_wait_for_lost_run(scene.board);
  const RunResult result = scene.user.collect({"--reconnect", "1"}, big_job());
  check_gone_for_good(scene, result);
  CHECK(scene.litter(1) == "");
  // The data is in the folder named by the messages.
  CHECK(contains(result.err, scene.kept().string()));
  CHECK(names_in(scene.kept() / kBoardJob / "data").size() == kParts.size() + 1);
  CHECK((read_file(scene.kept() / kBoardJob / "data/n6") == big_bytes(kPart)));
}

TEST_CASE(
    "An application whose connection is lost for good is stopped, and the board keeps its data") {
  // msprof detects a silent network only after 30 s, so this is tested only if tests_whole().
  const bool is_silent =
      GENERATE_COPY(from_range(tests_whole() ? std::vector{0, 1} : std::vector{0})) == 1;
  BrokenScene scene(std::nullopt, {.kind = each_kind()});
  const BoardCollecting run(scene.user, {"--reconnect", "1"}, endless_until_term(scene.user));
  REQUIRE(scene.is_ready(run));
  shorten_wait_for_lost_run(scene.board);
  // Refuses new connections, so that only the silence costs time; the board keeps its connection.
  if (is_silent) scene.network.freeze(true);
  scene.network.refuse(true);
  if (!is_silent) scene.network.cut_now();
  const RunResult result = run.wait();
  check_gone_for_good(scene, result);
  // Eventually, the board's TCP gives up, too.
  if (is_silent) scene.network.cut_now();
  CHECK(scene.litter(1) == "");
  CHECK(contains(result.err, scene.kept().string()));
  CHECK(read_file(scene.kept() / kBoardJob / "data/last") == "at TERM");
}

TEST_CASE("A board that restarts during a run is found again, and its data is fetched") {
  const auto kind = each_kind();
  BoardScene scene({.kind = kind});
  const BoardCollecting run(scene.user, {"--reconnect", kAmple}, endless_until_term(scene.user));
  REQUIRE(eventually([&] { return fs::exists(scene.user.at("ready")) || run.has_ended(); }));
  scene.board.stop();
  scene.board.start();
  const RunResult result = run.wait();
  INFO(result.err);
  CHECK(result.exit_code == 6);
  CHECK(contains(result.err, "connected to board@127.0.0.1"));
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(read_file(scene.user.in_job("data/aicore.0.m.1.1.1.0")) == "MSVP and records");
  CHECK(scene.litter() == "");
}

TEST_CASE("A board that returns with another host key ends the run and gets no password") {
  const auto [policy, kind] =
      GENERATE(std::pair<std::string, BoardKind>{"accept-new", BoardKind::dropbear},
               std::pair<std::string, BoardKind>{"off", BoardKind::openssh});
  BoardScene scene({.kind = kind, .key_login = false});
  scene.board.forget_host_key();
  configure(scene.user, scene.board.ini());
  const BoardCollecting run(scene.user,
                            {"--reconnect", kAmple, "--host-key", policy, "--ssh-config", "none"},
                            endless_until_term(scene.user));
  REQUIRE(eventually([&] { return fs::exists(scene.user.at("ready")) || run.has_ended(); }));
  const std::string accepted = scene.board.host_key_fingerprint();
  scene.board.change_host_key();
  const auto said_before = scene.board.log().size();
  // If another process accepts the new key meanwhile, this run still refuses it.
  scene.board.forget_host_key();
  const RunResult result = run.wait();
  INFO(result.err);
  CHECK(result.exit_code == 6);
  CHECK(contains(result.err, "could not be restored: " + scene.board.address() +
                                 ": the host key changed during the run: accepted was " +
                                 accepted));
  CHECK(contains(result.err, "presented was " + scene.board.host_key_fingerprint()));
  CHECK_FALSE(contains(result.err, "could not be restored within"));
  CHECK(count_occurrences(result.err, "presented was ") == 1);
  CHECK(contains(result.err, "/kept/"));
  const std::string log = scene.board.log().substr(said_before);
  for (const char* word : {"Failed", "Accepted", "assword auth"}) CHECK_FALSE(contains(log, word));
  CHECK(scene.arrived().empty());
}

TEST_CASE("A board that refuses the login after a reconnect is asked once") {
  BoardScene scene({.kind = BoardKind::openssh, .key_login = false});
  configure(scene.user, scene.board.ini());
  const BoardCollecting run(scene.user, {"--reconnect", kAmple}, endless_until_term(scene.user));
  REQUIRE(eventually([&] { return fs::exists(scene.user.at("ready")) || run.has_ended(); }));
  scene.board.stop();
  const fs::path config = scene.board.tools().parent_path() / "etc/sshd_config";
  write_file(config,
             "PasswordAuthentication no\nKbdInteractiveAuthentication no\n" + read_file(config));
  scene.board.start();
  const RunResult result = run.wait();
  INFO(result.err);
  CHECK(result.exit_code == 6);
  CHECK(
      contains(result.err, "could not be restored: " + scene.board.address() + ": login refused"));
  CHECK_FALSE(contains(result.err, "could not be restored within"));
  CHECK(scene.arrived().empty());
}

TEST_CASE("A board switched off during a run keeps its recording for the next run") {
  BoardScene scene;
  const BoardCollecting run(scene.user, {"--reconnect", "1"}, endless_until_term(scene.user));
  REQUIRE(eventually([&] { return fs::exists(scene.user.at("ready")) || run.has_ended(); }));
  scene.board.stop();
  const RunResult lost = run.wait();
  INFO(lost.err);
  CHECK(lost.exit_code == 6);
  CHECK(contains(lost.err, "could not be restored within 1 s"));
  CHECK(scene.arrived().empty());
  scene.board.start();
  const RunResult next = scene.user.collect({}, {"job", kOtherBoardJob});
  INFO(next.err);
  CHECK(next.exit_code == 0);
  CHECK(scene.arrived() == Words{kOtherBoardJob});
  const auto kept = names_in(scene.board.home() / "msprof/kept");
  REQUIRE(kept.size() == 1);
  CHECK(contains(next.err, "kept/" + kept.front()));
  CHECK(fs::exists(scene.board.home() / "msprof/kept" / kept.front() / kBoardJob / "data"));
  CHECK(scene.litter(1) == "");
}

TEST_CASE("A board whose msprof was killed stops the run itself and accepts the next one") {
  BoardScene scene({.kind = each_kind()});
  const BoardCollecting run(scene.user, {"--reconnect", "1"}, endless_until_term(scene.user));
  REQUIRE(eventually([&] { return fs::exists(scene.user.at("ready")) || run.has_ended(); }));
  shorten_wait_for_lost_run(scene.board);
  run.send(SIGKILL);
  CHECK(run.wait().signal == SIGKILL);
  check_ended_by_board(scene);
  const fs::path kept = scene.board.home() / "msprof/kept";
  CHECK(read_file(kept / names_in(kept).front() / kBoardJob / "data/last") == "at TERM");
}

TEST_CASE("After the third Ctrl-C the board kills an application that ignores TERM") {
  BoardScene scene({.kind = each_kind()});
  Words deaf = endless_until_term(scene.user);
  deaf.insert(deaf.begin(), "ignore-ends");
  const BoardCollecting run(scene.user, {"--reconnect", "1"}, deaf);
  REQUIRE(eventually([&] { return fs::exists(scene.user.at("ready")) || run.has_ended(); }));
  // Also shortens the 5 s for an application that ignores TERM.
  shorten_wait_for_lost_run(scene.board, kShortSleeps + 5);
  run.send(SIGINT);
  REQUIRE(eventually([&] { return contains(run.err(), "stopping main with its recording kept"); }));
  CHECK(eventually([&] {
    run.send(SIGINT);
    return run.has_ended();
  }));
  CHECK(run.wait().exit_code == 130);
  check_ended_by_board(scene);
}

}  // namespace msprof::test
