// Batches: the batch sizes of the executions of a run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "query/query_db.hpp"

namespace msprof {

// Batch sizes of the executions of a run, as recorded. The batch size for which the model was built
// is not used.
struct Batches {
  // Number of executions by model, then batch.
  std::map<std::string, std::map<std::int64_t, std::int64_t>> executions;

  void add(const Batches& other);
  std::vector<std::int64_t> values() const;  // sorted, without duplicates
  std::int64_t pictures() const;             // sum over all executions
};

Batches read_batches(const QueryDb& db);

// Returns true if executions of both runs do the same work: most executions of each model use one
// batch, and it is the same in both runs.
bool execute_alike(const Batches& a, const Batches& b);

// Returns "1", "1 and 4"; "unknown" if not recorded.
std::string batch_text(const std::vector<std::int64_t>& batches);

}  // namespace msprof
