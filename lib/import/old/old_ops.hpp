// OldOps: the operators of an old capture, and which device task runs which operator. Used by the
// joins of CANN 5 and of classic captures. Source: cann5_classic.md 9.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "store/trace_db_writer.hpp"

namespace msprof::old {

// Kinds of tasks, as numbered in Framework files.
enum class OpKind : std::uint8_t { ai_core = 0, ai_cpu = 1, vector_core = 2, other = 3 };

// A task as described by the graph engine (task_desc_info).
struct TaskDesc {
  std::int64_t name_id = kNull;
  std::int64_t type_name_id = kNull;
  std::uint64_t iteration = 0;  // 0: the same in every iteration
  std::uint64_t time_ns = 0;
  std::uint32_t model = 0;
  std::uint32_t stream = 0;
  std::uint32_t blocks = 0;
  std::uint16_t task = 0;
  std::uint16_t batch = 0;
  OpKind kind = OpKind::ai_core;
};

// Text ids of shapes, types and formats of inputs, then of outputs.
using TensorIds = std::array<std::int64_t, 6>;

// Tensors of tasks. The tensors of one key may continue in the next record; texts are appended in
// order of arrival.
class TensorTable {
 public:
  struct TensorKey {
    std::uint64_t time_ns = 0;
    std::uint32_t stream = 0;
    std::uint32_t task = 0;
    auto operator<=>(const TensorKey&) const = default;
  };
  using TensorTexts = std::array<std::string, 6>;

  void add(const TensorKey& key, const TensorTexts& texts);
  // Ids are null for missing tensors, even if only inputs or only outputs are missing.
  TensorIds find(TraceDbWriter& store, const TensorKey& key) const;

 private:
  std::uint32_t find_or_add(const TensorTexts& texts);

  std::map<TensorTexts, std::uint32_t> numbers_;  // numbers of distinct descriptions, which are far
                                                  // fewer than records
  std::vector<const TensorTexts*> texts_;
  struct TensorKeyHash {
    std::size_t operator()(const TensorKey& key) const {
      const std::uint64_t ids = std::uint64_t{key.stream} << 32 | key.task;
      return static_cast<std::size_t>((key.time_ns ^ ids * 0x9E3779B97F4A7C15) *
                                      0xC2B2AE3D27D4EB4F);
    }
  };
  std::unordered_map<TensorKey, std::uint32_t, TensorKeyHash> by_key_;
};

// Writes rows of `op`; equal rows are written once.
class OpRowWriter {
 public:
  // Rows are numbered from 1.
  explicit OpRowWriter(TraceDbWriter& store) : store_(store) {}
  // Returns the id of the row; `row.id` is ignored.
  std::int64_t find_or_add(const OpRow& row);

 private:
  using OpRowKey = std::array<std::int64_t, 12>;
  TraceDbWriter& store_;
  std::map<OpRowKey, std::int64_t> ids_;
};

struct OldOp {
  std::uint64_t iteration = 0;
  std::int64_t op_id = kNull;
  std::int64_t name_id = kNull;
  std::uint32_t model = 0;
  std::uint32_t stream = 0;
  std::uint16_t task = 0;
  std::uint16_t batch = 0;
  OpKind kind = OpKind::ai_core;
};

// The operators of one device, by task.
class OldOps {
 public:
  void add(const OldOp& op);
  // Call after the last add(), before find().
  void sort();

  bool has_dynamic() const { return !dynamic_.empty(); }
  bool empty() const { return static_.empty() && dynamic_.empty(); }
  // Returns the operator with static shapes, preferably of `model`; null if not found.
  const OldOp* find(std::uint32_t model, std::uint32_t stream, std::uint16_t task,
                    OpKind kind) const;
  // Returns the operator with dynamic shapes in one iteration; null if not found.
  const OldOp* find(std::uint32_t model, std::uint64_t iteration, std::uint32_t stream,
                    std::uint16_t task, std::uint16_t batch, OpKind kind) const;
  // Returns the first operator described for a stream in an iteration; null if there is none.
  const OldOp* find_first(std::uint32_t model, std::uint64_t iteration, std::uint32_t stream) const;

 private:
  std::vector<OldOp> static_;   // sorted by stream, task, kind, model
  std::vector<OldOp> dynamic_;  // sorted by model, iteration, stream, task, batch, kind
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>, OldOp> first_;
};

}  // namespace msprof::old
