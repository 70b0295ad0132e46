// Raw kind aicpu.data: records of a device's AI CPUs. Source: cann_device.md 8.1.
#include "import/cann/aicpu.hpp"

#include <fmt/format.h>

#include "base/number.hpp"
#include "import/cann/cann_import.hpp"
#include "wire/cann/aicpu_wire.hpp"

namespace msprof::cann {

namespace {

// Values of the head's type field. The head has the layout of host records.
enum class AicpuType : std::uint32_t { node = 0, data_queue = 1, model = 2, mind_spore = 3 };

struct __attribute__((packed)) AicpuQueueWire {  // cann_device.md 8.1.2
  HostHeader head;                               // time in microseconds
  char action[16];                               // NUL-terminated if shorter
  char source[64];
  std::uint64_t index;
  std::uint64_t size;
  std::uint8_t reserved[136];
};
static_assert(sizeof(AicpuQueueWire) == 256);

struct __attribute__((packed)) AicpuModelWire {  // cann_device.md 8.1.3
  HostHeader head;
  std::uint64_t index_id;
  std::uint32_t model_id;
  std::uint16_t tag;
  std::uint16_t unused;
  std::uint64_t event_id;
  std::uint8_t reserved[208];
};
static_assert(sizeof(AicpuModelWire) == 256);

struct __attribute__((packed)) AicpuMindSporeWire {  // cann_device.md 8.1.4
  HostHeader head;
  std::uint32_t node;
  std::uint32_t unused;
  std::uint64_t queue_size;
  std::uint64_t start_us;
  std::uint64_t end_us;
  std::uint8_t reserved[200];
};
static_assert(sizeof(AicpuMindSporeWire) == 256);

constexpr RecordFormat kAicpuFormat{"aicpu", sizeof(AicpuNodeWire), has_record_head};

class AicpuKind : public SliceKind {
 public:
  explicit AicpuKind(CannImport& import) : SliceKind(import, "aicpu.data", kAicpuFormat) {
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
          if (const auto why = add_node(part, decode<AicpuNodeWire>(record.bytes)); !why.empty())
            stream.skip(context, record, why);
          return;
        case AicpuType::data_queue:
          if (head.time > kMaxTimeUs) return stream.skip(context, record, kImpossibleTime);
          return add_queue(context, part, decode<AicpuQueueWire>(record.bytes));
        case AicpuType::model:
          if (part.clock && !part.clock->is_possible(head.time))
            return stream.skip(context, record, kImpossibleTime);
          return add_step_mark(context, part, decode<AicpuModelWire>(record.bytes));
        case AicpuType::mind_spore: {
          const auto wire = decode<AicpuMindSporeWire>(record.bytes);
          if (wire.start_us > kMaxTimeUs || wire.end_us > kMaxTimeUs)
            return stream.skip(context, record, kImpossibleTime);
          return add_mind_spore(context, part, wire);
        }
      }
      ++others[head.type];
    });
    for (const auto& [type, count] : others) {
      context.report.add(FindingId::unread_records, name(), part.name,
                         fmt::format("records of type {} present, not read", type), "", count);
    }
  }

  // Adds the row of a node. Returns why the record is impossible; empty on success.
  std::string_view add_node(const CannPart& part, const AicpuNodeWire& wire) {
    const AicpuNode node{wire.start_ticks,     wire.end_ticks,      wire.compute_start_us,
                         wire.memcpy_start_us, wire.memcpy_end_us,  wire.dispatch_us,
                         wire.submit_ticks,    wire.after_run_ticks};
    if (const auto why = why_impossible(node, part.clock); !why.empty()) return why;
    AicpuNodeRow row = aicpu_row(node, part.clock);
    row.device_id = part.device.value_or(0);
    set_ids(row, wire.stream, wire.task);
    import_.devices[row.device_id].aicpu_nodes.push_back(row);
    return {};
  }

  // Sets stream and task number. With unique task ids (V6), only the host knows the stream;
  // join_devices() fills it in.
  void set_ids(AicpuNodeRow& row, std::uint16_t stream, std::uint16_t task) const {
    StarsIds ids{static_cast<std::uint16_t>(stream % kMaxStreams), task};
    if (family_ == ChipFamily::stars)
      ids = stars_ids(stream, task, kSqeAiCpu, import_.are_streams_expanded);
    row.stream_id = ids.stream;
    row.task_number = ids.task_number;
    if (family_ != ChipFamily::stars_v6) return;
    row.stream_id = kUnknownStream;
    row.task_number = unique_task_id(stream, task);
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

std::int64_t difference(std::uint64_t end, std::uint64_t start) {
  return cell(end - start);
}

}  // namespace

std::string_view why_impossible(const AicpuNode& node, const std::optional<ClockMap>& clock) {
  if (node.start_ticks == 0 || node.end_ticks == 0) return "start or end is 0";
  for (const std::uint64_t us : {node.compute_start_us, node.memcpy_start_us, node.memcpy_end_us}) {
    if (us > kMaxTimeUs) return kImpossibleTime;
  }
  for (const std::uint64_t ticks :
       {node.start_ticks, node.end_ticks, node.submit_ticks, node.after_run_ticks}) {
    if (clock && !clock->is_possible(ticks)) return kImpossibleTime;
  }
  return {};
}

AicpuNodeRow aicpu_row(const AicpuNode& node, const std::optional<ClockMap>& clock) {
  AicpuNodeRow row;
  row.compute_us = difference(node.memcpy_start_us, node.compute_start_us);
  row.memcpy_us = difference(node.memcpy_end_us, node.memcpy_start_us);
  row.dispatch_us = node.dispatch_us;
  if (!clock) return row;
  row.start_ns = clock->ns(node.start_ticks);
  row.end_ns = clock->ns(node.end_ticks);
  const double start_ms = clock->vendor_monotonic_ms(node.start_ticks);
  const double end_ms = clock->vendor_monotonic_ms(node.end_ticks);
  row.vendor_start_ns = clock->to_vendor_ns(start_ms * 1000);
  row.vendor_duration_ns = ns_from_us((end_ms - start_ms) * 1000);
  const auto ticks = static_cast<double>(difference(node.after_run_ticks, node.submit_ticks));
  row.total_ns = ns_from_us(ticks / static_cast<double>(clock->start().frequency_hz) * 1e6);
  return row;
}

std::unique_ptr<RawKind> make_aicpu_kind(CannImport& import) {
  return std::make_unique<AicpuKind>(import);
}

}  // namespace msprof::cann
