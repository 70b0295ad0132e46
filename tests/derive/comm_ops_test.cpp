// comm_op, comm_op_task, comm_span and overlap derived from hand-made store rows. Source of the
// rules: cann_device.md 18.1, 18.2 and 23.6.
#include <catch2/catch.hpp>

#include "derive/passes.hpp"
#include "derive/task_sums.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

using Texts = std::vector<std::string>;
// The last three decimal digits are 026.
constexpr std::uint64_t kGroup = 14987786116221036026U;

class Store {
 public:
  Store() : store(folder_ / "msprof.db") {
    store.set_meta("window.begin_ns", "100");
    group_ = store.name_id("group");
    kind_ = store.name_id("AIV_SQE");
  }

  // Adds the call that launched a task at `launch`; the call's operator `op` started at `begin`.
  std::int64_t call(std::string_view op, std::int64_t begin, std::int64_t launch,
                    bool is_master = true) {
    CommCallRow row;
    row.id = ++calls_;
    row.host_count = launch;
    row.op_begin_count = begin;
    row.op_name_id = store.name_id(op);
    row.op_type_name_id = store.name_id("hcom_allReduce_");
    row.is_master = is_master ? 1 : 0;
    row.group_hash = static_cast<std::int64_t>(kGroup);
    row.group_name_id = group_;
    row.rank_size = 8;
    store.add(row);
    return row.id;
  }
  TaskRow task(std::int64_t start, std::int64_t end, std::int64_t op = kNull) {
    TaskRow row;
    row.id = ++tasks_;
    row.start_ns = start;
    row.duration_ns = end - start;
    row.device_id = 3;
    row.stream_id = 1;
    row.op_id = op;
    row.device_type_name_id = kind_;
    return row;
  }
  void comm(std::int64_t call, std::int64_t start, std::int64_t end) {
    store.add(task(start, end));
    store.add(CommTaskRow{tasks_, call});
  }
  void derive() {
    store.add(TaskRunRow{1, kNull, 1, tasks_, 3});
    OpTimes op_times;
    const TaskSums tasks = sum_tasks(store, op_times);
    derive_comm_ops(store, tasks);
    derive_overlap(store, tasks);
  }
  Texts rows(const std::string& columns, const std::string& rest) {
    Texts result;
    Statement read = store.readable().prepare("SELECT " + columns + " FROM " + rest);
    while (read.step()) result.emplace_back(read.text(0));
    return result;
  }
  Texts ops() {
    return rows("text || ' ' || start_ns || ' ' || end_ns",
                "comm_op JOIN name ON name.id = name_id ORDER BY comm_op.id");
  }
  Texts spans() { return rows("start_ns || ' ' || duration_ns", "comm_span ORDER BY id"); }
  // "kind start end"
  Texts overlap() {
    return rows("kind || ' ' || start_ns || ' ' || end_ns", "overlap ORDER BY id");
  }

 private:
  TempFolder folder_;

 public:
  TraceDbWriter store;

 private:
  std::int64_t group_ = 0;
  std::int64_t kind_ = 0;
  std::int64_t calls_ = 0;
  std::int64_t tasks_ = 0;
};

}  // namespace

TEST_CASE("collectives are numbered in their group and last as long as their master tasks") {
  Store store;
  const auto first = store.call("ar_1", 10, 11);
  const auto slave = store.call("ar_1", 10, 12, false);
  const auto last = store.call("ar_1", 10, 13);
  const auto other = store.call("ar_2", 20, 21);
  store.comm(first, 200, 220);
  store.comm(slave, 190, 290);
  store.comm(last, 230, 250);
  store.comm(other, 300, 310);
  store.derive();
  CHECK(store.ops() == Texts{"ar_1_026_0_1 200 250", "ar_2_026_1_1 300 310"});
  CHECK(store.rows("task_id || ' ' || comm_op_id", "comm_op_task ORDER BY task_id") ==
        Texts{"1 1", "2 1", "3 1", "4 2"});
  CHECK(store.rows("rank_size || ' ' || first_comm_call_id || ' ' || ifnull(model_number, 'none')",
                   "comm_op ORDER BY id") == Texts{"8 1 none", "8 4 none"});
  CHECK(store.spans() == Texts{"200 50", "300 10"});
}

TEST_CASE("a collective is split if another one of its group started in between") {
  Store store;
  const auto a1 = store.call("a", 10, 11);
  const auto a2 = store.call("a", 10, 30);
  const auto b = store.call("b", 20, 21);
  store.comm(a1, 200, 210);
  store.comm(a2, 260, 270);
  store.comm(b, 220, 230);
  store.derive();
  CHECK(store.ops() == Texts{"a_026_0_1 200 210", "b_026_1_1 220 230", "a_026_1_1 260 270"});
  CHECK(store.spans() == Texts{"200 10", "220 10", "260 10"});
}

TEST_CASE("collectives of AI CPU kernels are numbered separately") {
  Store store;
  const auto kernel = store.call("xAicpuKernel", 10, 11);
  const auto normal = store.call("a", 20, 21);
  store.comm(kernel, 200, 210);
  store.comm(normal, 220, 230);
  store.derive();
  CHECK(store.ops() == Texts{"xAicpuKernel_026_0_1 200 210", "a_026_0_1 220 230"});
}

TEST_CASE("a task before the start of the collection starts no collective") {
  Store store;
  const auto early = store.call("a", 10, 11);
  const auto late = store.call("b", 20, 21);
  store.comm(early, 100, 110);
  store.comm(late, 101, 120);
  store.derive();
  CHECK(store.ops() == Texts{"a_026_-1_1 100 110", "b_026_0_1 101 120"});
  CHECK(store.spans() == Texts{"100 10", "101 19"});
}

TEST_CASE("a repeated launch is another collective") {
  Store store;
  const auto call = store.call("a", 10, 11);
  store.comm(call, 200, 210);
  store.comm(call, 300, 310);
  store.derive();
  CHECK(store.ops() == Texts{"a_026_0_1 200 210", "a_026_0_2 300 310"});
}

TEST_CASE("a collective without a master task is ignored") {
  Store store;
  store.comm(store.call("a", 10, 11, false), 200, 210);
  store.derive();
  CHECK(store.ops().empty());
  CHECK(store.rows("task_id", "comm_op_task").empty());
  CHECK(store.spans().empty());
}

TEST_CASE("overlap has computing, communication, not overlapped and free time") {
  Store store;
  store.store.add(OpRow{.id = 1, .name_id = store.store.name_id("op")});
  store.store.add(store.task(200, 210, 1));
  store.store.add(store.task(210, 220, 1));  // adjacent
  store.store.add(store.task(215, 218, 1));
  const auto call = store.call("a", 10, 11);
  store.comm(call, 190, 230);
  store.store.add(store.task(300, 310, 1));
  store.store.add(store.task(290, 330));  // no operator: only extends the time
  store.derive();
  CHECK(store.overlap() == Texts{"0 200 220", "0 300 310", "1 190 230", "2 190 200", "2 220 230",
                                 "3 230 300", "3 310 330"});
}

TEST_CASE("kernels without operator do not extend the free time; others do") {
  Store store;
  store.store.add(OpRow{.id = 1, .name_id = store.store.name_id("op")});
  store.store.add(store.task(200, 210, 1));
  TaskRow kernel = store.task(300, 310);
  kernel.host_type_name_id = store.store.name_id("KERNEL_AIVEC");
  store.store.add(kernel);
  store.store.add(store.task(220, 230));
  store.derive();
  CHECK(store.overlap() == Texts{"0 200 210", "3 210 230"});
}

TEST_CASE(
    "tasks of unknown type, from before the collection or of collective kernels are not "
    "computing") {
  Store store;
  store.store.add(OpRow{.id = 1, .name_id = store.store.name_id("op")});
  store.store.add(OpRow{.id = 2, .name_id = store.store.name_id("xAivKernel")});
  store.store.add(KfcStreamRow{1, kNull, 8, 0, 9, 0});
  store.store.add(store.task(10, 99, 1));
  TaskRow unknown = store.task(200, 210, 1);
  unknown.device_type_name_id = kNull;
  store.store.add(unknown);
  store.store.add(store.task(220, 230, 2));
  TaskRow kfc = store.task(240, 250, 1);
  kfc.stream_id = 9;
  store.store.add(kfc);
  store.derive();
  CHECK(store.overlap() == Texts{"3 220 250"});
}

TEST_CASE("a store without device tasks gets neither collectives nor overlap") {
  const TempFolder folder;
  TraceDbWriter store(folder / "msprof.db");
  store.add(TaskRow{.id = 1, .start_ns = 5, .duration_ns = 5});
  store.add(TaskRunRow{1, 1, 1, 1, kNull});
  OpTimes op_times;
  const TaskSums tasks = sum_tasks(store, op_times);
  derive_comm_ops(store, tasks);
  derive_overlap(store, tasks);
  Statement read = store.readable().prepare(
      "SELECT (SELECT count(*) FROM comm_op) + (SELECT count(*) FROM overlap)");
  REQUIRE(read.step());
  CHECK(read.integer(0) == 0);
}
