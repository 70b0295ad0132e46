// Captures on hosts without a scheduler, over a real sshd: their summaries are downloaded and
// merged.
#include "cluster/run/ssh_run.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "cluster/run/run_fixture.hpp"
#include "support/board_server.hpp"

using namespace msprof;
using namespace msprof::cluster;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

struct SshScene {
  BoardServer board{{.kind = BoardKind::openssh}};
  TempFolder folder;
  std::vector<fs::path> captures = write_job(board.home() / "prof", 3);

  RunResult run(const std::string& hosts, const std::string& msprof) const {
    write_file(folder / "hosts", hosts);
    auto variables = board.client_variables();
    variables.emplace_back("MSPROF_SSH_PASSWORD", board.password());
    return run_msprof(
        {"cluster", (board.home() / "prof").string(), "--output", (folder / "out").string(),
         "--ssh", (folder / "hosts").string(), "--remote-msprof", msprof},
        {{}, variables});
  }
};

}  // namespace

TEST_CASE("a hosts file is read, one host per line, with comments") {
  const auto hosts =
      parse_hosts("# nodes\nroot@n1\n\n  n2:2222  # the second\n[::1]:22\n", "f", "me");
  REQUIRE(hosts.size() == 3);
  CHECK(hosts[0].login.name() == "root@n1");
  CHECK(hosts[1].login.user == "me");
  CHECK(hosts[1].login.port == 2222);
  CHECK(hosts[2].login.host == "::1");
  CHECK_THROWS_WITH(parse_hosts("", "f", "me"), Catch::Contains("f lists no hosts"));
  CHECK_THROWS_WITH(parse_hosts("a\na\n", "f", "me"), Catch::Contains("f, line 2"));
  CHECK_THROWS_WITH(parse_hosts("a\nb:0\n", "f", "me"), Catch::Contains("f, line 2"));
  CHECK_THROWS_WITH(parse_hosts("-oProxyCommand=x\n", "f", "me"), Catch::Contains("f, line 1"));
}

TEST_CASE("the report of a host is parsed, and an invalid one is refused") {
  const RunReport report = parse_host_report(
      R"({"captures": [{"folder": "/a", "outcome": "failed", "reason": "no"},
                       {"folder": "/b", "outcome": "made"}],
          "problems": [{"path": "/c", "reason": "gone"}]})",
      "n1");
  REQUIRE(report.results.size() == 2);
  CHECK_FALSE(report.results[0].has_part());
  CHECK(report.results[0].reason == "no");
  CHECK(report.results[1].node == "n1");
  CHECK(report.problems.at(0).reason == "gone (on n1)");
  CHECK(parse_host_report(R"({"captures": [], "error": "no folder"})", "n1").lost.at(0).reason ==
        "no folder");
  for (const char* text : {"", "{", "[]", "7", R"({"captures": 7})", R"({"captures": [{}]})"})
    CHECK_THROWS_AS(parse_host_report(text, "n1"), Error);
}

TEST_CASE("parts are fetched over SSH and merged, and a lost host is reported") {
  const SshScene scene;
  const RunResult run = scene.run(scene.board.address() + "\nboard@127.0.0.1:1\n", msprof_path());
  INFO(run.err);
  CHECK(run.exit_code == 3);
  CHECK(says(run.err, "MISSING: all captures of board@127.0.0.1:1"));
  CHECK(says(run.err, "3 captures: 3 made"));
  REQUIRE(run_msprof({"cluster", (scene.board.home() / "prof").string(), "--output",
                      (scene.folder / "here").string()})
              .exit_code == 0);
  CHECK(read_file(scene.folder / "out/cluster.db") == read_file(scene.folder / "here/cluster.db"));

  const RunResult again = scene.run(scene.board.address() + "\n", msprof_path());
  INFO(again.err);
  CHECK(again.exit_code == 0);
  CHECK(says(again.err, "3 current"));
}

TEST_CASE("a host without msprof or with a truncated answer is reported and gives no part") {
  const SshScene scene;
  const RunResult without = scene.run(scene.board.address() + "\n", "/absent/msprof");
  INFO(without.err);
  CHECK(without.exit_code == 6);
  CHECK(says(without.err, "/absent/msprof not found"));
  CHECK_FALSE(fs::exists(scene.folder / "out/cluster.db"));

  const fs::path silent = write_script(scene.folder / "silent", "echo broken >&2; exit 1\n");
  const RunResult broken = scene.run(scene.board.address() + "\n", silent.string());
  INFO(broken.err);
  CHECK(broken.exit_code == 6);
  CHECK_FALSE(fs::exists(scene.folder / "out/cluster.db"));
}

TEST_CASE("a host can be an SSH configuration alias, behind a jump host") {
  const SshScene scene;
  const BoardServer gate;
  const fs::path home = scene.board.client_home() / ".ssh";
  write_file(home / "config", "Host node1\n  HostName 127.0.0.1\n  Port " +
                                  std::to_string(scene.board.port()) +
                                  "\n  User board\n  ProxyJump gate\nHost gate\n  HostName "
                                  "127.0.0.1\n  Port " +
                                  std::to_string(gate.port()) + "\n  User board\n  IdentityFile " +
                                  gate.client_key().string() + "\n");
  fs::permissions(home / "config", fs::perms::owner_read | fs::perms::owner_write);
  write_file(home / "known_hosts", read_file(home / "known_hosts") + read_file(gate.known_hosts()));
  const RunResult result = scene.run("node1\n", msprof_path());
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(says(gate.log(), "Accepted publickey"));
  CHECK(fs::exists(scene.folder / "out/cluster.db"));
}
