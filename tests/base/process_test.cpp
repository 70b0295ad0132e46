// Child processes: what a program prints and leaves behind, and how it ends.
#include "base/process.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/interrupt.hpp"

namespace msprof {

namespace {

// Longer than any test: these tests do not reach it.
constexpr std::chrono::milliseconds kLimit = std::chrono::hours(1);

// Returns true for a process that has not ended, whether or not it has been reaped.
bool is_running(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string number, name, state;
  return static_cast<bool>(file >> number >> name >> state) && state != "Z" && state != "X";
}

}  // namespace

TEST_CASE("a tool's output and exit code are returned") {
  const ToolAnswer answer = run_tool({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}, kLimit);
  CHECK(answer.end.exit_code == 3);
  CHECK(answer.out == "out\n");
  CHECK(answer.reason() == "err");
  CHECK(run_tool({"/no/such/tool"}, kLimit).end.exit_code == 127);
}

TEST_CASE("a process that a tool left in the background is killed") {
  const ToolAnswer answer = run_tool({"/bin/sh", "-c", "sleep 100000 & echo $!"}, kLimit);
  REQUIRE(answer.has_succeeded());
  const std::string pid = answer.out.substr(0, answer.out.find('\n'));
  REQUIRE_FALSE(pid.empty());
  while (is_running(pid)) std::this_thread::yield();
}

TEST_CASE("a tool that prints without end is killed") {
  const ToolAnswer answer = run_tool({"yes"}, kLimit);
  CHECK(answer.end.signal == SIGKILL);
  CHECK(answer.reason() == "yes prints too much");
}

TEST_CASE("an exception in a forked child ends the child") {
  const auto work = []() -> int {
    ::signal(SIGABRT, SIG_DFL);  // not Catch's handler, which would report a failed test
    throw std::runtime_error("in the child");
  };
  ChildProcess child(work, STDOUT_FILENO, STDOUT_FILENO);
  CHECK(child.wait().signal == SIGABRT);
}

TEST_CASE("results of children are known although the parent ignored SIGCHLD") {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGCHLD, SIG_IGN);
    interrupt::install();
    ::_exit(run_tool({"/bin/sh", "-c", "exit 3"}, kLimit).end.exit_code == 3 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace msprof
