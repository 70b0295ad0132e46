#include "import/host_scene.hpp"

#include <cstring>

namespace msprof::test {

HostScene& HostScene::later(std::uint64_t time, Order order, Step step) {
  steps_.emplace(std::make_pair(time, order), std::move(step));
  return *this;
}

HostScene& HostScene::call(std::int64_t id, std::uint16_t level, std::uint64_t begin,
                           std::uint64_t end, std::uint64_t item) {
  HostCall made;
  made.id = id;
  made.level = level;
  made.begin = begin;
  made.end = end;
  made.item = item;
  made.thread = thread;
  return call(made);
}

HostScene& HostScene::call(const HostCall& made) {
  return later(made.begin, kCall,
               [made](HostAssociation& association) { association.add_call(made); });
}

HostScene& HostScene::task(std::uint64_t time, TaskClass task_class, std::uint16_t number) {
  HostTrack track;
  track.time = time;
  track.thread = thread;
  track.task_class = task_class;
  track.task_number = number;
  return task(track);
}

HostScene& HostScene::task(const HostTrack& track) {
  return later(track.time, kTask,
               [track](HostAssociation& association) { association.add_task(track); });
}

HostScene& HostScene::copy(std::uint64_t time, std::uint32_t of_thread, std::uint64_t bytes,
                           std::uint64_t most_bytes_per_task, std::uint16_t direction) {
  MemcpyInfoWire copied{};
  copied.head.time = time;
  copied.head.thread = of_thread;
  copied.bytes = bytes;
  copied.most_bytes_per_task = most_bytes_per_task;
  copied.direction = direction;
  return later(time, kCopy,
               [copied](HostAssociation& association) { association.add_copy(copied); });
}

HostScene& HostScene::basic(std::uint64_t time, std::uint64_t sequence, std::uint64_t name,
                            std::uint32_t task_type) {
  NodeBasicInfoWire wire{};
  wire.name = name;
  wire.type = name + 1000;
  wire.task_type = task_type;
  wire.blocks = 8 | 2 << 16;
  return record(time, sequence, wire);
}

HostScene& HostScene::tensors(std::uint64_t time, std::uint64_t sequence, std::uint64_t name,
                              const std::string& bytes) {
  TensorInfoWire wire{};
  wire.name = name;
  wire.tensor_count = static_cast<std::uint32_t>(bytes.size() / sizeof(TensorWire));
  bytes.copy(reinterpret_cast<char*>(wire.tensors), sizeof(wire.tensors));
  return record(time, sequence, wire);
}

HostScene& HostScene::contexts(std::uint64_t time, std::uint64_t sequence, std::uint64_t name,
                               const std::vector<std::uint32_t>& ids, std::uint16_t level) {
  ContextIdInfoWire wire{};
  wire.head.level = level;
  wire.name = name;
  for (const std::uint32_t id : ids) wire.ids[wire.count++] = id;
  return record(time, sequence, wire);
}

KeptSink HostScene::run() {
  KeptSink sink;
  sink.captured = captured_model;
  HostAssociation association(sink, options_);
  for (const auto& [when, step] : steps_) step(association);
  association.finish();
  orphans = association.orphan_comm_tasks();
  return sink;
}

}  // namespace msprof::test
