// One profiled run at a time: who holds a board, who may take over, and the end of a holder.
#include <signal.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "board/board_run_fixture.hpp"
#include "board/collect_board_fixture.hpp"
#include "board/session/info.hpp"
#include "board/session/link.hpp"
#include "support/files.hpp"
#include "support/network_proxy.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

Words endless_until_int(const BoardUser& user) {
  return {"job",    kBoardJob, "on-int", "write",          "JOB/data/last",
          "at INT", "end",     "ready",  user.at("ready"), "hang"};
}

bool is_ready(const BoardScene& scene, const BoardCollecting& run) {
  return eventually([&] { return fs::exists(scene.user.at("ready")) || run.has_ended(); });
}

// Returns the name of the only run on the board.
std::string only_run(const BoardServer& board) {
  const auto runs = names_in(board.home() / "msprof/runs");
  return runs.size() == 1 ? runs.front() : std::to_string(runs.size()) + " runs";
}

}  // namespace

TEST_CASE("A concurrent run is refused with the name of the lock's holder") {
  const BoardScene scene({.kind = each_kind()});
  const BoardCollecting first(scene.user, {}, endless_until_int(scene.user));
  REQUIRE(is_ready(scene, first));
  const std::string holder = only_run(scene.board);
  const BoardUser other(scene.board);
  const RunResult refused = other.collect({}, {"job", kOtherBoardJob});
  INFO(refused.err);
  CHECK(refused.exit_code == 6);
  CHECK(contains(refused.err, "is busy"));
  CHECK(contains(refused.err, holder));
  CHECK(contains(refused.err, "in progress"));
  CHECK(contains(refused.err, "--force"));
  CHECK(names_in(other.output()).empty());
  CHECK(find_litter(other) == "");
  first.send(SIGINT);
  const RunResult result = first.wait();
  INFO(result.err);
  CHECK(result.exit_code == 130);
  CHECK(read_file(scene.user.in_job("data/last")) == "at INT");
  CHECK(scene.litter() == "");
}

TEST_CASE("--force takes over a busy board, and the other run ends") {
  const BoardScene scene({.kind = each_kind()});
  const BoardCollecting first(scene.user, {}, endless_until_int(scene.user));
  REQUIRE(is_ready(scene, first));
  const BoardUser other(scene.board);
  const RunResult forced = other.collect({"--force"}, {"job", kOtherBoardJob});
  INFO(forced.err);
  CHECK(forced.exit_code == 0);
  CHECK(names_in(other.output()) == Words{kOtherBoardJob});
  CHECK_FALSE(first.has_ended());
  first.send(SIGINT);
  const RunResult result = first.wait();
  INFO(result.err);
  CHECK(result.exit_code == 130);
  CHECK(scene.arrived() == Words{kBoardJob});
  CHECK(read_file(scene.user.in_job("data/last")) == "at INT");
  CHECK(scene.litter() == "");
}

TEST_CASE("A run that took over the board keeps the lock") {
  const BoardScene scene;
  const BoardCollecting first(scene.user, {}, endless_until_int(scene.user));
  REQUIRE(is_ready(scene, first));
  const BoardUser other(scene.board);
  const BoardCollecting second(other, {"--force"}, endless_until_int(other));
  REQUIRE(eventually([&] { return fs::exists(other.at("ready")) || second.has_ended(); }));
  // When the first run ends, it must not release the second run's lock.
  first.send(SIGINT);
  CHECK(first.wait().exit_code == 130);
  const RunResult third = scene.user.collect({}, {"job", kOtherBoardJob});
  INFO(third.err);
  CHECK(third.exit_code == 6);
  CHECK(contains(third.err, only_run(scene.board)));
  second.send(SIGINT);
  CHECK(second.wait().exit_code == 130);
  CHECK(names_in(other.output()) == Words{kBoardJob});
  CHECK(scene.litter() + find_litter(other) == "");
}

TEST_CASE("A lock without a living holder is ignored") {
  const BoardScene scene({.kind = each_kind()});
  const fs::path lock = scene.board.home() / "msprof/lock";
  SECTION("its process is gone") {
    write_file(lock / "owner", "999999999 12345 20200101-000000-1 \n");
  }
  SECTION("another process has its number now") {
    write_file(lock / "owner", "1 999999999 20200101-000000-1 \n");
  }
  SECTION("it never said who it is") {
    fs::create_directories(lock);
  }
  SECTION("it wrote nonsense") {
    write_file(lock / "owner", "\x01 ../.. -rf /\n\n");
  }
  const RunResult result = scene.user.collect({}, {"job", kBoardJob});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(scene.arrived() == Words{kBoardJob});
  CHECK(scene.litter() == "");
}

TEST_CASE("Consecutive runs work, and the second uploads nothing") {
  const BoardScene scene({.kind = each_kind()});
  for (const auto& entry : fs::recursive_directory_iterator(scene.user.project())) {
    fs::last_write_time(entry, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  std::vector<std::uint64_t> bytes;
  for (const char* job : {kBoardJob, kOtherBoardJob}) {
    const RunResult result = scene.user.collect({"--json"}, {"job", job});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    const auto document = nlohmann::json::parse(result.out);
    for (const auto& step : document["steps"]) {
      if (step["name"] == "upload") bytes.push_back(step["bytes"]);
    }
  }
  REQUIRE(bytes.size() == 2);
  CHECK(bytes[0] > application_bytes());
  CHECK(bytes[1] == 0);
  CHECK(scene.arrived() == Words{kBoardJob, kOtherBoardJob});
}

TEST_CASE("While a board waits for a lost run, others are informed and can take over") {
  const BoardScene scene;
  // The reconnect limit outlasts the following steps on the slowest machine.
  const BoardCollecting first(scene.user, {"--reconnect", kAmple}, endless_until_int(scene.user));
  REQUIRE(is_ready(scene, first));
  first.send(SIGKILL);
  CHECK(first.wait().signal == SIGKILL);
  const BoardUser other(scene.board);
  RunResult refused;
  // The board takes a moment to notice that the connection is gone.
  REQUIRE(eventually([&] {
    refused = other.collect({}, {"job", kOtherBoardJob});
    return contains(refused.err, "has lost its connection") || refused.exit_code != 6;
  }));
  INFO(refused.err);
  CHECK(refused.exit_code == 6);
  CHECK(contains(refused.err, "about to be stopped"));
  const RunResult forced = other.collect({"--force"}, {"job", kOtherBoardJob});
  INFO(forced.err);
  CHECK(forced.exit_code == 0);
  CHECK(names_in(other.output()) == Words{kOtherBoardJob});
  // The application of the lost run is still ended, and its recording is kept.
  CHECK(litter_on(scene.board, 1) + find_litter(other) == "");
}

TEST_CASE("The board sends keepalive messages to detect a lost connection") {
  BoardServer board({.kind = each_kind()});
  // The board sends a byte every 10 s.
  board.replace_tool("sleep", "[ \"$1\" != 10 ] || set -- 0.5\nexec /usr/bin/sleep \"$@\"");
  const CutProxy network(board.port());
  BoardConfig config = make_config(board);
  config.login.port = network.port();
  config.login.host_key = HostKeyPolicy::accept_new;
  BoardShell shell(config.login);
  shell.connect();
  BoardLease lease(shell, "", "test-run", 0, false);
  lease.await();
  // The answer follows all earlier output of the board.
  REQUIRE(shell.ask({"asking nothing", "true"}, {}).has_succeeded());
  const auto before = network.bytes_down();
  CHECK(eventually([&] { return network.bytes_down() > before; }));
  lease.release();
  shell.disconnect();
  CHECK(litter_on(board) == "");
}

TEST_CASE("A run that lost the board by --force is not disturbed by later ones") {
  const BoardScene scene;
  const BoardCollecting first(scene.user, {}, endless_until_int(scene.user));
  REQUIRE(is_ready(scene, first));
  const BoardUser other(scene.board);
  CHECK(other.collect({"--force"}, {"job", kOtherBoardJob}).exit_code == 0);
  // The board's lock is free now, although an application is still running.
  CHECK(other.collect({}, {"job", kOtherBoardJob}).exit_code == 0);
  CHECK_FALSE(first.has_ended());
  first.send(SIGINT);
  const RunResult result = first.wait();
  INFO(result.err);
  CHECK(result.exit_code == 130);
  CHECK(read_file(scene.user.in_job("data/last")) == "at INT");
  CHECK(scene.litter() + find_litter(other) == "");
}

}  // namespace msprof::test
