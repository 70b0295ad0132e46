// make_prof PARENT TASKS: writes the PROF folder of a run with about TASKS tasks into PARENT and
// prints its path. For scripts/test-browser.
#include <cstdio>
#include <cstdlib>

#include "support/prof/prof_run.hpp"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: make_prof PARENT TASKS\n", stderr);
    return 2;
  }
  msprof::test::prof::RunShape shape;
  shape.tasks = std::strtoull(argv[2], nullptr, 10);
  const auto run = msprof::test::prof::make_run(argv[1], {}, shape);
  std::puts(run.folder.c_str());
  return 0;
}
