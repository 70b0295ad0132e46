// Applications on real boards: how they end, how they are stopped, and what they leave behind.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "board/board_run_fixture.hpp"
#include "board/case_sample.hpp"
#include "board/session/program.hpp"
#include "support/files.hpp"
#include "support/network_proxy.hpp"

using namespace msprof;
using namespace msprof::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

struct Connected {
  explicit Connected(const BoardOptions& options) : board(options), link(make_config(board), 30) {
    link.connect();
  }

  RunCommand make_run(const std::vector<std::string>& arguments,
                      const std::string& main = "/bin/sh") {
    RunCommand run;
    run.working_folder = board.home();
    run.main = main;
    run.arguments = arguments;
    run.sends_stdout_to_stderr = true;
    return run;
  }
  std::unique_ptr<BoardProgram> start(const RunCommand& run) {
    return std::make_unique<BoardProgram>(link, run);
  }
  ProgramEnd run_script(const std::string& script) {
    const auto program = start(make_run({"-c", script}));
    const auto end = program->wait(kHangLimit);
    REQUIRE(end);
    return *end;
  }
  bool is_clean() {
    return eventually([this] { return board.processes().empty(); });
  }
  fs::path at_home(const std::string& name) const { return board.home() / name; }

  BoardServer board;
  BoardLink link;
};

BoardOptions each_board() {
  const std::vector<BoardOptions> boards = {
      {.kind = BoardKind::openssh},
      {.kind = BoardKind::dropbear},
      {.kind = BoardKind::openssh, .userland = Userland::gnu},
      {.kind = BoardKind::dropbear, .without = {"setsid"}},
      {.kind = BoardKind::openssh, .greeting = "welcome to the board"}};
  return GENERATE_COPY(from_range(sample_for_case(boards, 3)));
}

}  // namespace

TEST_CASE("The exit of an application on a board is known exactly") {
  Connected on(each_board());
  CHECK(on.run_script("exit 0").exit_code == 0);
  CHECK(on.run_script("exit 7").exit_code == 7);
  const ProgramEnd killed = on.run_script("kill -SEGV $$");
  CHECK(killed.signal == SIGSEGV);
  CHECK_FALSE(killed.exit_code);
  CHECK(killed.start_error.empty());
}

TEST_CASE("An application gets its folder, its environment and its arguments as they are") {
  Connected on(each_board());
  fs::create_directories(on.at_home("my folder"));
  RunCommand run = on.make_run({"-c",
                                "printf '%s|' \"$PWD\" \"$X\" \"$LD_LIBRARY_PATH\" "
                                "\"$MSPROF_ACL_JSON\" \"$@\" > out",
                                "name", "a b", "it's", "", "$HOME", "*"});
  run.working_folder = on.at_home("my folder");
  run.environment = {"X=1 2;3", "LD_LIBRARY_PATH=/theirs"};
  run.libraries = "/ours/lib";
  run.acl_json = "/somewhere/acl.json";
  const auto program = on.start(run);
  REQUIRE(program->wait(kHangLimit));
  CHECK(read_file(on.at_home("my folder") / "out") ==
        on.at_home("my folder").string() +
            "|1 2;3|/ours/lib:/theirs|/somewhere/acl.json|a b|it's||$HOME|*|");
}

TEST_CASE("A program that cannot be started is reported with the reason") {
  Connected on(each_board());
  const auto why = [&](const std::string& main) {
    const auto program = on.start(on.make_run({}, main));
    const auto end = program->wait(kHangLimit);
    REQUIRE(end);
    return end->start_error;
  };
  write_file(on.at_home("plain"), "not executable");
  write_file(on.at_home("no_interpreter"), "#!/no/such/interpreter\n");
  fs::permissions(on.at_home("no_interpreter"), fs::perms::owner_all);
  CHECK_THAT(why("/no/such/program"), Contains("no such file"));
  CHECK_THAT(why(on.at_home("plain").string()), Contains("not executable"));
  CHECK_THAT(why(on.at_home("no_interpreter").string()), Contains("interpreter or loader"));
  RunCommand run = on.make_run({});
  run.working_folder = "/no/such/folder";
  const auto program = on.start(run);
  const auto end = program->wait(kHangLimit);
  REQUIRE(end);
  CHECK_THAT(end->start_error, Contains("working folder"));
}

TEST_CASE("TERM and KILL reach the application and its children") {
  Connected on(each_board());
  const auto program = on.start(on.make_run(
      {"-c", "trap 'echo ended > ended; exit 3' TERM; sleep 1000 & : > ready; wait; wait"}));
  REQUIRE(eventually([&] {
    CHECK_FALSE(program->wait(std::chrono::milliseconds(10)));
    return fs::exists(on.at_home("ready"));
  }));
  program->signal(SIGTERM);
  const auto end = program->wait(kHangLimit);
  REQUIRE(end);
  CHECK(end->exit_code == 3);
  CHECK(fs::exists(on.at_home("ended")));
  CHECK(on.is_clean());
}

TEST_CASE("An application that ignores TERM is killed, and said so") {
  Connected on(each_board());
  const auto program =
      on.start(on.make_run({"-c", "trap '' TERM INT; : > ready; while :; do sleep 1; done"}));
  REQUIRE(eventually([&] {
    program->wait(std::chrono::milliseconds(10));
    return fs::exists(on.at_home("ready"));
  }));
  program->signal(SIGTERM);
  CHECK_FALSE(program->wait(std::chrono::milliseconds(300)));
  program->signal(SIGKILL);
  const auto end = program->wait(kHangLimit);
  REQUIRE(end);
  CHECK(end->signal == SIGKILL);
  CHECK(on.is_clean());
}

TEST_CASE("Processes left by an application are stopped and counted") {
  Connected on(BoardOptions{.kind = each_kind(), .userland = Userland::gnu});
  // One child keeps stdout open; the other is in a new session with all streams closed. The
  // application exits once both are running `sleep`.
  const ProgramEnd end = on.run_script(
      "sleep 1000 & one=$!; setsid sleep 1000 </dev/null >/dev/null 2>&1 & two=$!; "
      "for pid in $one $two; do until [ \"$(cat /proc/$pid/comm)\" = sleep ]; do :; done; done; "
      "exit 5");
  CHECK(end.exit_code == 5);
  CHECK(end.left_over == 2);
  CHECK(on.is_clean());
}

TEST_CASE("Destroying a program object stops the application") {
  Connected on(each_board());
  {
    const auto program = on.start(on.make_run({"-c", ": > ready; sleep 1000"}));
    REQUIRE(eventually([&] {
      program->wait(std::chrono::milliseconds(10));
      return fs::exists(on.at_home("ready"));
    }));
  }
  CHECK(on.is_clean());
}

TEST_CASE("After a lost connection the application is stopped cleanly over a new one") {
  Connected on(each_board());
  const auto program = on.start(on.make_run(
      {"-c",
       "trap 'echo last > last; exit 0' TERM; : > ready; while :; do echo x; sleep 0.05; "
       "done"}));
  REQUIRE(eventually([&] {
    program->wait(std::chrono::milliseconds(10));
    return fs::exists(on.at_home("ready"));
  }));
  on.board.drop_connections();
  const auto end = program->wait(kHangLimit);
  REQUIRE(end);
  CHECK(end->is_connection_lost);
  CHECK(fs::exists(on.at_home("last")));
  on.link.close();
  CHECK(on.is_clean());
}

TEST_CASE("Input reaches an application without delay, however small its chunks") {
  Connected on(BoardOptions{.kind = each_kind()});
  // Each packet needs a separate read: with a pause of 20 ms each, this would take minutes.
  constexpr int kPackets = 10'000;
  int ends[2] = {-1, -1};
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
  std::jthread typist([out = ends[1]] {
    for (int i = 0; i < kPackets; ++i) (void)!::send(out, "x", 1, MSG_NOSIGNAL);
    ::close(out);
  });
  const int own_input = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  ::dup2(ends[0], STDIN_FILENO);
  ::close(ends[0]);
  const auto program = on.start(on.make_run({"-c", "wc -c > count"}));
  const auto end = program->wait(kHangLimit);
  // Unblocks the typist if it still waits.
  ::dup2(own_input, STDIN_FILENO);
  ::close(own_input);
  REQUIRE(end);
  CHECK(end->exit_code == 0);
  CHECK_THAT(read_file(on.at_home("count")), Contains(std::to_string(kPackets)));
}

TEST_CASE("Losing the connection during the start leaves no application running") {
  Connected on(BoardOptions{.kind = each_kind()});
  // The application starts before the board's answer arrives.
  DelayProxy line(on.board.port(), std::chrono::milliseconds(100));
  BoardConfig config = make_config(on.board);
  config.login.port = line.port();
  config.login.host_key = HostKeyPolicy::off;
  BoardLink link(config, 30);
  link.connect();
  const fs::path ready = on.at_home("ready");
  bool is_ready = false;
  std::jthread cutter([&] {
    is_ready = eventually([&] { return fs::exists(ready); });
    line.cut_now();
  });
  BoardProgram program(
      link, on.make_run({"-c",
                         "trap 'echo last > last; exit 0' TERM; : > ready; while :; do sleep 0.1; "
                         "done"}));
  const auto end = program.wait(kHangLimit);
  cutter.join();
  CHECK(is_ready);
  REQUIRE(end);
  CHECK(end->is_connection_lost);
  CHECK(fs::exists(on.at_home("last")));
  link.close();
  CHECK(on.is_clean());
}
