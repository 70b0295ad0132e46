// Raw kinds training_trace and runtime.host.runtime. Source: cann5_classic.md 5.4, 5.6.
#include "import/old/classic_import.hpp"
#include "import/old/old_import.hpp"
#include "wire/old/classic_wire.hpp"

namespace msprof::old {

namespace {

using cann::RecordStream;
using cann::StreamRecord;

// A mark must have a time; there is no other way to recognize one.
bool is_mark(std::span<const std::byte> record) {
  return cann::decode<TrainingTraceWire>(record).ticks != 0;
}
constexpr cann::RecordFormat kTrainingTrace{
    "training_trace", sizeof(TrainingTraceWire), is_mark, "timestamp 0", nullptr, false};

bool is_launch(std::span<const std::byte> record) {
  return cann::decode<RuntimeLaunchWire>(record).bytes == sizeof(RuntimeLaunchWire);
}
constexpr cann::RecordFormat kLaunch{"runtime", sizeof(RuntimeLaunchWire), is_launch,
                                     "bad record header"};

class TrainingTraceKind : public cann::SliceKind {
 public:
  explicit TrainingTraceKind(CannImport& import)
      : SliceKind(import, "training_trace", kTrainingTrace, "training_trace.data") {}

 private:
  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    auto& marks = import_.cann5->devices[part.device.value_or(0)].step_marks.marks;
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = cann::decode<TrainingTraceWire>(record.bytes);
      if (part.clock && !part.clock->is_possible(wire.ticks))
        return stream.skip(context, record, cann::kImpossibleTime);
      marks.push_back({wire.tag, wire.ticks, wire.stream});
    });
  }
};

class RuntimeLaunchKind : public cann::SliceKind {
 public:
  explicit RuntimeLaunchKind(CannImport& import)
      : SliceKind(import, "runtime.host.runtime", kLaunch) {}

 private:
  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = cann::decode<RuntimeLaunchWire>(record.bytes);
      if (!import_.session.host_clock()->is_possible(wire.time_ns))
        return stream.skip(context, record, cann::kImpossibleTime);
      TaskLaunchRow row;
      row.id = ++import_.classic->launches;
      row.device_id = part.device.value_or(0);
      row.time_ns = import_.session.host_clock()->ns(wire.time_ns);
      row.event = wire.event;
      row.task_type = wire.task_type;
      row.stream_id = wire.stream;
      row.task_number = wire.task;
      row.thread_id = wire.thread;
      row.kernel_name_id =
          context.store.name_id(cann::fixed_text(&wire.kernel[0], sizeof(wire.kernel)));
      row.is_persistent = wire.flags & 1;
      context.store.add(row);
    });
  }
};

}  // namespace

std::unique_ptr<RawKind> make_training_trace_kind(CannImport& import) {
  return std::make_unique<TrainingTraceKind>(import);
}
std::unique_ptr<RawKind> make_runtime_launch_kind(CannImport& import) {
  return std::make_unique<RuntimeLaunchKind>(import);
}

}  // namespace msprof::old
