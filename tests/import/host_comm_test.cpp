// Host association: tasks of collectives. Source: cann_host.md 1.8.5, 1.8.12, 1.10.
#include <catch2/catch.hpp>

#include "import/host_scene.hpp"

using namespace msprof;
using namespace msprof::call_level;
using test::HostScene;
using test::KeptSink;

namespace {

HostCall comm_call(std::int64_t id, std::uint64_t begin, std::uint64_t end, std::uint64_t item,
                   bool is_master) {
  HostCall call;
  call.id = id;
  call.level = kCommunication;
  call.begin = begin;
  call.end = end;
  call.item = item;
  call.is_master = is_master;
  call.thread = 1;
  return call;
}

HcclInfoWire task_info(std::uint64_t item, std::uint32_t context = kInvalidId) {
  HcclInfoWire wire{};
  wire.item = item;
  wire.context = context;
  return wire;
}

}  // namespace

TEST_CASE("a task of a collective has the records of its communication call and its node") {
  HostScene scene;
  scene.call(1, kNode, 10, 200, 70).call(comm_call(2, 20, 50, 33, true));
  scene.task(30, TaskClass::memcpy_async, 1).record(45, 1, task_info(33));
  scene.call(comm_call(3, 60, 90, 34, false)).task(70, TaskClass::other, 2);
  HcclOpInfoWire second{};
  second.count = 12;
  HcclOpInfoWire first{};
  first.count = 11;
  scene.record(150, 2, second).record(160, 1, first).basic(150, 8, 71).basic(150, 7, 72);
  const KeptSink kept = scene.run();
  REQUIRE(kept.tasks.size() == 2);
  REQUIRE(kept.comms.size() == 2);
  CHECK(kept.tasks[0].api_id == 1);
  CHECK(kept.tasks[0].comm_call_id == 1);
  CHECK(kept.tasks[0].op_id == kNull);
  CHECK(kept.comms[0].is_master);
  CHECK(kept.comms[0].has_task_info);
  CHECK(std::uint64_t{kept.comms[0].task.item} == 33);
  CHECK(kept.comms[0].call_begin == 10);
  CHECK(kept.comms[0].call_item == 70);
  CHECK(kept.comms[0].launch_count == 30);
  // The first record of its kind in reading order describes the collective.
  CHECK(std::uint64_t{kept.comms[0].op.count} == 11);
  CHECK(kept.comms[0].kind_hash == 1072);
  CHECK_FALSE(kept.comms[1].is_master);
  CHECK_FALSE(kept.comms[1].has_task_info);
  CHECK(kept.comms[1].has_op_info);
}

TEST_CASE("a communication task without a node call has no host task") {
  HostScene scene;
  scene.call(comm_call(2, 20, 50, 33, true)).task(30, TaskClass::other);
  CHECK(scene.run().tasks.empty());
  CHECK(scene.orphans == 1);
}

TEST_CASE("a kernel of a collective is an operator with the name of its communication call") {
  HostScene scene;
  scene.call(1, kNode, 10, 200, 70).call(comm_call(2, 20, 50, 33, true)).basic(150, 1, 70, 9);
  scene.task(30, TaskClass::aicpu, 1).task(31, TaskClass::aicore, 2);
  scene.task(32, TaskClass::ffts_plus, 3);
  const KeptSink kept = scene.run();
  REQUIRE(kept.tasks.size() == 3);
  REQUIRE(kept.ops.size() == 2);
  CHECK(kept.ops[0].op.name_hash == 33);
  CHECK(kept.ops[0].op.task_type == 256);
  CHECK(kept.ops[1].op.task_type == 9);
  CHECK(kept.tasks[0].comm_call_id != kNull);
  CHECK(kept.tasks[2].op_id == kNull);
}

TEST_CASE("contexts of a communication call are separate tasks") {
  HostScene scene;
  scene.call(1, kNode, 10, 200, 70).call(comm_call(2, 20, 50, 33, true));
  scene.task(30, TaskClass::ffts_plus);
  scene.contexts(40, 1, 33, {2, 4}, kCommunication);
  scene.record(41, 1, task_info(3, 3)).record(42, 2, task_info(9, 9));
  const KeptSink kept = scene.run();
  REQUIRE(kept.tasks.size() == 4);
  const std::uint32_t contexts[] = {2, 3, 4, 9};
  for (std::size_t i = 0; i < 4; ++i) CHECK(kept.tasks[i].context == contexts[i]);
  CHECK_FALSE(kept.comms[0].has_task_info);
  CHECK(std::uint64_t{kept.comms[1].task.item} == 3);
  CHECK(std::uint64_t{kept.comms[3].task.item} == 9);
}

TEST_CASE(
    "a kernel call within a communication call describes the operator, the outer one the "
    "collective") {
  HostScene scene;
  scene.call(1, kNode, 10, 200, 70).call(comm_call(2, 20, 100, 33, true));
  scene.call(3, kNode, 30, 60, 71).task(40, TaskClass::aicpu).basic(55, 1, 71, 1);
  scene.record(90, 1, task_info(33)).basic(150, 2, 70);
  const KeptSink kept = scene.run();
  REQUIRE(kept.tasks.size() == 1);
  CHECK(kept.tasks[0].op_id == 1);
  CHECK(kept.tasks[0].api_id == 1);
  CHECK(kept.comms[0].call_item == 70);
  CHECK(kept.comms[0].has_task_info);
  CHECK(kept.comms[0].kind_hash == 1070);
}
