// A run of an application as a PROF folder: threads launch operators on streams, copy, wait, and
// run collectives and steps. The output is reproducible. Returns the counts of all events, to
// compare with imported rows. For invariants, damage tests, fuzz seeds and benchmarks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "support/prof/prof_setup.hpp"

namespace msprof::test::prof {

struct RunShape {
  std::uint64_t tasks = 1000;  // approximate: started work is completed
  unsigned streams = 4, threads = 2, names = 40, steps = 4, fused = 4;
  std::uint64_t seed = 1;
  std::uint32_t flip_at = 65536;  // task ids of a stream wrap around at this value
  std::uint64_t slice_limit = 20u << 20;
  bool pmu = true, collectives = true, memory = true, marks = true;
};

struct RunInfo {
  std::uint64_t raw_bytes = 0;
  std::uint64_t tasks = 0, ops = 0, copies = 0, events = 0, mix_ops = 0, aicpu_ops = 0;
  std::uint64_t pmu_ops = 0;
  std::uint64_t calls = 0;  // number of calls in api_event
  std::uint64_t collectives = 0, comm_tasks = 0;
  std::uint64_t steps = 0;          // iterations of all devices
  std::uint64_t marks = 0;          // marks of the user
  std::uint64_t memory_events = 0;  // half of them releases
  std::uint64_t flips = 0;
  std::map<std::string, std::uint64_t> ops_by_type;
};

// Makes parent/<PROF…>.
struct MadeRun {
  std::filesystem::path folder;
  RunInfo facts;
};
MadeRun make_run(const std::filesystem::path& parent, const ProfSetup& setup,
                 const RunShape& shape);

}  // namespace msprof::test::prof
