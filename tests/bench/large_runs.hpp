// Generated runs of CANN that the benchmarks of commands share.
#pragma once

#include <cstdint>
#include <filesystem>

#include "support/prof/prof_run.hpp"

namespace msprof::bench {

// Of about as many tasks; another seed is another run of the same kind.
test::prof::RunShape large_run(std::uint64_t tasks, unsigned seed);

// The unified database that an export left in `folder`. Ends the benchmark when there is none.
std::filesystem::path unified_db(const std::filesystem::path& folder);

}  // namespace msprof::bench
