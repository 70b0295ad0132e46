// Connections that break while a run is on its way, and boards that go away: what can be saved
// arrives, and the board cleans itself.
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "board/collect_board_fixture.hpp"
#include "support/files.hpp"
#include "support/network_proxy.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kFirst = 6 << 20;
constexpr std::uint64_t kSecondFileBytes = 12 << 20;
constexpr std::uint64_t kPart = 3 << 20;
const Words kParts = {"n1", "n2", "n3", "n4", "n5", "n6"};

// A board behind a network that breaks.
struct BrokenScene {
  explicit BrokenScene(const std::optional<Cut>& cut, const BoardOptions& options = {})
      : board(options), network(board.port(), {}, cut), user(board, network.port()) {}

  bool is_ready(const BoardCollecting& run) const {
    return eventually([&] { return fs::exists(user.at("ready")) || run.has_ended(); });
  }
  // What the board kept of the only run that it kept something of.
  fs::path kept() const {
    const fs::path all = board.home() / ".msprof/kept";
    const auto runs = names_in(all);
    return runs.empty() ? all : all / runs.front();
  }
  std::string litter(std::size_t kept_runs = 0) const {
    return litter_on(board, kept_runs) + litter_of(user);
  }

  BoardServer board;
  NetworkProxy network;
  BoardUser user;
};

// Two files beside the application, sent in this order.
void add_models(BoardUser& user) {
  write_file(user.project() / "models/n1.om", big_bytes(kFirst));
  write_file(user.project() / "models/n2.om", big_bytes(kSecondFileBytes));
  // What was written just now would be sent again in any case.
  for (const auto& entry : fs::recursive_directory_iterator(user.project())) {
    fs::last_write_time(entry, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  user.remember_project();
}

// The network stands still at that byte of a connection, until the test lets it go on.
Cut frozen(std::uint64_t after_bytes, Direction direction) {
  return {.after_bytes = after_bytes, .direction = direction, .kind = CutKind::freeze};
}

// Records something, and at TERM its last; goes on for ever otherwise.
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

}  // namespace

TEST_CASE("An upload that is cut goes on over a new connection with what is missing") {
  const auto kind = GENERATE(BoardKind::openssh, BoardKind::dropbear);
  const std::uint64_t whole = application_bytes() + kFirst;
  BrokenScene scene(Cut{.after_bytes = whole + kFirst, .direction = Direction::up}, {.kind = kind});
  add_models(scene.user);
  const RunResult result = scene.user.collect({"--reconnect", kAmple}, {"job", kBoardJob});
  INFO(result.err);
  CHECK(scene.network.cuts() == 1);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "connected to board@127.0.0.1"));
  CHECK(names_in(scene.user.output()) == kOnlyJob);
  // What was whole when the connection broke is not sent again.
  CHECK(scene.network.bytes_up() > whole + kSecondFileBytes);
  CHECK(scene.network.bytes_up() < whole + kFirst + kSecondFileBytes + kFirst);
  CHECK(scene.litter() == "");
}

TEST_CASE("A fetch that is cut goes on over a new connection with what is missing") {
  const auto kind = GENERATE(BoardKind::openssh, BoardKind::dropbear);
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
  // At least two files were whole when the connection broke.
  CHECK(scene.network.bytes_down() > 6 * kPart);
  CHECK(scene.network.bytes_down() < (4 + 6 - 2) * kPart);
  CHECK(scene.litter() == "");
}

TEST_CASE("A cut in the middle of a large file costs no byte of it that has come") {
  constexpr std::uint64_t kLarge = 40 << 20;
  constexpr std::uint64_t kCut = 30 << 20;
  const BoardOptions board = GENERATE(
      BoardOptions{}, BoardOptions{.without = {"tar"}}, BoardOptions{.kind = BoardKind::dropbear},
      BoardOptions{.kind = BoardKind::dropbear, .without = {"tar"}});
  // At an end of the stream what is under way still comes.
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

TEST_CASE("An application whose connection is cut is ended with TERM, and its last arrives") {
  const auto kind = GENERATE(BoardKind::openssh, BoardKind::dropbear);
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

TEST_CASE("Ctrl-C during the upload leaves what has come, says so, and the next run uses it") {
  const BoardOptions board = GENERATE(
      BoardOptions{}, BoardOptions{.without = {"tar"}}, BoardOptions{.kind = BoardKind::dropbear},
      BoardOptions{.kind = BoardKind::dropbear, .without = {"tar"}});
  const std::uint64_t whole = application_bytes() + kFirst;
  // In the middle of the second model.
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
  const fs::path cache = scene.board.home() / ".msprof/cache";
  const auto copies = names_in(cache);
  REQUIRE(copies.size() == 1);
  CHECK(contains(result.err, (cache / copies.front()).string()));
  CHECK(contains(result.err, "the next run sends the others"));
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
  CHECK(contains(next.err, "n2.om goes on at "));
  CHECK(scene.network.bytes_up() - before < kSecondFileBytes);
  CHECK((read_file(cache / copies.front() / "models/n2.om") == big_bytes(kSecondFileBytes)));
}

TEST_CASE("Ctrl-C before a whole file has arrived leaves the part of it") {
  BrokenScene scene(frozen(kPart, Direction::up));
  write_file(scene.user.project() / "a.om", big_bytes(kSecondFileBytes));  // the first to be sent
  scene.user.remember_project();
  const BoardCollecting run(scene.user, {}, {"job", kBoardJob});
  REQUIRE(eventually([&] { return scene.network.cuts() == 1 || run.has_ended(); }));
  run.send(SIGINT);
  scene.network.freeze(false);
  const RunResult result = run.wait();
  INFO(result.err);
  CHECK(result.exit_code == 130);
  CHECK(contains(result.err, "goes on with large files where this one stopped"));
  const fs::path cache = scene.board.home() / ".msprof/cache";
  REQUIRE(names_in(cache).size() == 1);
  CHECK(names_in(cache / names_in(cache).front()) == Words{"a.om"});
  CHECK(scene.litter() == "");
}

TEST_CASE("Ctrl-C during the fetch does not lose what is on its way") {
  const auto kind = GENERATE(BoardKind::openssh, BoardKind::dropbear);
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

TEST_CASE("A connection that is gone for good leaves nothing here, and the board cleans itself") {
  const Words options = {"--reconnect", "1"};
  BrokenScene up(Cut{.after_bytes = application_bytes() + kSecondFileBytes,
                     .direction = Direction::up,
                     .connections = 1,
                     .refuse_afterwards = true},
                 {.kind = BoardKind::dropbear});
  add_models(up.user);
  BrokenScene down(Cut{.after_bytes = 4 * kPart,
                       .direction = Direction::down,
                       .connections = 1,
                       .refuse_afterwards = true});
  BrokenScene between(std::nullopt, {.kind = BoardKind::dropbear});
  BrokenScene silent(std::nullopt);
  const BoardCollecting sending(up.user, options, {"job", kBoardJob});
  const BoardCollecting fetching(down.user, options, big_job());
  const BoardCollecting running(between.user, options, endless_until_term(between.user));
  const BoardCollecting waiting(silent.user, options, endless_until_term(silent.user));
  REQUIRE(silent.is_ready(waiting));
  // New connections are refused, so that only the silence takes its time; the board's end stays
  // open.
  silent.network.freeze(true);
  silent.network.refuse(true);
  REQUIRE(between.is_ready(running));
  for (BrokenScene* scene : {&up, &down, &between, &silent}) {
    shorten_wait_for_lost_run(scene->board);
  }
  between.network.refuse(true);
  between.network.cut_now();

  for (const BoardCollecting* run : {&sending, &fetching, &running, &waiting}) {
    const RunResult result = run->wait();
    INFO(result.err);
    CHECK(result.exit_code == 6);
    CHECK(contains(result.err, "could not be reached again within 1 s"));
    CHECK(contains(result.err, "--reconnect"));
  }
  CHECK(names_in(up.user.output()).empty());
  CHECK(names_in(down.user.output()).empty());
  CHECK(names_in(between.user.output()).empty());
  CHECK(names_in(silent.user.output()).empty());
  // In the end the board's TCP gives up, too.
  silent.network.cut_now();

  CHECK(up.litter(0) == "");
  CHECK(down.litter(1) == "");
  CHECK(between.litter(1) == "");
  CHECK(silent.litter(1) == "");
  // Where the messages said that it would be.
  CHECK(contains(fetching.err(), down.kept().string()));
  CHECK(contains(running.err(), between.kept().string()));
  CHECK(names_in(down.kept() / kBoardJob / "data").size() == kParts.size() + 1);
  CHECK((read_file(down.kept() / kBoardJob / "data/n6") == big_bytes(kPart)));
  CHECK(read_file(between.kept() / kBoardJob / "data/last") == "at TERM");
}

TEST_CASE("A board that starts anew during a run is found again, and what it has arrives") {
  const auto kind = GENERATE(BoardKind::openssh, BoardKind::dropbear);
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

TEST_CASE("A board that is switched off during a run has what it recorded for the next one") {
  BoardScene scene;
  const BoardCollecting run(scene.user, {"--reconnect", "1"}, endless_until_term(scene.user));
  REQUIRE(eventually([&] { return fs::exists(scene.user.at("ready")) || run.has_ended(); }));
  scene.board.stop();
  const RunResult lost = run.wait();
  INFO(lost.err);
  CHECK(lost.exit_code == 6);
  CHECK(contains(lost.err, "could not be reached again within 1 s"));
  CHECK(scene.arrived().empty());
  scene.board.start();
  const RunResult next = scene.user.collect({}, {"job", kOtherBoardJob});
  INFO(next.err);
  CHECK(next.exit_code == 0);
  CHECK(scene.arrived() == Words{kOtherBoardJob});
  const auto kept = names_in(scene.board.home() / ".msprof/kept");
  REQUIRE(kept.size() == 1);
  CHECK(contains(next.err, "kept/" + kept.front()));
  CHECK(fs::exists(scene.board.home() / ".msprof/kept" / kept.front() / kBoardJob / "data"));
  CHECK(scene.litter(1) == "");
}

TEST_CASE("A board whose msprof was killed ends the run itself, and takes the next one") {
  BoardScene killed({.kind = BoardKind::dropbear});
  BoardScene interrupted;
  const Words options = {"--reconnect", "1"};
  const BoardCollecting first(killed.user, options, endless_until_term(killed.user));
  Words deaf = endless_until_term(interrupted.user);
  deaf.insert(deaf.begin(), "ignore-ends");
  const BoardCollecting second(interrupted.user, options, deaf);
  REQUIRE(eventually([&] { return fs::exists(killed.user.at("ready")) || first.has_ended(); }));
  REQUIRE(
      eventually([&] { return fs::exists(interrupted.user.at("ready")) || second.has_ended(); }));
  for (BoardScene* scene : {&killed, &interrupted}) shorten_wait_for_lost_run(scene->board);
  first.send(SIGKILL);
  CHECK(first.wait().signal == SIGKILL);
  second.send(SIGINT);
  REQUIRE(eventually([&] { return contains(second.err(), "asking main to end"); }));
  CHECK(eventually([&] {
    second.send(SIGINT);
    return second.has_ended();
  }));
  CHECK(second.wait().exit_code == 130);

  for (BoardScene* scene : {&killed, &interrupted}) {
    // What msprof itself left here goes with the next run.
    CHECK(litter_on(scene->board, 1) == "");
    const RunResult next = scene->user.collect({}, {"job", kOtherBoardJob});
    INFO(next.err);
    CHECK(next.exit_code == 0);
    CHECK(scene->arrived() == Words{kOtherBoardJob});
    CHECK(scene->litter(1) == "");
  }
  const fs::path kept = killed.board.home() / ".msprof/kept";
  CHECK(read_file(kept / names_in(kept).front() / kBoardJob / "data/last") == "at TERM");
}

}  // namespace msprof::test
