// Consecutive RDMA payloads form one transfer, which ends with a task some positions later. Used to
// compute the bandwidth of collectives. Source: cann_device.md 25.4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>

#include "store/database.hpp"

namespace msprof::cann {

// comm_call.rdma_type of a task that sends a payload.
inline constexpr std::int64_t kRdmaPayload = 1;

// Distance from the last payload of a transfer to the task that ends it.
std::size_t closing_distance(std::string_view collective);

struct PayloadRun {
  std::size_t end = 0;      // index after the last payload
  std::size_t closing = 0;  // index of the task that ends the transfer
  bool is_closed = false;   // false: that task is missing
};

// Returns the run of payloads starting at `first`, which must be a payload. `tasks` are those of
// one collective on one plane, by start.
template <typename Task>
PayloadRun payload_run(std::span<const Task> tasks, std::size_t first, std::size_t distance) {
  PayloadRun run{first, 0, false};
  while (run.end < tasks.size() && tasks[run.end].is_payload) ++run.end;
  run.closing = run.end - 1 + distance;
  run.is_closed = run.closing < tasks.size();
  return run;
}

// Finds the transfer that the task of a payload is part of.
class PayloadTransfers {
 public:
  struct Transfer {
    double bytes = 0;
    double duration_ns = 0;
  };

  explicit PayloadTransfers(const Database& db);

  // Returns `own`, the task's bytes and duration, if the task is not part of a longer transfer.
  Transfer find(std::int64_t task_id, Transfer own) const {
    const auto found = transfers_.find(task_id);
    return found == transfers_.end() ? own : found->second;
  }

 private:
  std::unordered_map<std::int64_t, Transfer> transfers_;  // by task id
};

}  // namespace msprof::cann
