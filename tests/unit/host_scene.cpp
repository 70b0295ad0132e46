#include "unit/host_scene.hpp"

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

HostScene& HostScene::copy(const CopyInfo& copied) {
  return later(copied.time, kCopy,
               [copied](HostAssociation& association) { association.add_copy(copied); });
}

HostScene& HostScene::basic(std::uint64_t time, std::uint64_t sequence, std::uint64_t name,
                            std::uint32_t task_type) {
  NodeBasicInfo info;
  info.sequence = sequence;
  info.name_hash = name;
  info.type_hash = name + 1000;
  info.task_type = task_type;
  info.blocks = 8 | 2 << 16;
  return record(time, info);
}

HostScene& HostScene::tensors(std::uint64_t time, std::uint64_t sequence, std::uint64_t name,
                              const std::string& bytes) {
  const std::uint32_t at = thread;
  return later(time, kRecord, [=, this](HostAssociation& association) {
    TensorList list;
    list.sequence = sequence;
    list.name_hash = name;
    list.tensors = std::as_bytes(std::span(bytes));
    if (!association.add(at, time, list)) ++outside;
  });
}

HostScene& HostScene::contexts(std::uint64_t time, std::uint64_t sequence, std::uint64_t name,
                               std::vector<std::uint32_t> ids, std::uint16_t level) {
  const std::uint32_t at = thread;
  return later(time, kRecord, [=, this](HostAssociation& association) {
    ContextIds contexts;
    contexts.sequence = sequence;
    contexts.name_hash = name;
    contexts.level = level;
    contexts.ids = ids;
    if (!association.add(at, time, contexts)) ++outside;
  });
}

KeptSink HostScene::run() {
  KeptSink sink;
  sink.captured = captured_model;
  HostAssociation association(sink, options_);
  for (const auto& [when, step] : steps_) step(association);
  association.finish();
  homeless = association.homeless_comm_tasks();
  return sink;
}

}  // namespace msprof::test
