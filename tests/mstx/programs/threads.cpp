// A C++ program with ranges of many threads, some ended by another thread; then a child that
// continues to call.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "mstx/ms_tools_ext.h"

namespace {

constexpr int kThreads = 4;

void work(int thread, int ranges) {
  const std::string name = "thread " + std::to_string(thread);
  const mstxDomainHandle_t domain = mstxDomainCreateA(name.c_str());
  for (int i = 0; i < ranges; ++i) {
    const mstxRangeId id =
        mstxDomainRangeStartA(domain, ("range " + std::to_string(i)).c_str(), nullptr);
    mstxMarkA("between", nullptr);
    mstxDomainRangeEnd(domain, id);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int ranges = argc > 1 ? std::atoi(argv[1]) : 1000;
  std::array<mstxRangeId, kThreads> handed_over{};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&handed_over, i, ranges] {
      handed_over[static_cast<std::size_t>(i)] =
          mstxRangeStartA(("handed over " + std::to_string(i)).c_str(), nullptr);
      work(i, ranges);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const mstxRangeId id : handed_over) mstxRangeEnd(id);

  const pid_t child = fork();
  if (child == 0) {
    mstxMarkA("mark of the child", nullptr);
    mstxRangeEnd(mstxRangeStartA("range of the child", nullptr));
    std::exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  mstxMarkA("after the child", nullptr);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}
