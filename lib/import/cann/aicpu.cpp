// aicpu.data: what the AI CPUs of a device noted. Source: cann_device.md 8.1.
#include <fmt/format.h>

#include "import/cann/aicpu.hpp"
#include "import/cann/aicpu_records.hpp"
#include "import/cann/cann_kinds.hpp"
#include "import/cann/slice_kind.hpp"

namespace msprof::cann {

namespace {

constexpr RecordFormat kFormat{"aicpu", sizeof(AicpuNodeWire), has_record_head};

class AicpuKind : public SliceKind {
 public:
  explicit AicpuKind(CannImport& import) : SliceKind(import, "aicpu.data", kFormat) {
    const auto& chip = import.session.chip();
    if (chip) family_ = chip->family;
  }

 private:
  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    std::map<std::uint32_t, std::int64_t> others;
    stream.open(context, [&](const StreamRecord& record) {
      const auto head = decode<HostHeader>(record.bytes);
      switch (static_cast<AicpuType>(head.type)) {
        case AicpuType::node:
          if (!add_node(part, decode<AicpuNodeWire>(record.bytes)))
            stream.skip(context, record, "start or end is 0");
          return;
        case AicpuType::data_queue:
          return add_queue(context, part, decode<AicpuQueueWire>(record.bytes));
        case AicpuType::model:
          return add_step_mark(context, part, decode<AicpuModelWire>(record.bytes));
        case AicpuType::mind_spore:
          return add_mind_spore(context, part, decode<AicpuMindSporeWire>(record.bytes));
      }
      ++others[head.type];
    });
    for (const auto& [type, count] : others) {
      context.report.add(FindingId::unread_records, name(), part.name,
                         fmt::format("records of type {} present, not read", type), "", count);
    }
  }

  bool add_node(const CannPart& part, const AicpuNodeWire& wire) {
    if (wire.start_ticks == 0 || wire.end_ticks == 0) return false;
    AicpuNodeRow row =
        aicpu_row({wire.start_ticks, wire.end_ticks, wire.compute_start_us, wire.memcpy_start_us,
                   wire.memcpy_end_us, wire.dispatch_us, wire.submit_ticks, wire.after_run_ticks},
                  part.clock);
    row.device_id = part.device.value_or(0);
    const StarsIds ids = ids_of(wire.stream, wire.task);
    row.stream_id = ids.stream;
    row.task_number = ids.task_number;
    import_.devices[row.device_id].aicpu_nodes.push_back(row);
    return true;
  }

  StarsIds ids_of(std::uint16_t stream, std::uint16_t task) const {
    switch (family_) {
      case ChipFamily::stars:
        return stars_ids(stream, task, kSqeAiCpu, import_.streams_expanded);
      case ChipFamily::stars_v6:
        return {stream, task};
      default:
        return {static_cast<std::uint16_t>(stream % kMostStreams), task};
    }
  }

  void add_queue(const ImportContext& context, const CannPart& part, const AicpuQueueWire& wire) {
    DataQueueRow row = queue_row(part);
    row.source_name_id = context.store.name_id(fixed_text(&wire.source[0], sizeof(wire.source)));
    row.action_name_id = context.store.name_id(fixed_text(&wire.action[0], sizeof(wire.action)));
    row.start_us = cell(wire.head.time);
    row.queue_index = cell(wire.index);
    row.queue_size = cell(wire.size);
    context.store.add(row);
  }

  void add_mind_spore(const ImportContext& context, const CannPart& part,
                      const AicpuMindSporeWire& wire) {
    constexpr std::uint32_t kGetNextDequeueWait = 1;
    DataQueueRow row = queue_row(part);
    row.source_name_id = context.store.name_id(
        wire.node == kGetNextDequeueWait ? "GetNext_dequeue_wait" : fmt::format("{}", wire.node));
    row.start_us = cell(wire.start_us);
    row.end_us = cell(wire.end_us);
    row.queue_size = cell(wire.queue_size);
    context.store.add(row);
  }

  DataQueueRow queue_row(const CannPart& part) {
    DataQueueRow row;
    row.id = ++import_.data_queue_rows;
    row.device_id = part.device.value_or(0);
    return row;
  }

  void add_step_mark(const ImportContext& context, const CannPart& part,
                     const AicpuModelWire& wire) {
    StepMarkRow row;
    row.id = ++import_.step_mark_rows;
    row.device_id = part.device.value_or(0);
    row.index_id = cell(wire.index_id);
    row.model_number = wire.model_id;
    row.ticks = cell(wire.head.time);
    if (part.clock) row.time_ns = part.clock->ns(wire.head.time);
    row.tag = wire.tag;
    row.stream_id = 0;
    context.store.add(row);
  }

  ChipFamily family_ = ChipFamily::stars;
};

}  // namespace

std::unique_ptr<RawKind> make_aicpu_kind(CannImport& import) {
  return std::make_unique<AicpuKind>(import);
}

}  // namespace msprof::cann
