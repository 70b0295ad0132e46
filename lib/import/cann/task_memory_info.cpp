// Raw kind task_memory_info: device memory allocated and freed by operators. Source: cann_host.md
// 1.8.13.
#include "import/cann/cann_import.hpp"
#include "wire/cann/host_wire.hpp"

namespace msprof::cann {

namespace {

constexpr RecordFormat kTaskMemoryInfoFormat{"task_memory_info", sizeof(TaskMemoryWire),
                                             has_record_head, "bad magic", host_record_time};

class TaskMemoryKind : public SliceKind {
 public:
  explicit TaskMemoryKind(CannImport& import)
      : SliceKind(import, "task_memory_info", kTaskMemoryInfoFormat) {}

 private:
  void read(const ImportContext& context, const CannPart&, RecordStream& stream) override {
    const auto& host_clock = import_.session.host_clock();
    if (host_clock) {
      shown_ = *host_clock;
      // These counts are never nanoseconds, not even at 1000 MHz (cann_host.md 1.7.2).
      ClockStart start = host_clock->start();
      start.counts_are_ns = false;
      clock_ = ClockMap(start);
    }
    stream.open(context, [&](const StreamRecord& record) {
      add(context, decode<TaskMemoryWire>(record.bytes), host_clock.has_value());
    });
  }

  void add(const ImportContext& context, const TaskMemoryWire& wire, bool has_clock) {
    MemoryEventRow row;
    row.id = ++rows_;
    row.device_id = wire.device_id;
    row.device_type = wire.device_type;
    row.thread_id = wire.head.thread;
    if (import_.dictionaries.find_hash_text(wire.name)) {
      row.name_id = import_.dictionaries.hash_name_id(context.store, wire.name);
    }
    row.name_hash = cell(wire.name);
    row.address = cell(wire.address);
    row.size_bytes = wire.size_bytes;
    row.total_allocated_bytes = cell(wire.total_allocated_bytes);
    row.total_reserved_bytes = cell(wire.total_reserved_bytes);
    if (has_clock) {
      row.time_ns = clock_.ns(wire.head.time);
      row.vendor_time_ns = shown_.vendor_ns(wire.head.time);
    }
    row.host_count = cell(wire.head.time);
    context.store.add(row);
  }

  ClockMap clock_;
  ClockMap shown_;
  std::int64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<RawKind> make_task_memory_info_kind(CannImport& import) {
  return std::make_unique<TaskMemoryKind>(import);
}

}  // namespace msprof::cann
