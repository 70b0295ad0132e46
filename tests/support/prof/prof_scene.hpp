// ProfScene: events of a run (an operator is launched, memory is copied, a collective runs), each
// written as all the records that the collector would write. Times are nanoseconds after the start
// of the collection: multiples of 10 on the host, of 20 on the device. For golden tests and
// ProfRun.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/prof/prof_folder.hpp"
#include "support/prof/type_names.hpp"

namespace msprof::test::prof {

enum class Core { aic, aiv, aicpu, mix_aic, mix_aiv };

struct OpKind {
  std::string name, type;
  Core core = Core::aic;
  std::uint16_t blocks = 20, mix_ratio = 0;
  std::vector<Tensor> tensors{};
  std::string attr{};
  bool hf32 = false;
};

// A call of a host thread; at least 600 ns.
struct HostSpan {
  std::uint32_t thread = 100;
  std::uint64_t begin = 0, end = 0;
};

struct DeviceSpan {
  std::uint16_t stream = 1, task = 0;
  std::uint64_t start = 0, end = 0;
  int device = 0;
  std::uint16_t task_high = 0;  // for 32-bit ids
  std::uint32_t id() const { return std::uint32_t{task_high} << 16 | task; }
};

// Counters of a task; for MIX operators, `blocks` counts the blocks of the other kind of core.
struct TaskPmu {
  std::uint64_t cycles = 0;
  Counters counters{};
  std::vector<std::pair<std::uint64_t, Counters>> blocks{};
  std::array<std::uint64_t, 2> more{};  // the ninth and tenth counters of chips 15 and 16
};

struct CommStep {
  std::string item = "Memcpy";
  std::uint32_t task_type = kMemcpyAsync;
  DeviceSpan device;
  std::uint64_t size = 0;
  std::uint32_t plane = 0;
  bool is_master = true;
  // Ranks within the group, and the link between them; `rdma`: the purpose of an RDMA task.
  std::uint32_t local_rank = 0, remote_rank = 1, rank_size = 8;
  std::uint32_t link = 1, transport = 0, rdma = 255;
};

struct Collective {
  std::string name, group, algorithm = "MESH-RING";
  std::uint64_t count = 1024;
  std::vector<CommStep> steps;
  std::string type = "hcom_allReduce_";
  std::uint32_t call = kHcomAllReduce;
  // Host time of a step, and the margins before and after all steps together.
  static constexpr std::uint64_t kStepNs = 400, kMarginNs = 200;
  std::uint64_t host_ns() const { return kStepNs * steps.size() + 2 * kMarginNs; }
};

class ProfScene {
 public:
  explicit ProfScene(ProfFolder& folder) : folder_(folder) {}

  ProfFolder& folder() { return folder_; }
  const ProfSetup& setup() const { return folder_.setup(); }

  // A single call, inside an acl call.
  void call(std::uint16_t level, std::uint32_t type, const HostSpan& host, std::uint64_t item = 0,
            std::uint32_t request = 0);
  // An operator. In a model, its node records are static and no acl call encloses it.
  struct Launch {
    bool in_model = false;
    std::uint16_t batch = 0;
    std::uint32_t acl_type = kAclnnAdd;
    std::optional<TaskPmu> pmu{};
  };
  void launch(const OpKind& op, const HostSpan& host, const DeviceSpan& device, const Launch& how);
  void launch(const OpKind& op, const HostSpan& host, const DeviceSpan& device) {
    launch(op, host, device, Launch());
  }
  void copy(const HostSpan& host, const DeviceSpan& device, std::uint64_t size,
            std::uint16_t direction);
  void record_event(const HostSpan& host, const DeviceSpan& device);
  void wait_event(const HostSpan& host, const DeviceSpan& device);
  // The collective starts at `begin`; returns its end on the host.
  std::uint64_t collective(const Collective& op, std::uint32_t thread, std::uint64_t begin);

  // Writes only the host records, or only the device records, of a task.
  void track(std::uint32_t thread, std::uint64_t time, std::uint32_t task_type,
             const DeviceSpan& device, std::uint16_t batch = 0, const OpKind* op = nullptr);
  void device_task(std::uint32_t task_type, const DeviceSpan& device);
  void pmu(const OpKind& op, const DeviceSpan& device, const TaskPmu& pmu);
  // The task ids of a stream wrap around, on the host and on the device.
  void flip(std::uint32_t thread, std::uint64_t host_ns, std::uint64_t device_ns, int device,
            std::uint16_t stream, std::uint16_t number);

  void step(int device, std::uint64_t ns, std::uint16_t tag, std::uint64_t index,
            std::uint64_t model, std::uint16_t stream);
  void mark(std::uint32_t thread, std::uint64_t begin, std::uint64_t end,
            const std::string& message, std::uint32_t event = 2);
  void memory(std::uint32_t thread, std::uint64_t ns, const std::string& op, std::uint64_t address,
              std::int64_t size, std::uint64_t allocated, std::uint32_t device = 0);

 private:
  std::uint64_t host_at(std::uint64_t ns) const { return setup().host_at(ns); }
  std::uint64_t ticks_at(std::uint64_t ns) const { return setup().ticks_at(ns); }
  void node_records(const OpKind& op, const HostSpan& node, bool in_model);
  void collective_step(const Collective& op, const CommStep& step, std::uint32_t thread,
                       std::uint64_t begin);
  void simple(std::uint32_t acl, std::uint32_t runtime, std::uint32_t task_type,
              const HostSpan& host, const DeviceSpan& device);
  void aicpu(const DeviceSpan& device);
  void task_310(std::uint32_t task_type, const DeviceSpan& device);
  void pmu_v6(const OpKind& op, const DeviceSpan& device, const TaskPmu& pmu);

  ProfFolder& folder_;
  std::map<int, std::uint8_t> log_count_, pmu_count_, vector_pmu_count_;  // wrap around, by device
};

}  // namespace msprof::test::prof
