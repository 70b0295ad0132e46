#include "support/prof/prof_run.hpp"

#include <algorithm>
#include <vector>

#include "support/prof/prof_scene.hpp"
#include "support/prof/run_ops.hpp"

namespace msprof::test::prof {

namespace {

// A host thread, its device and its own streams.
struct Actor {
  std::uint32_t thread = 0;
  int device = 0;
  std::vector<std::uint16_t> streams;
  std::uint16_t comm_stream = 0;
  std::uint64_t now = 0;
};

struct Stream {
  std::uint32_t next_task = 0;
  std::uint64_t free_at = 0;
  std::uint16_t flips = 0;
};

class Run {
 public:
  Run(ProfFolder& folder, const RunShape& shape)
      : folder_(folder),
        scene_(folder),
        shape_(shape),
        random_(shape.seed),
        ops_(make_ops(random_, shape.names, folder.setup())) {
    for (unsigned i = 0; i < shape.threads; ++i) add_actor(i);
  }

  RunInfo play() {
    load_model();
    unsigned step = 0;
    while (facts_.tasks < shape_.tasks) {
      Actor& actor =
          *std::min_element(actors_.begin(), actors_.end(),
                            [](const Actor& a, const Actor& b) { return a.now < b.now; });
      if (&actor == &actors_.front() && step < shape_.steps &&
          facts_.tasks >= shape_.tasks * (step + 1) / (shape_.steps + 1)) {
        play_step(actor, ++step);
      } else {
        play_something(actor);
      }
      actor.now += random_.below(400) * 10;
    }
    add_frequencies();
    return facts_;
  }

 private:
  void add_actor(unsigned number) {
    const auto& devices = folder_.setup().devices;
    Actor actor;
    actor.thread = 10000 + number;
    actor.device = devices[number % devices.size()];
    for (unsigned stream = number; stream < shape_.streams; stream += shape_.threads) {
      actor.streams.push_back(static_cast<std::uint16_t>(2 + stream));
    }
    if (actor.streams.empty()) {
      actor.streams.push_back(static_cast<std::uint16_t>(2 + shape_.streams + number));
    }
    actor.comm_stream = static_cast<std::uint16_t>(200 + number);
    actor.now = 1'000'000 + 7770 * number;
    actors_.push_back(std::move(actor));
  }

  // The next task of a stream, launched at `ready`.
  DeviceSpan next_task(const Actor& actor, std::uint16_t number, std::uint64_t ready,
                       std::uint64_t duration) {
    Stream& stream = streams_[{actor.device, number}];
    if (stream.next_task == shape_.flip_at) begin_again(actor, number, stream, ready);
    DeviceSpan span;
    span.device = actor.device;
    span.stream = number;
    span.task = static_cast<std::uint16_t>(stream.next_task++);
    span.start = std::max(ready + 1000 + random_.below(250) * 20,
                          stream.free_at + 200 + random_.below(50) * 20);
    span.start -= span.start % 20;
    span.end = span.start + std::max<std::uint64_t>(400, duration / 20 * 20);
    stream.free_at = span.end;
    last_ns_ = std::max(last_ns_, span.end);
    ++facts_.tasks;
    return span;
  }

  void begin_again(const Actor& actor, std::uint16_t number, Stream& stream, std::uint64_t ready) {
    // The wraparound is after the last task and before the next one, on host and device.
    scene_.flip(actor.thread, ready / 10 * 10 - 20, stream.free_at + 60, actor.device, number,
                ++stream.flips);
    stream.free_at += 100;
    stream.next_task = 1;
    ++facts_.flips;
  }

  std::uint16_t choose_stream(const Actor& actor) {
    return actor.streams[random_.below(actor.streams.size())];
  }

  DeviceSpan launch(Actor& actor, std::uint16_t stream, const RunOp& op, bool in_model) {
    const HostSpan host{actor.thread, actor.now, actor.now + 1000 + random_.below(200) * 10};
    const DeviceSpan span =
        next_task(actor, stream, host.begin + 250, op.duration_ns * (80 + random_.below(50)) / 100);
    ProfScene::Launch how;
    how.in_model = in_model;
    if (shape_.pmu && op.kind.core != Core::aicpu) {
      how.pmu = make_pmu(random_, op.kind, span);
      ++facts_.pmu_ops;
    }
    scene_.launch(op.kind, host, span, how);
    facts_.calls += in_model ? 2 : 3;
    ++facts_.ops;
    ++facts_.ops_by_type[op.kind.type];
    if (op.kind.core == Core::aicpu) ++facts_.aicpu_ops;
    if (is_mix(op.kind)) ++facts_.mix_ops;
    if (shape_.memory && random_.below(10) == 0) allocate(actor, host, op);
    actor.now = host.end;
    return span;
  }

  void allocate(const Actor& actor, const HostSpan& host, const RunOp& op) {
    const std::int64_t size = 512 * static_cast<std::int64_t>(1 + random_.below(30000));
    const std::uint64_t address = 0x124080000000 + 512 * facts_.memory_events;
    const auto device = static_cast<std::uint32_t>(actor.device);
    const auto held = static_cast<std::uint64_t>(size);
    scene_.memory(actor.thread, host.begin + 50, op.kind.name, address, size, held, device);
    scene_.memory(actor.thread, host.end - 20, op.kind.name, address, -size, 0, device);
    facts_.memory_events += 2;
  }

  void play_simple(Actor& actor, unsigned what) {
    const HostSpan host{actor.thread, actor.now, actor.now + 1500 + random_.below(100) * 10};
    const DeviceSpan span = next_task(actor, choose_stream(actor), host.begin + 200,
                                      what == 0 ? 2000 + random_.below(500) * 20 : 400);
    if (what == 0) {
      scene_.copy(host, span, 256 * (1 + random_.below(10000)),
                  static_cast<std::uint16_t>(1 + random_.below(3)));
      ++facts_.copies;
    } else {
      what == 1 ? scene_.record_event(host, span) : scene_.wait_event(host, span);
      ++facts_.events;
    }
    facts_.calls += 2;
    actor.now = host.end;
  }

  void play_collective(Actor& actor) {
    Collective op;
    op.name = "hcom_allReduce__" + std::to_string(actor.thread) + "_" +
              std::to_string(facts_.collectives) + "_1";
    op.group = "group_of_" + std::to_string(actor.thread);
    op.count = 1024 * (1 + random_.below(64));
    const std::size_t count = random_.below(2) == 0 ? 4 : 8;
    std::uint64_t ready = actor.now + Collective::kMarginNs + 100;
    for (std::size_t i = 0; i < count; ++i, ready += Collective::kStepNs) {
      static constexpr std::pair<const char*, std::uint32_t> kSteps[] = {
          {"Notify_Wait", kNotifyWait},
          {"Memcpy", kMemcpyAsync},
          {"Reduce_Inline", kMemcpyAsync},
          {"Notify_Record", kNotifyRecord}};
      const auto& [item, type] = kSteps[i % 4];
      const DeviceSpan span =
          next_task(actor, actor.comm_stream, ready, 1000 + random_.below(1000) * 20);
      op.steps.push_back({item, type, span, 1024 * random_.below(1000), 0, true});
    }
    actor.now = scene_.collective(op, actor.thread, actor.now);
    ++facts_.collectives;
    facts_.comm_tasks += count;
    facts_.calls += 1 + 2 * count;
  }

  void play_something(Actor& actor) {
    const std::uint64_t dice = random_.below(1000);
    if (dice < 70) return play_simple(actor, 0);
    if (dice < 90) return play_simple(actor, 1);
    if (dice < 110) return play_simple(actor, 2);
    if (dice < 125 && shape_.collectives) return play_collective(actor);
    // Operators at the start of the list are more frequent.
    const std::size_t number = std::min(random_.below(ops_.size()), random_.below(ops_.size()));
    launch(actor, choose_stream(actor), ops_[number], false);
  }

  void play_step(Actor& actor, unsigned number) {
    const std::uint64_t begin = actor.now;
    const std::uint16_t stream = actor.streams.front();
    actor.now += 500;
    DeviceSpan first, last;
    for (std::size_t i = 0; i < std::min<std::size_t>(4, ops_.size()); ++i) {
      last = launch(actor, stream, ops_[i], true);
      if (i == 0) first = last;
      actor.now += 100;
    }
    actor.now += 500;
    scene_.call(kModel, kModelExecute, {actor.thread, begin + 200, actor.now - 200}, 1, number);
    scene_.call(kAcl, kAclExecute, {actor.thread, begin, actor.now});
    facts_.calls += 2;
    if (shape_.marks) {
      scene_.mark(actor.thread, begin, actor.now, "step_" + std::to_string(number));
      ++facts_.marks;
    }
    const std::pair<std::uint16_t, std::uint64_t> marks[] = {
        {0, first.start - 180}, {20000, first.start - 160}, {20001, first.start - 100},
        {2, first.end - 20},    {10000, last.start + 20},   {10001, last.end - 20},
        {3, last.end + 20},     {4, last.end + 60},         {1, last.end + 120}};
    for (const auto& [tag, ns] : marks) scene_.step(actor.device, ns, tag, number, 1, stream);
    streams_[{actor.device, stream}].free_at = last.end + 200;
    ++facts_.steps;
  }

  // Loads a model with fused operators before any task runs.
  void load_model() {
    Actor& actor = actors_.front();
    const std::uint64_t begin = actor.now - 500'000;
    scene_.call(kModel, kModelLoad, {actor.thread, begin, begin + 100'000}, 1);
    ++facts_.calls;
    const auto at = [&](std::uint64_t ns) { return folder_.setup().host_at(begin + ns); };
    folder_.host(GraphIdMap{actor.thread, at(1000), folder_.hash("ge_default_graph_1"), 1, 1});
    for (std::size_t i = 0; i < std::min<std::size_t>(shape_.fused, ops_.size()); ++i) {
      FusionOp fused{actor.thread,
                     at(2000 + 100 * i),
                     folder_.hash(ops_[i].kind.name),
                     1024 * i,
                     2048,
                     512,
                     100,
                     2660 + 1024 * i,
                     {}};
      fused.fused = {folder_.hash("origin_a"), folder_.hash("origin_b")};
      folder_.host(fused);
    }
  }

  void add_frequencies() {
    if (folder_.setup().platform != "5") return;
    static constexpr std::uint32_t kMhz[] = {800, 1000, 1200};
    for (const int device : folder_.setup().devices) {
      LpmFreq frequency;
      for (std::uint64_t part = 0; part < 5; ++part) {
        frequency.changes.emplace_back(folder_.setup().ticks_at(last_ns_ * part / 5),
                                       kMhz[random_.below(3)]);
      }
      folder_.device(device, frequency);
    }
  }

  ProfFolder& folder_;
  ProfScene scene_;
  RunShape shape_;
  Random random_;
  std::vector<RunOp> ops_;
  std::vector<Actor> actors_;
  std::map<std::pair<int, std::uint16_t>, Stream> streams_;
  std::uint64_t last_ns_ = 0;
  RunInfo facts_;
};

}  // namespace

MadeRun make_run(const std::filesystem::path& parent, const ProfSetup& setup,
                 const RunShape& shape) {
  ProfSetup used = setup;
  // No run needs more than 4 us per task.
  used.end_us = used.begin_us + 1'000'000 + shape.tasks * 100;
  ProfFolder folder(parent, used);
  folder.set_slice_limit(shape.slice_limit);
  MadeRun made;
  made.facts = Run(folder, shape).play();
  folder.finish();
  made.facts.raw_bytes = folder.raw_bytes();
  made.folder = folder.folder();
  return made;
}

}  // namespace msprof::test::prof
