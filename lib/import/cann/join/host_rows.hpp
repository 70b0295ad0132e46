// HostRows: what the host association found out, as rows and host tasks; and the names that are
// asked for again and again. For the host join.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "import/cann/join/captured_streams.hpp"
#include "import/cann/join/flat_table.hpp"
#include "import/cann/join/host_ops.hpp"
#include "import/cann/join/host_sink.hpp"
#include "import/cann/join/host_task_store.hpp"
#include "session/clock_map.hpp"

namespace msprof::cann {

class HostRows : public HostSink {
 public:
  HostRows(TraceDbWriter& store, Dictionaries& dictionaries, const ClockMap* clock,
           std::int64_t process_id, const CapturedStreams& captured, HostOps& ops,
           HostTaskStore& tasks);

  // Writes the row of a call, where there is a clock, and gives what the association needs of it.
  HostCall add(const ApiEventWire& wire);
  struct TaskType {
    TaskClass task_class = TaskClass::other;
    std::int64_t name_id = kNull;
  };
  const TaskType& task_type(std::uint64_t type);

  std::int64_t op_id(const HostOp& op) override { return ops_.id_of(op); }
  std::int64_t comm_call_id(const HostComm& call) override;
  std::int64_t kernel_name_id(std::uint64_t hash) override { return item(hash).name_id; }
  std::int64_t captured_model(const HostTrack& track) override { return captured_.model_of(track); }
  void add(const HostTask& task) override { tasks_.add(task); }

 private:
  struct CallType {
    std::int64_t name_id = kNull;  // the type's own
    std::int64_t mode_id = kNull;  // "Mode": of acl calls their class, else the same
    bool is_step_info = false;
    bool is_master = false;
  };
  const CallType& call_type(std::uint16_t level, std::uint32_t type);
  // What a hash names; 0 names "0".
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
  HostOps& ops_;
  HostTaskStore& tasks_;
  std::int64_t next_call_ = 1;
  std::int64_t next_comm_call_ = 1;
  std::unordered_map<std::uint64_t, CallType> call_types_;  // by level and type
  std::unordered_map<std::uint64_t, TaskType> task_types_;
  std::unordered_map<std::uint64_t, std::int64_t> number_names_;
  FlatTable items_;  // by hash: the id of the name, and in the lowest bit is_lccl
};

}  // namespace msprof::cann
