// Host association: the call, operator, model and collective of a launched task. Source:
// cann_host.md 1.8, 1.10.
#include <catch2/catch.hpp>

#include "import/host_scene.hpp"

using namespace msprof;
using namespace msprof::call_level;
using test::HostScene;
using test::KeptSink;

namespace {

HostCall node_call(std::int64_t id, std::uint64_t begin, std::uint64_t end) {
  HostCall call;
  call.id = id;
  call.level = kNode;
  call.begin = begin;
  call.end = end;
  call.thread = 1;
  return call;
}

}  // namespace

TEST_CASE("a kernel belongs to its node call, with the operator that the call describes") {
  HostScene scene;
  scene.call(1, kAcl, 10, 100).call(2, kNode, 20, 90, 77).task(50, TaskClass::aivec);
  scene.basic(80, 1, 77).tensors(80, 1, 77, std::string(88, 't'));
  NodeAttrInfoWire attribute{};
  attribute.name = 77;
  attribute.attribute = 5;
  scene.record(80, 1, attribute);
  const KeptSink kept = scene.run();
  REQUIRE(kept.tasks.size() == 1);
  CHECK(kept.tasks[0].api_id == 2);
  CHECK(kept.tasks[0].context == kInvalidId);
  CHECK(kept.tasks[0].model_number == kNull);
  REQUIRE(kept.tasks[0].op_id == 1);
  const auto& op = kept.ops[0].op;
  CHECK(op.name_hash == 77);
  CHECK(op.type_hash == 1077);
  CHECK(op.attribute_hash == 5);
  CHECK(op.block_num == 8);
  CHECK(op.mix_block_num == 16);
  CHECK(kept.ops[0].tensors == std::string(88, 't'));
}

TEST_CASE("a record at the start of a call is outside it, one at its end is inside") {
  HostScene scene;
  scene.call(1, kNode, 10, 20).call(2, kNode, 20, 30);
  scene.task(10, TaskClass::other, 1).task(20, TaskClass::other, 2).task(30, TaskClass::other, 3);
  scene.basic(10, 1, 7);
  const KeptSink kept = scene.run();
  REQUIRE(kept.tasks.size() == 3);
  CHECK(kept.tasks[0].api_id == kNull);
  CHECK(kept.tasks[1].api_id == 1);
  CHECK(kept.tasks[2].api_id == 2);
  CHECK(scene.outside == 1);
}

TEST_CASE(
    "a record that is not a kernel belongs to the innermost call of the tree, which has no runtime "
    "calls") {
  HostScene scene;
  scene.call(1, kAcl, 10, 100).call(2, kRuntime, 20, 90).task(50, TaskClass::other);
  const KeptSink kept = scene.run();
  REQUIRE(kept.tasks.size() == 1);
  CHECK(kept.tasks[0].api_id == 1);
  CHECK(kept.tasks[0].op_id == kNull);
}

TEST_CASE("threads do not share calls") {
  HostScene scene;
  scene.call(1, kNode, 10, 100, 5);
  scene.thread = 2;
  scene.task(50, TaskClass::aivec).basic(60, 1, 5);
  const KeptSink kept = scene.run();
  REQUIRE(kept.tasks.size() == 1);
  CHECK(kept.tasks[0].api_id == kNull);
  CHECK(kept.ops.empty());
  CHECK(scene.outside == 1);
}

TEST_CASE("an acl call that overlaps the previous one is not in the tree; node calls nest") {
  HostScene scene;
  scene.call(1, kAcl, 10, 100).call(2, kAcl, 20, 50).task(30, TaskClass::other, 1);
  scene.call(3, kAcl, 100, 120).task(110, TaskClass::other, 2);  // closed intervals overlap
  scene.call(4, kNode, 200, 300, 7).call(5, kNode, 210, 250, 8);
  scene.task(220, TaskClass::aivec, 3).task(260, TaskClass::aivec, 4);
  scene.basic(240, 1, 8).basic(290, 2, 7);
  const KeptSink kept = scene.run();
  REQUIRE(kept.tasks.size() == 4);
  CHECK(kept.tasks[0].api_id == 1);
  CHECK(kept.tasks[1].api_id == kNull);
  CHECK(kept.tasks[2].api_id == 5);
  CHECK(kept.ops[0].op.name_hash == 8);
  CHECK(kept.tasks[3].api_id == 4);
  CHECK(kept.ops[1].op.name_hash == 7);
}

TEST_CASE("if a node call has several operators, the last in reading order describes it") {
  HostScene scene;
  scene.call(1, kNode, 10, 100).task(20, TaskClass::aivec);
  scene.basic(50, 9, 71).basic(60, 3, 72);  // 71 is later in its file, but earlier in time
  scene.tensors(50, 4, 71, std::string(44, 'a')).tensors(60, 5, 72, std::string(44, 'b'));
  const KeptSink kept = scene.run();
  REQUIRE(kept.ops.size() == 1);
  CHECK(kept.ops[0].op.name_hash == 71);
  CHECK(kept.ops[0].tensors == std::string(44, 'b'));
}

TEST_CASE("tensor records with the same name and time are one list in reading order") {
  HostScene scene;
  scene.call(1, kNode, 10, 100).task(20, TaskClass::aivec).basic(50, 1, 7);
  scene.tensors(50, 3, 7, std::string(220, 'b')).tensors(50, 1, 7, std::string(220, 'a'));
  scene.tensors(50, 5, 7, std::string(44, 'c')).tensors(40, 0, 7, std::string(44, 'x'));
  const KeptSink kept = scene.run();
  REQUIRE(kept.ops.size() == 1);
  CHECK(kept.ops[0].tensors ==
        std::string(220, 'a') + std::string(220, 'b') + std::string(44, 'c'));
}

TEST_CASE(
    "a node with contexts creates a task per context and an enclosing task without operator") {
  HostScene scene;
  scene.call(1, kNode, 10, 100).task(20, TaskClass::mix_aic).basic(50, 1, 7);
  scene.contexts(50, 1, 7, {0, 4});
  const KeptSink kept = scene.run();
  REQUIRE(kept.tasks.size() == 3);
  CHECK(kept.tasks[0].context == 0);
  CHECK(kept.tasks[0].op_id != kNull);
  CHECK(kept.tasks[1].context == 4);
  CHECK(kept.tasks[1].op_id != kNull);
  CHECK(kept.tasks[2].context == kInvalidId);
  CHECK(kept.tasks[2].op_id == kNull);
  CHECK(kept.tasks[2].api_id == 1);
}

TEST_CASE("contexts distinguish the operators of one node") {
  HostScene scene;
  scene.call(1, kNode, 10, 100).task(20, TaskClass::ffts_plus);
  scene.basic(50, 1, 71).basic(51, 2, 72).basic(52, 3, 73, 6);
  scene.contexts(50, 1, 71, {3}).contexts(51, 2, 72, {4});
  scene.tensors(50, 1, 71, std::string(44, 'a')).tensors(51, 2, 72, std::string(44, 'b'));
  const KeptSink kept = scene.run();
  REQUIRE(kept.tasks.size() == 3);
  CHECK(kept.tasks[0].context == 3);
  CHECK(kept.ops[0].op.name_hash == 71);
  CHECK(kept.ops[0].tensors == std::string(44, 'a'));
  CHECK(kept.tasks[1].context == 4);
  CHECK(kept.ops[1].op.name_hash == 72);
  CHECK(kept.tasks[2].op_id == kNull);
}

TEST_CASE("an FFTS_PLUS marker read last removes the description of its node") {
  HostScene scene;
  scene.call(1, kNode, 10, 100).task(20, TaskClass::ffts_plus).basic(50, 1, 7);
  scene.basic(50, 2, 8, 6).contexts(50, 1, 7, {0});
  const KeptSink kept = scene.run();
  REQUIRE(kept.tasks.size() == 1);
  CHECK(kept.tasks[0].context == kInvalidId);
  CHECK(kept.tasks[0].op_id == kNull);
}

TEST_CASE("an AI CPU task of a node with contexts is one task with its operator") {
  HostScene scene;
  scene.call(1, kNode, 10, 100).task(20, TaskClass::aicpu).basic(50, 1, 7, 9);
  scene.contexts(50, 1, 7, {0});
  const KeptSink kept = scene.run();
  REQUIRE(kept.tasks.size() == 1);
  CHECK(kept.tasks[0].context == kInvalidId);
  REQUIRE(kept.tasks[0].op_id == 1);
  CHECK(kept.ops[0].op.task_type == 1);  // outside collectives 9 means AI CPU
}

TEST_CASE("a kernel outside node calls is an operator with the name of its kernel") {
  HostScene scene;
  HostTrack track;
  track.time = 50;
  track.thread = 1;
  track.kernel_hash = 99;
  track.task_class = TaskClass::mix_aiv;
  track.has_launch_info = true;
  track.block_num = 20;
  track.mix_ratio = 2;
  scene.task(track);
  track.kernel_hash = 0;
  track.time = 60;
  scene.task(track);
  track.time = 70;
  track.kernel_hash = 98;
  track.task_class = TaskClass::other_kernel;
  scene.task(track);
  const KeptSink kept = scene.run();
  REQUIRE(kept.tasks.size() == 3);
  CHECK(kept.tasks[0].context == 0);
  REQUIRE(kept.tasks[0].op_id == 1);
  CHECK(kept.ops[0].op.name_hash == 99);
  CHECK(kept.ops[0].op.type_hash == 99);
  CHECK(kept.ops[0].op.task_type == 5);
  CHECK(kept.ops[0].op.block_num == 20);
  CHECK(kept.ops[0].op.mix_block_num == 40);
  CHECK(kept.ops[0].op.is_dynamic == -1);
  CHECK(kept.tasks[1].op_id == kNull);
  CHECK(kept.tasks[2].op_id == kNull);
}

TEST_CASE("blocks of the launch override those of the node") {
  HostScene scene;
  scene.call(1, kNode, 10, 100).basic(50, 1, 7);
  HostTrack track;
  track.time = 20;
  track.thread = 1;
  track.task_class = TaskClass::aicore;
  track.has_launch_info = true;
  track.block_num = 20;
  track.mix_ratio = 1;
  scene.task(track);
  track.time = 30;
  track.task_class = TaskClass::simt;
  track.grid_dim[1] = 2;
  scene.task(track);
  const KeptSink kept = scene.run();
  REQUIRE(kept.ops.size() == 2);
  CHECK(kept.ops[0].op.block_num == 20);
  CHECK(kept.ops[0].op.mix_block_num == 20);
  CHECK(kept.ops[1].op.block_num == 8);
  CHECK(kept.ops[1].op.has_dims);
  CHECK(kept.ops[1].op.grid_dim[1] == 2);
}

TEST_CASE("step_info and Lccl calls describe no operator") {
  for (const bool is_step : {true, false}) {
    HostScene scene;
    HostCall call = node_call(1, 10, 100);
    call.is_step_info = is_step;
    call.is_lccl = !is_step;
    scene.call(call).task(20, TaskClass::aivec).basic(50, 1, 7);
    const KeptSink kept = scene.run();
    REQUIRE(kept.tasks.size() == 1);
    CHECK(kept.tasks[0].op_id == kNull);
    CHECK(kept.tasks[0].api_id == 1);
  }
}

TEST_CASE("at level 0 an operator has only a name and blocks") {
  HostScene scene({.names_only = true});
  scene.call(1, kNode, 10, 100, 70).task(20, TaskClass::aivec).basic(50, 1, 7);
  scene.tensors(50, 1, 7, std::string(44, 'a'));
  scene.call(2, kNode, 110, 200, 80).task(120, TaskClass::aivec);
  const KeptSink kept = scene.run();
  REQUIRE(kept.ops.size() == 2);
  CHECK(kept.ops[0].op.name_hash == 7);
  CHECK(kept.ops[0].op.block_num == 8);
  CHECK(kept.ops[0].op.type_hash == 0);
  CHECK(kept.ops[0].op.task_type == HostOp::kNoTaskType);
  CHECK(kept.ops[0].op.is_hf32 == -1);
  CHECK(kept.ops[0].tensors.empty());
  CHECK(kept.ops[1].op.name_hash == 80);
}

TEST_CASE("a task has the model of the enclosing model call, else that of a captured stream") {
  HostScene scene;
  scene.call(1, kModel, 10, 100, 5).call(2, kNode, 20, 90).task(30, TaskClass::aivec, 1);
  scene.task(40, TaskClass::other, 2);
  const KeptSink kept = scene.run();
  REQUIRE(kept.tasks.size() == 2);
  CHECK(kept.tasks[0].model_number == 5);
  CHECK(kept.tasks[1].model_number == 5);

  HostScene bare;
  bare.captured_model = 55;
  bare.call(2, kNode, 20, 90).task(30, TaskClass::aivec);
  CHECK(bare.run().tasks.at(0).model_number == 55);
}

TEST_CASE("tasks with the same thread and time are assigned copies in the order of their numbers") {
  HostScene scene;
  for (const std::uint16_t number : std::vector<std::uint16_t>{3, 1, 2})
    scene.task(50, TaskClass::memcpy_async, number);
  scene.copy(50, 1, 10'000, 4096, 2);
  scene.copy(50, 9, 7, 4096, 1);
  scene.task(60, TaskClass::memcpy_async, 4);
  const KeptSink kept = scene.run();
  REQUIRE(kept.tasks.size() == 4);
  CHECK(kept.tasks[0].task_number == 1);
  CHECK(kept.tasks[0].copy_bytes == 4096);
  CHECK(kept.tasks[1].copy_bytes == 4096);
  CHECK(kept.tasks[2].task_number == 3);
  CHECK(kept.tasks[2].copy_bytes == 10'000 - 2 * 4096);
  CHECK(kept.tasks[2].copy_direction == 2);
  CHECK(kept.tasks[3].copy_bytes == 0);
  CHECK(kept.tasks[3].copy_direction == 65535);
}
