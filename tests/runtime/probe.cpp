// An application with one typical behavior, selected by MODE: probe MODE. acl.json comes from
// MSPROF_ACL_JSON. Exit code 0: every call that should succeed did.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>

#include "runtime/runtime_fixture.hpp"
#include "runtime/svp/include/svp_acl_prof.h"

using namespace msprof::runtime::test;

namespace {

const std::vector<std::vector<float>> kImage = {std::vector<float>(32, 0.5F)};

void init() {
  if (svp_acl_init(nullptr) != SVP_ACL_SUCCESS) throw std::runtime_error("init failed");
}

void run(Runner& runner, int times) {
  for (int i = 0; i < times; ++i) runner.run(kImage);
}

// Leaves the Runner until the process ends: nothing is unloaded or finalized.
Runner& forgotten_runner() {
  init();
  static Runner* const runner = new Runner(tiny_model());
  run(*runner, 3);
  return *runner;
}

int forget() {
  forgotten_runner();
  exit(0);
}

int vanish() {
  forgotten_runner();
  _exit(0);
}

int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

// The child executes, unloads and exits like the parent; only the parent is profiled.
int fork_and_go_on() {
  Runner& runner = forgotten_runner();
  const pid_t child = fork();
  if (child == 0) {
    run(runner, 2);
    runner.unload();
    exit(0);
  }
  if (wait_for(child) != 0) return 1;
  run(runner, 1);
  exit(0);
}

// A child that initializes again gets its own JOB.
int fork_and_start_over() {
  Runner& runner = forgotten_runner();
  const pid_t child = fork();
  if (child == 0) {
    svp_acl_finalize();
    init();
    {
      Runner own(tiny_model("child"));
      run(own, 1);
    }
    svp_acl_finalize();
    exit(0);
  }
  if (wait_for(child) != 0) return 1;
  runner.unload();
  svp_acl_finalize();
  return 0;
}

int close_stdio() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(fd);
  init();
  {
    Runner runner(tiny_model());
    printf("text of the application\n");
    fflush(stdout);
    run(runner, 1);
  }
  svp_acl_finalize();
  return 0;
}

int nobody_reads_stderr() {
  int ends[2];
  if (pipe(ends) != 0) return 1;
  close(ends[0]);
  dup2(ends[1], STDERR_FILENO);
  return svp_acl_rt_set_op_wait_timeout(0) == SVP_ACL_ERROR_API_NOT_SUPPORT ? 0 : 1;
}

int small_file_limit() {
  const rlimit limit = {16 + 5 * 112 + 10, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &limit);
  forgotten_runner();
  svp_acl_finalize();
  return 0;
}

int folder_goes_away() {
  Runner& runner = forgotten_runner();
  for (const std::string& job : jobs_in(".")) std::filesystem::remove_all(job);
  run(runner, 3);
  runner.unload();
  return svp_acl_finalize();
}

int change_folder() {
  init();
  if (chdir("/") != 0) return 1;
  {
    Runner runner(tiny_model());
    run(runner, 3);
  }
  return svp_acl_finalize();
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<int()>> modes = {
      {"forget", forget},
      {"vanish", vanish},
      {"fork_and_go_on", fork_and_go_on},
      {"fork_and_start_over", fork_and_start_over},
      {"close_stdio", close_stdio},
      {"nobody_reads_stderr", nobody_reads_stderr},
      {"small_file_limit", small_file_limit},
      {"change_folder", change_folder},
      {"folder_goes_away", folder_goes_away},
  };
  const auto mode = modes.find(argc > 1 ? argv[1] : "");
  return mode == modes.end() ? 98 : mode->second();
}
