// Generated CANN runs shared by the benchmarks of commands.
#pragma once

#include <cstdint>
#include <filesystem>

#include "support/prof/prof_run.hpp"

namespace msprof::bench {

// A run of about `tasks` tasks; another seed gives a different run of the same kind.
test::prof::RunShape large_run(std::uint64_t tasks, unsigned seed);

// The unified database that an export left in `folder`. Ends the benchmark if there is no such
// file.
std::filesystem::path unified_db(const std::filesystem::path& folder);

}  // namespace msprof::bench
