// What operators say in the unified database, as string ids, kept for all tasks of an operator.
// Source: cann_host.md 2.6; cann_corrections.md J-B11.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>

#include "export/unified/unified_writer.hpp"

namespace msprof::unified {

struct TaskOp {
  std::int64_t name = 0;
  std::int64_t block_num = 0;
  std::int64_t mix_block_num = 0;
  std::int64_t unit = 0;  // "taskType"
  std::int64_t type = 0;
  // Formats, types, shapes of inputs, then of outputs.
  std::array<std::int64_t, 6> tensors{};
  std::int64_t attribute = 0;
  std::int64_t state = 0;
  std::int64_t hf32 = 0;
  std::int64_t grid_dim = 0;
  std::int64_t block_dim = 0;
  bool is_scheduling = false;  // an AI CPU kernel that drives a collective
};

class TaskOps {
 public:
  explicit TaskOps(Writer& out);

  // Valid until the next call. Throws for an operator that is not there.
  const TaskOp& of(std::int64_t op_id);
  // Streams on which kernels drive collectives.
  bool is_scheduling_stream(std::int64_t stream) const { return kfc_streams_.count(stream) != 0; }

 private:
  TaskOp load(std::int64_t op_id);
  std::int64_t shapes(std::optional<std::int64_t> name_id);
  std::string text_of(std::int64_t name_id);

  Writer& out_;
  Statement read_;
  Statement text_;
  std::set<std::int64_t> kfc_streams_;
  std::unordered_map<std::int64_t, TaskOp> known_;
  std::unordered_map<std::int64_t, std::int64_t> shapes_;  // string ids with quotes, by name id
};

}  // namespace msprof::unified
