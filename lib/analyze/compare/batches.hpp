// Batches: how many pictures the executions of a run took at once, as its captures say. What the
// model was built for says nothing of a run. For compare().
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "query/query_db.hpp"

namespace msprof {

struct Batches {
  // Model ► batch ► executions of that batch.
  std::map<std::string, std::map<std::int64_t, std::int64_t>> executions;

  void add(const Batches& other);
  std::vector<std::int64_t> values() const;  // each once, sorted
  std::int64_t pictures() const;             // of all executions
};

Batches read_batches(const QueryDb& db);

// Whether an execution of one run does the same work as one of the other: most executions of each
// model have one batch, and the same one.
bool execute_alike(const Batches& a, const Batches& b);

// "1", "1 and 4"; "unknown" where no capture says it.
std::string batch_text(const std::vector<std::int64_t>& batches);

}  // namespace msprof
