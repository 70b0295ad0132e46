#include "large_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace msprof::bench {

test::prof::RunShape large_run(std::uint64_t tasks, unsigned seed) {
  test::prof::RunShape shape;
  shape.tasks = tasks;
  shape.streams = 8;
  shape.threads = 4;
  shape.names = static_cast<unsigned>(std::max<std::uint64_t>(40, tasks / 250));
  shape.seed = seed;
  shape.steps = 10;
  return shape;
}

std::filesystem::path unified_db(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".db") return entry.path();
  }
  fmt::print(stderr, "no unified database in {}\n", folder.string());
  std::exit(1);
}

}  // namespace msprof::bench
