// Raw kind dpu_track: kernels of data units driven by the host. Source: cann_new_kinds.md 4.4.
#include <vector>

#include "import/cann/cann_import.hpp"
#include "wire/cann/host_wire.hpp"

namespace msprof::cann {

namespace {

struct __attribute__((packed)) DpuTrackWire {
  HostHeader head;       // its time is the end of the kernel
  std::uint16_t device;  // high 4 bits: 1
  std::uint16_t stream;
  std::uint32_t task;
  std::uint32_t type;
  std::uint32_t reserved;
  std::uint64_t start;
};
static_assert(sizeof(DpuTrackWire) == 48);

constexpr std::uint16_t kDeviceMask = 0x0FFF;
constexpr RecordFormat kDpuTrackFormat{"dpu_track", 64, has_record_head, "bad magic",
                                       host_record_time};

class DpuTrackKind : public SliceKind {
 public:
  explicit DpuTrackKind(CannImport& import) : SliceKind(import, "dpu_track", kDpuTrackFormat) {}

  // Runs last because the names come from task_track, which the join reads.
  void finish(const ImportContext& context) override {
    std::int64_t id = 0;
    for (const DpuTrackWire& wire : records_) {
      DpuTaskRow row;
      row.id = ++id;
      row.dpu_id = wire.device & kDeviceMask;
      row.thread_id = wire.head.thread;
      row.stream_id = wire.stream;
      row.task_number = wire.task;
      row.type_name_id =
          context.store.name_id(import_.dictionaries.type_name(call_level::kRuntime, wire.type));
      const auto name = import_.host.dpu_kernels.find(
          {static_cast<std::uint16_t>(row.dpu_id), std::uint32_t{wire.task}});
      if (name != import_.host.dpu_kernels.end())
        row.name_id = import_.dictionaries.hash_name_id(context.store, name->second);
      row.start_ns = import_.session.host_clock()->ns(wire.start);
      row.end_ns = import_.session.host_clock()->ns(wire.head.time);
      context.store.add(row);
    }
  }

 private:
  void read(const ImportContext& context, const CannPart&, RecordStream& stream) override {
    const bool has_clock = import_.session.host_clock().has_value();
    std::int64_t timeless = 0;
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<DpuTrackWire>(record.bytes);
      if (wire.start > wire.head.time) {
        stream.skip(context, record, "end before start");
      } else if (has_clock) {
        records_.push_back(wire);
      } else {
        ++timeless;
      }
    });
    if (timeless > 0)
      context.report.add(FindingId::no_clock, name(), "", "no clock data for the host",
                         "kernels of data units have no times and are omitted", timeless);
  }

  std::vector<DpuTrackWire> records_;
};

}  // namespace

std::unique_ptr<RawKind> make_dpu_track_kind(CannImport& import) {
  return std::make_unique<DpuTrackKind>(import);
}

}  // namespace msprof::cann
