#include "support/ranks/rank_folder.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/prof/prof_scene.hpp"
#include "support/prof/run_ops.hpp"

namespace msprof::test::ranks {

using namespace msprof::test::prof;

namespace {

constexpr std::uint32_t kThread = 10000;
constexpr std::uint16_t kComputeStream = 2, kSideStream = 3, kCommStream = 200;
constexpr std::uint64_t kModelNumber = 1;
constexpr std::uint64_t kLaunchNs = 1000, kBetweenLaunches = 200;
constexpr std::uint32_t kTaskIds = 65536;  // per stream, before wraparound
constexpr std::uint32_t kReserved = 255;
constexpr std::uint64_t kHeldBytes = std::uint64_t{1} << 30;
constexpr std::uint16_t kStepBegins = 60000, kStepEnds = 60001;

struct OperationType {
  std::string_view name;
  std::uint32_t call = 0;
};
constexpr OperationType kOperationTypes[] = {{"hcom_allReduce_", kHcomAllReduce},
                                             {"hcom_allGather_", 0x20002},
                                             {"hcom_reduceScatter_", 0x20003},
                                             {"hcom_send_", 0x20004},
                                             {"hcom_receive_", 0x20005}};

ProfSetup make_setup(const ClusterRun& run, std::int64_t rank) {
  const ClusterShape& shape = run.shape();
  ProfSetup setup;
  setup.devices = {static_cast<int>(rank % shape.ranks_per_host)};
  setup.begin_us += static_cast<std::uint64_t>(shape.clock_error_ns(rank) / 1000);
  setup.end_us = setup.begin_us + static_cast<std::uint64_t>(run.collection_us(rank));
  setup.aic_mhz = setup.aiv_mhz = std::to_string(run.frequency_mhz(rank));
  setup.info["rank_id"] = std::to_string(rank);
  setup.info["hostUid"] = '"' + host_uid(shape, rank) + '"';
  setup.info["hostname"] = '"' + host_name(shape, rank) + '"';
  return setup;
}

class RankWriter {
 public:
  RankWriter(ProfFolder& folder, const ClusterRun& run, std::int64_t rank)
      : folder_(folder),
        scene_(folder),
        run_(run),
        rank_(rank),
        device_(folder.setup().devices.front()),
        random_(run.shape().seed * 1'000'003 + static_cast<std::uint64_t>(rank)),
        kernels_(kernels_before_collective(run.shape())) {
    Random of_all(run.shape().seed);
    for (RunOp& op :
         make_ops(of_all, static_cast<std::size_t>(run.shape().operators), folder.setup())) {
      // A MIX operator's time covers only a part of its task, so sums would differ from the run's.
      if (op.kind.core == Core::mix_aic) op.kind.core = Core::aic;
      if (op.kind.core == Core::mix_aiv || op.kind.core == Core::aicpu) op.kind.core = Core::aiv;
      op.kind.mix_ratio = 0;
      ops_.push_back(std::move(op));
    }
    for (const auto& [name, call] : kOperationTypes) folder.set_type(kNode, call, name);
    folder.set_type(kRuntime, kRdmaSend, "RDMA_SEND");
  }

  void write() {
    const ClusterShape& shape = run_.shape();
    for (std::int64_t step = 0; step < shape.steps; ++step) write_step(step);
    LpmFreq frequency;
    const auto mhz = static_cast<std::uint32_t>(run_.frequency_mhz(rank_));
    frequency.changes.emplace_back(ticks(0), mhz);
    for (std::int64_t step = 0; step < std::min<std::int64_t>(shape.steps, 50); ++step)
      frequency.changes.emplace_back(ticks(run_.step_begin(rank_, step)), mhz);
    folder_.device(device_, frequency);
  }

 private:
  struct Stream {
    std::uint32_t next_task = 0;
    std::uint64_t free_at = 0;
    std::uint16_t flips = 0;
  };

  std::uint64_t ticks(std::int64_t ns) const {
    return folder_.setup().ticks_at(static_cast<std::uint64_t>(ns));
  }

  void write_step(std::int64_t step) {
    const auto begin = static_cast<std::uint64_t>(run_.step_begin(rank_, step));
    const auto end = static_cast<std::uint64_t>(run_.step_end(rank_, step));
    const auto number = static_cast<std::uint64_t>(step + kFirstStep);
    now_ = std::max(now_, begin + 500);
    scene_.step(device_, begin, kStepBegins, number, kModelNumber, kComputeStream);
    const std::uint64_t address = 0x124080000000;
    const auto device = static_cast<std::uint32_t>(device_);
    scene_.memory(kThread, now_, "step_buffer", address, 1 << 20, kHeldBytes, device);
    now_ += 100;
    std::uint64_t ready = static_cast<std::uint64_t>(run_.first_work(rank_, step));
    for (std::int64_t at = 0; at < run_.shape().collectives; ++at) {
      ready = compute(ready, run_.compute_ns(rank_, step, at), kernels_);
      if (run_.takes_part(rank_, at)) ready = communicate(run_.collective(rank_, step, at));
    }
    compute(ready, run_.compute_ns(rank_, step, run_.shape().collectives), kernels_);
    scene_.memory(kThread, now_, "step_buffer", address, -(1 << 20), kHeldBytes - (1 << 20),
                  device);
    now_ += 100;
    scene_.step(device_, end, kStepEnds, number, kModelNumber, kComputeStream);
    streams_[kComputeStream].free_at = std::max(streams_[kComputeStream].free_at, end);
  }

  // Runs kernels without gaps that take `ns` together; returns their end.
  std::uint64_t compute(std::uint64_t begin, std::int64_t ns, std::int64_t kernels,
                        std::uint16_t stream = kComputeStream) {
    std::vector<std::size_t> chosen;
    std::int64_t weights = 0;
    for (std::int64_t i = 0; i < kernels; ++i) {
      chosen.push_back(random_.below(ops_.size()));
      weights += op_weight(chosen.back());
    }
    const std::uint64_t end = begin + static_cast<std::uint64_t>(ns);
    std::int64_t weight = 0;
    for (const std::size_t op : chosen) {
      const std::uint64_t start = begin + share(ns, weight, weights);
      weight += op_weight(op);
      launch(ops_[op].kind, stream, start,
             weight == weights ? end : begin + share(ns, weight, weights));
    }
    return end;
  }

  // Weight that makes an operator always take about the same time.
  static std::int64_t op_weight(std::size_t op) {
    return 60 + static_cast<std::int64_t>(op * 37 % 80);
  }
  static std::uint64_t share(std::int64_t ns, std::int64_t weight, std::int64_t weights) {
    return static_cast<std::uint64_t>(ns * weight / weights / kTickNs * kTickNs);
  }

  DeviceSpan next_task(std::uint16_t number, std::uint64_t start, std::uint64_t end) {
    Stream& stream = streams_[number];
    if (stream.next_task == kTaskIds) {
      scene_.flip(kThread, now_, stream.free_at, device_, number, ++stream.flips);
      now_ += 50;
      stream.next_task = 1;
    }
    if (start < now_ + 400 || start < stream.free_at)
      throw std::runtime_error("a task would run before its launch: kernels are too short");
    DeviceSpan span;
    span.device = device_;
    span.stream = number;
    span.task = static_cast<std::uint16_t>(stream.next_task++);
    span.start = start;
    span.end = end;
    stream.free_at = end;
    return span;
  }

  void launch(const OpKind& op, std::uint16_t stream, std::uint64_t start, std::uint64_t end) {
    const DeviceSpan span = next_task(stream, start, end);
    ProfScene::Launch how;
    how.pmu = make_pmu(random_, op, span);
    scene_.launch(op, {kThread, now_, now_ + kLaunchNs}, span, how);
    now_ += kLaunchNs + kBetweenLaunches;
  }

  void add_task(Collective& op, const RankCollective& what, const char* item, std::uint32_t type,
                std::uint64_t start, std::uint64_t end, const Transfer* transfer = nullptr) {
    CommStep step;
    step.item = item;
    step.task_type = type;
    step.device = next_task(kCommStream, start, end);
    step.local_rank = static_cast<std::uint32_t>(what.local_rank);
    step.rank_size = static_cast<std::uint32_t>(what.rank_count);
    step.remote_rank = kInvalidId;
    step.link = kReserved;
    step.transport = kReserved;
    if (transfer != nullptr) {
      step.remote_rank = static_cast<std::uint32_t>(transfer->peer_local);
      step.link = transfer->link;
      step.transport = transfer->transport;
      if (type == kRdmaSend) step.rdma = 0;
      if (type == kMemcpyAsync) step.size = static_cast<std::uint64_t>(transfer->size);
    }
    op.steps.push_back(std::move(step));
  }

  // Payload, its notification and the answer; for a collective also the permission to continue.
  void add_rdma(Collective& op, const RankCollective& what, const Transfer& one,
                std::uint64_t start) {
    const std::uint64_t end = start + static_cast<std::uint64_t>(one.duration_ns);
    const auto part = static_cast<std::uint64_t>(one.duration_ns / 8 / kTickNs * kTickNs);
    add_task(op, what, "RDMASend", kRdmaSend, start, start + part, &one);
    op.steps.back().rdma = 1;
    op.steps.back().size = static_cast<std::uint64_t>(one.size);
    add_task(op, what, "RDMASend", kRdmaSend, start + part, start + 2 * part, &one);
    if (!what.is_point_to_point()) {
      add_task(op, what, "Notify_Wait", kNotifyWait, start + 2 * part, start + 4 * part, &one);
      add_task(op, what, "RDMASend", kRdmaSend, start + 4 * part, start + 5 * part, &one);
      add_task(op, what, "Notify_Wait", kNotifyWait, start + 5 * part, end, &one);
    } else {
      add_task(op, what, "Notify_Wait", kNotifyWait, start + 2 * part, end, &one);
    }
  }

  std::uint64_t communicate(const RankCollective& what) {
    Collective op;
    op.type = what.operation;
    op.group = what.group;
    op.name = op.type + "_" + what.group + "_" + std::to_string(collectives_[what.group]++) + "_1";
    for (const auto& [name, call] : kOperationTypes)
      if (name == what.operation) op.call = call;
    auto at = static_cast<std::uint64_t>(what.all_there);
    add_task(op, what, "Notify_Wait", kNotifyWait, static_cast<std::uint64_t>(what.arrive), at);
    const bool is_reduce = what.operation.find("educe") != std::string_view::npos;
    for (const Transfer& one : what.transfers) {
      const std::uint64_t end = at + static_cast<std::uint64_t>(one.duration_ns);
      if (one.transport == kRdma) {
        add_rdma(op, what, one, at);
      } else {
        add_task(op, what, is_reduce ? "Reduce_Inline" : "Memcpy", kMemcpyAsync, at, end, &one);
      }
      op.count += static_cast<std::uint64_t>(one.size) / 4;
      at = end;
    }
    const auto end = static_cast<std::uint64_t>(what.end);
    add_task(op, what, "Notify_Wait", kNotifyWait, at, end);
    now_ = scene_.collective(op, kThread, now_) + kBetweenLaunches;
    if (what.overlapped_ns > 0)
      compute(static_cast<std::uint64_t>(what.all_there), what.overlapped_ns, 1, kSideStream);
    return end;
  }

  ProfFolder& folder_;
  ProfScene scene_;
  const ClusterRun& run_;
  std::int64_t rank_;
  int device_;
  Random random_;
  std::int64_t kernels_;
  std::uint64_t now_ = 1'000'000;  // time of the host
  std::vector<RunOp> ops_;
  std::map<std::uint16_t, Stream> streams_;
  std::map<std::string, int> collectives_;  // by group
};

}  // namespace

std::int64_t kernels_before_collective(const ClusterShape& shape) {
  const std::int64_t width = std::min(shape.ranks_per_host, shape.ranks);
  const std::int64_t of_collective = width + 2 + (shape.hosts() > 1 ? 5 : 0);
  const std::int64_t kernels = shape.tasks / shape.steps - shape.collectives * of_collective;
  return std::max<std::int64_t>(5, kernels / (shape.collectives + 1));
}

std::filesystem::path write_rank_folder(const std::filesystem::path& parent, const ClusterRun& run,
                                        std::int64_t rank) {
  ProfFolder folder(parent, make_setup(run, rank), capture_name(rank));
  RankWriter(folder, run, rank).write();
  folder.finish();
  return folder.folder();
}

}  // namespace msprof::test::ranks
