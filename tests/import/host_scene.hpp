// HostScene: calls, tasks and records of a host in time order, and the result of their association.
// For the tests of the host association.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "import/cann/join/host_association.hpp"

namespace msprof::test {

// Keeps the output; ids are positions in the lists, from 1.
class KeptSink : public HostSink {
 public:
  struct Op {
    HostOp op;
    std::string tensors;  // the bytes
  };
  std::int64_t op_id(const HostOp& op) override {
    std::string bytes(reinterpret_cast<const char*>(op.tensors.data()), op.tensors.size());
    ops.push_back({op, bytes});
    ops.back().op.tensors = {};
    return static_cast<std::int64_t>(ops.size());
  }
  std::int64_t comm_call_id(const HostComm& call) override {
    comms.push_back(call);
    return static_cast<std::int64_t>(comms.size());
  }
  std::int64_t kernel_name_id(std::uint64_t hash) override {
    return static_cast<std::int64_t>(hash);
  }
  std::int64_t captured_model(const HostTrack&) override { return captured; }
  void add(const HostTask& task) override { tasks.push_back(task); }

  std::vector<Op> ops;
  std::vector<HostComm> comms;
  std::vector<HostTask> tasks;
  std::int64_t captured = kNull;
};

class HostScene {
 public:
  explicit HostScene(const HostAssociation::Options& options = {}) : options_(options) {}

  // Adds a call, by default of thread 1; `id` becomes the api_id of its tasks.
  HostScene& call(std::int64_t id, std::uint16_t level, std::uint64_t begin, std::uint64_t end,
                  std::uint64_t item = 0);
  HostScene& call(const HostCall& call);
  HostScene& task(std::uint64_t time, TaskClass task_class, std::uint16_t number = 0);
  HostScene& task(const HostTrack& track);
  HostScene& copy(std::uint64_t time, std::uint32_t of_thread, std::uint64_t bytes,
                  std::uint64_t most_bytes_per_task, std::uint16_t direction);
  HostScene& basic(std::uint64_t time, std::uint64_t sequence, std::uint64_t name,
                   std::uint32_t task_type = 2);
  // `bytes` must contain complete tensors.
  HostScene& tensors(std::uint64_t time, std::uint64_t sequence, std::uint64_t name,
                     const std::string& bytes);
  HostScene& contexts(std::uint64_t time, std::uint64_t sequence, std::uint64_t name,
                      const std::vector<std::uint32_t>& ids,
                      std::uint16_t level = call_level::kNode);
  template <typename Wire>
  HostScene& record(std::uint64_t time, std::uint64_t sequence, Wire wire) {
    wire.head.time = time;
    wire.head.thread = thread;
    return later(time, kRecord, [=, this](HostAssociation& association) {
      if (!association.add(HostRecord<Wire>{wire, sequence, false})) ++outside;
    });
  }

  // Passes all data in time order to a new association.
  KeptSink run();

  std::uint32_t thread = 1;
  std::int64_t captured_model = kNull;
  int outside = 0;  // records that matched no call
  std::uint64_t orphans = 0;

 private:
  enum Order { kCopy, kTask, kRecord, kCall };
  using Step = std::function<void(HostAssociation&)>;
  HostScene& later(std::uint64_t time, Order order, Step step);

  HostAssociation::Options options_;
  std::multimap<std::pair<std::uint64_t, Order>, Step> steps_;
};

}  // namespace msprof::test
