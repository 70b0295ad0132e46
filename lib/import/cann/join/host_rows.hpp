// Writes the results of the host association. HostOps: operators. HostRows: calls, collectives,
// host tasks and names. HostOps is also the OpTable of the device association.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "import/cann/captured_ops.hpp"
#include "import/cann/join/flat_table.hpp"
#include "import/cann/join/host_records.hpp"
#include "import/cann/join/host_sources.hpp"
#include "session/clock_map.hpp"
#include "store/trace_db_writer.hpp"

namespace msprof::cann {

class Dictionaries;

// Return names of numbers in host records (cann_host.md 1.9); decimal text if a number has no name.
std::string data_type_name(std::uint32_t number);  // for example "FLOAT16"
std::string format_name(std::uint32_t number);     // with the sub format, for example "ND" or
                                                   // "FRACTAL_NZ:3"

// Writes operators; equal operators share one row of `op`.
class HostOps : public OpTable {
 public:
  HostOps(TraceDbWriter& store, Dictionaries& dictionaries);
  HostOps(const HostOps&) = delete;
  HostOps& operator=(const HostOps&) = delete;

  std::int64_t find_or_add(const HostOp& op);
  // Number of tensors that are neither input nor output; they are in no column.
  std::uint64_t odd_tensors() const { return odd_tensors_; }

  std::int64_t block_num(std::int64_t op_id) const override;
  std::int64_t mix_block_num(std::int64_t op_id) const override;
  std::int64_t name_id(std::int64_t op_id) const override;
  std::int64_t unit_name_id(std::int64_t op_id) const override;
  std::int64_t with_blocks(std::int64_t op_id, std::int64_t block_num,
                           std::int64_t mix_block_num) override;

 private:
  // Equal operators have equal keys. Tensors and dimensions are numbered; 0 means none.
  struct HostOpKey {
    std::uint64_t name_hash = 0;
    std::uint64_t type_hash = 0;
    std::uint64_t attribute_hash = 0;
    std::uint32_t tensors = 0;
    std::uint32_t dims = 0;
    std::uint32_t task_type = 0;
    std::uint32_t block_num = 0;
    std::uint32_t mix_block_num = 0;
    std::int8_t is_dynamic = -1;
    std::int8_t is_hf32 = -1;
    bool operator==(const HostOpKey&) const = default;
  };
  // A 128-bit hash identifies the bytes of a tensor list.
  struct TensorHash {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    bool operator==(const TensorHash&) const = default;
  };
  // Shapes, types and formats of inputs, then of outputs; kNull if absent.
  using TensorNames = std::array<std::int64_t, 6>;
  struct Names {
    std::int64_t name_id = kNull;
    std::int64_t unit_name_id = kNull;
  };

  static std::uint64_t hash_of(const HostOpKey& key);
  static TensorHash hash_of(std::span<const std::byte> tensors);
  std::uint32_t tensors_number(std::span<const std::byte> tensors);
  TensorNames make_names(std::span<const std::byte> tensors);
  std::uint32_t dims_number(const HostOp& op);
  std::int64_t intern(const HostOpKey& key);
  void write(const HostOpKey& key);
  const HostOpKey* find(std::int64_t op_id) const;

  TraceDbWriter& store_;
  Dictionaries& dictionaries_;
  std::vector<HostOpKey> keys_;
  std::vector<Names> names_;
  FlatTable numbers_;         // index into keys_, by hash
  FlatTable tensor_numbers_;  // index into tensor_names_, by hash
  std::vector<TensorHash> tensor_hashes_;
  std::vector<TensorNames> tensor_names_;
  std::unordered_map<std::uint64_t, std::uint32_t> dims_numbers_;  // by both names
  std::vector<std::pair<std::int64_t, std::int64_t>> dims_names_;
  std::uint64_t odd_tensors_ = 0;
};

class HostRows : public HostSink {
 public:
  HostRows(TraceDbWriter& store, Dictionaries& dictionaries, const ClockMap* clock,
           std::int64_t process_id, const CapturedStreams& captured,
           const CapturedOps& captured_ops, bool has_unique_ids, HostOps& ops,
           HostTaskStore& tasks);

  // Writes the row of a call, if there is a clock, and returns what the association needs.
  HostCall add(const ApiEventWire& wire);
  struct TaskType {
    TaskClass task_class = TaskClass::other;
    std::int64_t name_id = kNull;
  };
  const TaskType& task_type(std::uint64_t type);

  std::int64_t op_id(const HostOp& op) override { return ops_.find_or_add(op); }
  std::int64_t comm_call_id(const HostComm& call) override;
  std::int64_t kernel_name_id(std::uint64_t hash) override { return item(hash).name_id; }
  std::int64_t captured_model(const HostTrack& track) override {
    return captured_.find_model(track);
  }
  bool captured_op(const HostTrack& track, HostOp& op) override;
  void add(const HostTask& task) override { tasks_.add(task); }

 private:
  struct CallType {
    std::int64_t name_id = kNull;
    std::int64_t mode_id = kNull;  // column "Mode": the class of acl calls, else the type's name
    bool is_step_info = false;
    bool is_master = false;
  };
  const CallType& call_type(std::uint16_t level, std::uint32_t type);
  // Text of a hash; the text of hash 0 is "0".
  struct Item {
    std::int64_t name_id = kNull;
    bool is_lccl = false;
  };
  Item item(std::uint64_t hash);
  std::int64_t number_name_id(std::uint64_t number);
  void add_task_info(CommCallRow& row, const HostComm& call);
  void add_op_info(CommCallRow& row, const HostComm& call);

  TraceDbWriter& store_;
  Dictionaries& dictionaries_;
  const ClockMap* clock_;
  std::int64_t process_id_;
  const CapturedStreams& captured_;
  const CapturedOps& captured_ops_;
  bool has_unique_ids_;
  HostOps& ops_;
  HostTaskStore& tasks_;
  std::int64_t next_call_ = 1;
  std::int64_t next_comm_call_ = 1;
  FlatMap<CallType> call_types_;  // by level and type
  FlatMap<TaskType> task_types_;
  FlatMap<std::int64_t> number_names_;
  FlatTable items_;  // by hash: id of the name, with is_lccl in the lowest bit
};

}  // namespace msprof::cann
