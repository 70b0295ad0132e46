// DeviceTasks: passes hand-made records and checks the rows of a real store.
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <variant>

#include "import/cann/join/device_tasks.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

using Texts = std::vector<std::string>;
using Record = std::variant<DeviceLog, TaskCounters>;

// Every operator has 10 blocks and 3 mix blocks; with_blocks() returns 100 + block_num.
class Ops : public OpTable {
 public:
  std::int64_t block_num(std::int64_t) const override { return 10; }
  std::int64_t mix_block_num(std::int64_t op) const override { return op >= 100 ? last_mix_ : 3; }
  std::int64_t name_id(std::int64_t op) const override { return 1000 + op; }
  std::int64_t unit_name_id(std::int64_t) const override { return unit; }
  std::int64_t with_blocks(std::int64_t, std::int64_t block_num, std::int64_t mix) override {
    last_mix_ = mix;
    return 100 + block_num;
  }
  std::int64_t unit = kNull;

 private:
  std::int64_t last_mix_ = 0;
};

class Device {
 public:
  Device() : store(folder_ / "msprof.db"), hosts(folder_.path()) {
    ClockStart start;
    start.count = 0;
    start.frequency_hz = 100'000'000;  // a tick is 10 ns
    clock_ = ClockMap(start);
    settings.clock = &clock_;
    settings.frequency_mhz = 1650;
    settings.ops = &ops;
  }

  // Runs both passes over the records in the given order.
  DeviceTaskCounts run(const std::vector<Record>& records,
                       const std::function<void(DeviceCounts&)>& prepare = {}) {
    DeviceCounts counts(settings.has_batches);
    if (prepare) prepare(counts);
    for (const Record& record : records)
      std::visit([&](const auto& one) { counts.count(one); }, record);
    DeviceTasks tasks(settings, store, hosts, 1);
    tasks.begin(std::move(counts));
    for (const Record& record : records)
      std::visit([&](const auto& one) { tasks.push(one); }, record);
    return tasks.finish();
  }

  // Rows as "a|b|NULL".
  Texts rows(const std::vector<std::string>& columns, const std::string& rest) {
    std::string list;
    for (const std::string& column : columns)
      list += (list.empty() ? "" : " || '|' || ") + ("ifnull(" + column + ", 'NULL')");
    Texts result;
    Statement read = store.readable().prepare("SELECT " + list + " FROM " + rest);
    while (read.step()) result.emplace_back(read.text(0));
    return result;
  }
  Texts tasks() {
    return rows(
        {"stream_id", "task_number", "batch", "context", "start_ns", "duration_ns", "op_id"},
        "task ORDER BY id");
  }

  void host(std::uint16_t stream, std::uint16_t task, std::int64_t op, std::uint64_t launch = 1,
            std::uint16_t batch = 0, std::uint32_t context = kInvalidId) {
    HostTask host;
    host.stream = stream;
    host.task_number = task;
    host.op_id = op;
    host.launch_count = launch;
    host.batch = batch;
    host.context = context;
    hosts.add(host);
  }

 private:
  TempFolder folder_;
  ClockMap clock_;

 public:
  TraceDbWriter store;
  HostTaskStore hosts;
  Ops ops;
  DeviceSettings settings;
};

DeviceLog log(bool is_start, std::uint64_t ticks, std::uint16_t stream, std::uint16_t task,
              std::uint32_t context = kInvalidId, std::uint16_t thread = 0) {
  static std::uint64_t sequence = 0;
  DeviceLog log;
  log.place = {ticks, sequence++};
  log.type_name_id = 42;
  log.context = context;
  log.stream = stream;
  log.task_number = task;
  log.thread = thread;
  log.is_start = is_start;
  return log;
}

TaskCounters counters(std::uint64_t end, std::uint16_t stream, std::uint16_t task,
                      CoreKind kind = CoreKind::aiv, std::uint32_t context = kInvalidId,
                      std::uint64_t cycles = 900) {
  TaskCounters counters;
  counters.end = {end, 0};
  counters.stream = stream;
  counters.task_number = task;
  counters.context = context;
  counters.kind = kind;
  counters.values.total_cycles = cycles;
  counters.values.counters = {1, 2, 3, 4, 5, 6, 7, 8};
  return counters;
}

TaskCounters block(std::uint64_t end, CoreKind kind = CoreKind::mix_aic) {
  TaskCounters block;
  block.what = TaskCounters::What::block;
  block.end = {end, 0};
  block.stream = 1;
  block.task_number = 0;
  block.context = 0;
  block.kind = kind;
  block.values.total_cycles = 10;
  block.values.counters = {1, 0, 0, 0, 0, 0, 0, 2};
  return block;
}

const std::vector<std::string> kSides = {"c0", "c1", "c2", "c9", "c10", "c11", "c18", "c19"};

}  // namespace

TEST_CASE("tasks are sorted by start, stream, task and context, in any order of ends") {
  Device device;
  device.run({log(true, 10, 2, 0), log(true, 10, 1, 5), log(true, 10, 1, 4), log(true, 10, 1, 4, 0),
              log(true, 20, 1, 6), log(false, 21, 1, 6), log(false, 30, 1, 4, 0),
              log(false, 31, 1, 4), log(false, 40, 1, 5), log(false, 50, 2, 0)});
  CHECK(device.tasks() == Texts{"1|4|0|0|100|200|NULL", "1|4|0|NULL|100|210|NULL",
                                "1|5|0|NULL|100|300|NULL", "2|0|0|NULL|100|400|NULL",
                                "1|6|0|NULL|200|10|NULL"});
}

TEST_CASE("a task without an end delays no other task and is counted") {
  Device device;
  std::vector<Record> records = {log(true, 1, 9, 9)};
  for (std::uint16_t task = 0; task < 40'000; ++task) {
    records.push_back(log(true, 10U + 2U * task, 1, task));
    records.push_back(log(false, 11U + 2U * task, 1, task));
  }
  SECTION("at all") {
    const auto counts = device.run(records);
    CHECK(counts.tasks == 40'000);
    CHECK(counts.starts_without_end == 1);
  }
  SECTION("until the end of the data: it is written in its place") {
    records.push_back(log(false, 100'000, 9, 9));
    const auto counts = device.run(records);
    CHECK(counts.tasks == 40'001);
    CHECK(counts.starts_without_end == 0);
    CHECK(device.tasks().front() == "9|9|0|NULL|10|999990|NULL");
  }
}

TEST_CASE("an end without a start, and the same start twice, are counted") {
  Device device;
  const auto counts = device.run({log(false, 5, 1, 0), log(true, 10, 1, 1), log(true, 10, 1, 1),
                                  log(false, 20, 1, 1), log(false, 20, 1, 1)});
  CHECK(counts.ends_without_start == 2);
  CHECK(counts.repeated_starts == 1);
  CHECK(device.tasks() == Texts{"1|1|0|NULL|100|100|NULL"});
}

TEST_CASE("threads of a sub task that start together are separate tasks") {
  Device device;
  const auto counts = device.run({log(true, 10, 1, 1, 3, 0), log(true, 10, 1, 1, 3, 1),
                                  log(false, 20, 1, 1, 3, 0), log(false, 30, 1, 1, 3, 1)});
  CHECK(counts.tasks == 2);
  CHECK(device.tasks() == Texts{"1|1|0|3|100|100|NULL", "1|1|0|3|100|200|NULL"});
}

TEST_CASE("a single host task belongs to every device task of its key") {
  Device device;
  device.host(1, 4, 5);
  const auto counts = device.run(
      {log(true, 10, 1, 4), log(false, 20, 1, 4), log(true, 30, 1, 4), log(false, 40, 1, 4)});
  CHECK(device.tasks() == Texts{"1|4|0|NULL|100|100|5", "1|4|0|NULL|300|100|5"});
  CHECK(counts.hosts_without_task == 0);
}

TEST_CASE(
    "several host tasks of a key are matched with device tasks in order if the numbers are equal") {
  Device device;
  device.host(1, 4, 5, 100);
  device.host(1, 4, 6, 200);
  std::vector<Record> records = {log(true, 10, 1, 4), log(false, 20, 1, 4), log(true, 30, 1, 4),
                                 log(false, 40, 1, 4)};
  SECTION("as many") {
    const auto counts = device.run(records);
    CHECK(counts.tasks_of_several_hosts == 0);
    CHECK(device.tasks() == Texts{"1|4|0|NULL|100|100|5", "1|4|0|NULL|300|100|6"});
  }
  SECTION("more") {
    records.push_back(log(true, 50, 1, 4));
    records.push_back(log(false, 60, 1, 4));
    const auto counts = device.run(records);
    CHECK(counts.tasks_of_several_hosts == 3);
    CHECK(device.tasks() ==
          Texts{"1|4|0|NULL|100|100|NULL", "1|4|0|NULL|300|100|NULL", "1|4|0|NULL|500|100|NULL"});
  }
  SECTION("a start without an end does not count") {
    records.push_back(log(true, 50, 1, 4));
    const auto counts = device.run(records);
    CHECK(counts.tasks_of_several_hosts == 0);
    CHECK(counts.starts_without_end == 1);
    CHECK(device.tasks() == Texts{"1|4|0|NULL|100|100|5", "1|4|0|NULL|300|100|6"});
  }
}

TEST_CASE("a launch recorded twice is one launch, and keeps its operator") {
  Device device;
  device.host(1, 4, kNull, 100);
  device.host(1, 4, 5, 100);
  device.host(1, 4, kNull, 100);
  const auto counts = device.run({log(true, 10, 1, 4), log(false, 20, 1, 4)});
  CHECK(counts.tasks_of_several_hosts == 0);
  CHECK(device.tasks() == Texts{"1|4|0|NULL|100|100|5"});
}

TEST_CASE("host tasks without a device record are counted") {
  Device device;
  device.host(1, 4, 5);
  device.host(1, 5, 5);
  device.host(2, 0, 5);
  device.host(1, 4, 5, 1, 3);
  const auto counts = device.run({log(true, 10, 1, 4), log(false, 20, 1, 4)});
  CHECK(counts.hosts_without_task == 3);
}

TEST_CASE("after a flip the same task id is another launch") {
  Device device;
  device.host(1, 0, 5, 1, 0);
  device.host(1, 0, 6, 2, 1);
  const auto flip = [](DeviceCounts& counts) { counts.add_flip(1, 25, 0); };
  const std::vector<Record> records = {log(true, 10, 1, 0), log(false, 20, 1, 0),
                                       log(true, 30, 1, 0), log(false, 40, 1, 0)};
  SECTION("where chips have batches") {
    device.run(records, flip);
    CHECK(device.tasks() == Texts{"1|0|0|NULL|100|100|5", "1|0|1|NULL|300|100|6"});
  }
  SECTION("and not where they have none") {
    device.settings.has_batches = false;
    device.run(records, flip);
    CHECK(device.tasks() == Texts{"1|0|0|NULL|100|100|5", "1|0|0|NULL|300|100|5"});
  }
}

TEST_CASE("counters belong to the task in which they ended") {
  Device device;
  const auto counts =
      device.run({counters(9, 1, 0), log(true, 10, 1, 0), counters(20, 1, 0), log(false, 20, 1, 0),
                  counters(21, 1, 0), log(true, 30, 1, 0), log(false, 40, 1, 0)});
  CHECK(counts.counters_without_task == 2);
  CHECK(device.rows({"task_id", "c10"}, "task_pmu") == Texts{"1|900"});
}

TEST_CASE("a task has the counters of its kind of core, and the others are 0") {
  Device device;
  device.run({log(true, 10, 1, 0), log(true, 10, 1, 1), counters(15, 1, 0, CoreKind::aic),
              counters(15, 1, 1, CoreKind::aiv), log(false, 20, 1, 0), log(false, 20, 1, 1)});
  CHECK(device.rows(kSides, "task_pmu ORDER BY task_id") ==
        Texts{"1650|900|1|8|0|0|0|0", "1650|0|0|0|900|1|8|1"});
}

TEST_CASE("a MIX task sums the counters of all its blocks") {
  Device device;
  device.host(1, 0, 5, 1, 0, 0);
  const auto start = log(true, 10, 1, 0, 0);
  const auto end = log(false, 20, 1, 0, 0);
  const auto main = counters(20, 1, 0, CoreKind::mix_aic, 0);
  SECTION("those of the operator, no more") {
    const auto counts = device.run({start, block(11), block(12), block(13), block(14), main, end});
    CHECK(counts.blocks_without_task == 1);
    CHECK(device.rows(kSides, "task_pmu") == Texts{"1650|900|1|8|30|3|6|2"});
  }
  SECTION("those of its kind of core") {
    const auto counts = device.run({start, block(11, CoreKind::mix_aiv), main, end});
    CHECK(counts.blocks_without_task == 0);
    CHECK(device.rows(kSides, "task_pmu") == Texts{"1650|900|1|8|0|0|0|2"});
  }
  SECTION("those that became known at launch") {
    device.run({start, block(11), block(12), block(13), main, end},
               [](DeviceCounts& counts) { counts.add_blocks(1, 5, 0, 2, 1); });
    CHECK(device.rows(kSides, "task_pmu") == Texts{"1650|900|1|8|20|2|4|2"});
    CHECK(device.tasks() == Texts{"1|0|0|0|100|100|102"});
  }
  SECTION("none without separate counters") {
    device.run({start, block(11), end});
    CHECK(device.rows({"task_id"}, "task_pmu").empty());
  }
}

TEST_CASE("a task has the frequency at the end of its counters") {
  Device device;
  const std::vector<std::pair<std::uint64_t, std::uint32_t>> changes = {{12, 800}, {30, 1850}};
  device.settings.frequencies = &changes;
  device.run({log(true, 10, 1, 0), log(true, 10, 1, 1), log(true, 10, 1, 2), counters(11, 1, 0),
              counters(12, 1, 1), counters(30, 1, 2), log(false, 31, 1, 0), log(false, 31, 1, 1),
              log(false, 31, 1, 2)});
  CHECK(device.rows({"c0"}, "task_pmu ORDER BY task_id") == Texts{"1650", "800", "1850"});
}

TEST_CASE("copies and collectives have rows, placeholders only a launch") {
  Device device;
  HostTask copy;
  copy.stream = 1;
  copy.copy_bytes = 4096;
  copy.copy_direction = 1;
  copy.comm_call_id = 17;
  device.hosts.add(copy);
  auto start = log(true, 10, 1, 0);
  auto end = log(false, 20, 1, 0);
  auto other_start = log(true, 10, 1, 1);
  auto other_end = log(false, 20, 1, 1);
  for (DeviceLog* one : {&start, &end, &other_start, &other_end}) one->is_placeholder = true;
  const auto counts = device.run({start, other_start, end, other_end});
  CHECK(counts.tasks == 1);
  CHECK(counts.starts_without_end == 0);
  CHECK(device.rows({"task_id", "size_bytes", "direction"}, "memcpy_task") == Texts{"1|4096|1"});
  CHECK(device.rows({"task_id", "comm_call_id"}, "comm_task") == Texts{"1|17"});
}

TEST_CASE("an AI CPU node has the name of the operator in whose task it ended") {
  Device device;
  std::vector<AicpuNodeRow> nodes(3);
  for (AicpuNodeRow& node : nodes) node.stream_id = node.task_number = 1;
  nodes[0].end_ns = 350;
  nodes[1].end_ns = 200;
  nodes[2].end_ns = 250;
  AicpuNames names(nodes);
  device.settings.aicpu_names = &names;
  device.ops.unit = device.store.name_id("AI_CPU");
  HostTask host;
  host.stream = 1;
  host.task_number = 1;
  host.op_id = 5;
  host.type_name_id = device.store.name_id("KERNEL_AICPU");
  device.hosts.add(host);
  device.run(
      {log(true, 10, 1, 1), log(false, 20, 1, 1), log(true, 30, 1, 1), log(false, 40, 1, 1)});
  CHECK(nodes[0].op_name_id == 1005);
  CHECK(nodes[1].op_name_id == 1005);
  CHECK(nodes[2].op_name_id == kNull);
}
