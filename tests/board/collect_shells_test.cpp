// Accounts whose login shell is not POSIX-compatible: all SSH functions work as with other shells.
#include <signal.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "board/collect_views.hpp"
#include "board/server_fixture.hpp"
#include "support/require.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

struct LoginShell {
  std::string name;
  std::string profile;  // file that the shell reads before every command
  std::string noise;    // content of the profile
};

// BSD's C shell limits the length of words, tcsh expands "!", fish interprets backslashes.
std::vector<LoginShell> login_shells() {
  return {{"tcsh", ".tcshrc", "echo 'Welcome!'\nset history = 100\n"},
          {"bsd-csh", ".cshrc", "echo 'Welcome!'\nset history = 100\n"},
          {"fish", ".config/fish/config.fish", "echo Welcome\n"}};
}

// Returns false and skips if the shell is not installed.
bool give_account(const LoginShell& shell, BoardOptions& options) {
  options.login_shell = "/usr/bin/" + shell.name;
  return require_program_or_skip(shell.name);
}

}  // namespace

TEST_CASE("Collecting works with login shells of any kind") {
  const LoginShell shell = GENERATE_COPY(from_range(sample_for_case(login_shells(), 2)));
  INFO(shell.name);
  BoardOptions options;
  options.kind = each_kind();
  if (!give_account(shell, options)) return;
  BoardScene scene(options);
  write_file(scene.board.home() / shell.profile, shell.noise);
  const std::string odd = "it's!! $HOME `id` \\ \"q\" ^a^b^ \xe6\xb5\x8b\n-- !x end";
  const Words application = {"say",      odd,       "job",   kBoardJob,       "big",
                             "aicore.1", "3000001", "write", "made/new!.txt", odd};
  const RunResult run = scene.user.collect({"--env", "ODD=" + odd}, application);
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(run.out == odd + "\n");
  CHECK(scene.arrived() == Words{kBoardJob, std::string(kBoardJob) + ".files"});
  CHECK(read_file(scene.user.in_job("data/aicore.1")) == big_bytes(3000001));
  CHECK(read_file(scene.user.output() / (std::string(kBoardJob) + ".files") / "made/new!.txt") ==
        odd);
  CHECK(scene.litter() == "");

  // The board's copy exists already, and the run does not need its connection.
  const RunResult survived = scene.user.collect({"--survive"}, {"say", odd, "job", kOtherBoardJob});
  INFO(survived.err);
  CHECK(survived.exit_code == 0);
  CHECK(survived.out == odd + "\n");
  CHECK(scene.litter() == "");

  const RunResult doctor = run_msprof(
      {"doctor", "-m", "main", "--config", scene.user.ini().string()}, scene.user.run_options());
  INFO(doctor.out);
  CHECK(doctor.exit_code == 0);
  CHECK(contains(doctor.out, "the login shell prints before every command: \"Welcome"));

  const RunResult clean = run_msprof({"collect", "--config", scene.user.ini(), "--clean-board"},
                                     scene.user.run_options());
  CHECK(clean.exit_code == 0);
  CHECK_FALSE(fs::exists(scene.board.home() / "msprof"));
}

TEST_CASE("A run of a killed msprof can be continued with login shells of any kind") {
  const LoginShell shell = GENERATE_COPY(from_range(sample_for_case(login_shells(), 2)));
  INFO(shell.name);
  BoardOptions options;
  options.kind = each_kind();
  if (!give_account(shell, options)) return;
  BoardScene scene(options);
  const BoardCollecting first(scene.user, {"--survive", "--reconnect", kAmple},
                              {"job", kBoardJob, "ready", scene.user.at("ready"), "await",
                               scene.user.at("go"), "say", "over"});
  REQUIRE(eventually([&] { return fs::exists(scene.user.at("ready")) || first.has_ended(); }));
  first.send(SIGKILL);
  first.wait();
  write_file(scene.user.at("go"), "");
  const RunResult result = run_msprof({"collect", "--attach", "--config", scene.user.ini().string(),
                                       "--output", scene.user.output().string()},
                                      scene.user.run_options());
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "over\n"));
  CHECK(scene.arrived() == kOnlyJob);
  CHECK(scene.litter() == "");
}

TEST_CASE("An application on a server has its environment with login shells of any kind") {
  const LoginShell shell = GENERATE_COPY(from_range(sample_for_case(login_shells(), 2)));
  INFO(shell.name);
  BoardOptions options;
  if (!give_account(shell, options)) return;
  ServerScene scene(options);
  scene.add_cann();
  const RunResult result =
      scene.collect("infer", {"--remote-dir", "app", "--env", "MINE=1 2!"}, {"--images", "a b!!"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(scene.arrived() == Words{kProf});
  CHECK(scene.argv() == Words{(scene.home() / "app/infer").string(), "--images", "a b!!"});
  CHECK(scene.variable("MINE") == "1 2!");
  CHECK(scene.variable("LD_LIBRARY_PATH") == (scene.home() / "cann/lib64").string());
  CHECK(scene.litter() == "");
}

TEST_CASE("The output of a login shell that does not run commands is shown") {
  const std::string said = "This account is currently not available.";
  BoardOptions options;
  options.kind = each_kind();
  const TempFolder folder;
  options.login_shell = folder / "nologin";
  write_file(options.login_shell, "#!/bin/sh\necho '" + said + "'\nexit 1\n");
  fs::permissions(options.login_shell, fs::perms::owner_all);
  const BoardScene scene(options);
  const RunResult run = scene.user.collect({}, {"job", kBoardJob});
  INFO(run.err);
  CHECK(run.exit_code == 6);
  CHECK(contains(run.err, said));
  const RunResult doctor = run_msprof(
      {"doctor", "-m", "main", "--config", scene.user.ini().string()}, scene.user.run_options());
  INFO(doctor.out);
  CHECK(doctor.exit_code == 6);
  CHECK(contains(doctor.out, "commands: the login shell does not run commands: " + said));
}

}  // namespace msprof::test
