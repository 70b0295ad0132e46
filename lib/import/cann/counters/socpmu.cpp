// Raw kind socpmu.data: SMMU counters of a task, and page faults; one record per task, with its ids
// but without a time. In the store a record is a series of consecutive samples on tracks of its
// device: "Stream Id", "Task Id", and one per event. The samples have no time and are in file
// order. One track per task would need a million tracks. Source: cann_system.md 15.
#include <fmt/format.h>

#include "import/cann/counters/counter_tracks.hpp"

namespace msprof::cann {

namespace {

constexpr std::size_t kSocPmuEvents = 8;

struct __attribute__((packed)) SocPmuWire {
  std::uint8_t reserved[8];
  std::uint16_t task_type;
  std::uint16_t stream;
  std::uint16_t task;
  std::uint16_t data_type;
  std::uint64_t events[kSocPmuEvents];
};
static_assert(sizeof(SocPmuWire) == 80);

// Chips 15 and 16, which have 32-bit task ids.
struct __attribute__((packed)) LaterSocPmuWire {
  std::uint8_t reserved[6];
  std::uint16_t data_type;
  std::uint16_t task_type;
  std::uint16_t stream;
  std::uint32_t task;
  std::uint64_t events[kSocPmuEvents];
};

enum SocPmuType : std::uint16_t { kHa = 1, kSmmu = 2, kPageFault = 4 };

// Both formats have the same size and no magic.
constexpr RecordFormat kSocPmuFormat{"socpmu", sizeof(SocPmuWire)};
static_assert(sizeof(LaterSocPmuWire) == sizeof(SocPmuWire));

class SocPmuKind : public SliceKind {
 public:
  explicit SocPmuKind(CannImport& import) : SliceKind(import, "socpmu.data", kSocPmuFormat) {}

 private:
  bool has_later_records() const {
    const auto& chip = import_.session.chip();
    return chip && chip->family == ChipFamily::stars_v6;
  }

  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    tell_unexpected(import_, context, part, name(), {5, 15, 16, 17, 18});
    const std::vector<std::uint32_t>& events = part.info.smmu_events;
    const std::size_t count = std::min(events.size(), kSocPmuEvents);
    CounterTracks tracks(import_, context, "soc_pmu");
    const auto open = [&](std::string_view counter) {
      return tracks.open(
          {.device = part.device, .subject = "SMMU", .counter = counter, .unit = {}});
    };
    const std::size_t track = open("Stream Id");
    open("Task Id");
    for (std::size_t i = 0; i < count; ++i) open(fmt::format("{:#x}", events[i]));
    const bool is_later = has_later_records();
    std::int64_t nameless = 0;
    std::int64_t ha_records = 0;
    const auto take = [&](const StreamRecord& record, const auto& wire) {
      if (wire.data_type == kPageFault) {
        add_page_fault(context, part, wire.stream, wire.task, wire.events[0]);
      } else if (wire.data_type == kHa) {
        ++ha_records;
      } else if (wire.data_type != kSmmu) {
        stream.skip(context, record, "unknown type");
      } else if (count == 0) {
        ++nameless;
      } else {
        tracks.add(track, kNull, wire.stream);
        tracks.add(track + 1, kNull, wire.task);
        for (std::size_t i = 0; i < count; ++i)
          tracks.add(track + 2 + i, kNull, sample_value(wire.events[i]));
      }
    };
    stream.open(context, [&](const StreamRecord& record) {
      is_later ? take(record, decode<LaterSocPmuWire>(record.bytes))
               : take(record, decode<SocPmuWire>(record.bytes));
    });
    report_finding(context, part, "records of the HA present, not read", ha_records);
    if (nameless > 0)
      context.report.add(
          FindingId::events_not_said, name(), part.name, "unknown events",
          "npuEvents of sample.json lists no SMMU events, so the counted events are unknown",
          nameless);
    tracks.write();
  }

  void add_page_fault(const ImportContext& context, const CannPart& part, std::uint32_t stream,
                      std::uint32_t task, std::uint64_t count) {
    PageFaultRow row;
    row.id = ++page_faults_;
    row.device_id = part.device.value_or(0);
    row.stream_id = stream;
    row.task_number = task;
    row.fault_count = cell(count);
    context.store.add(row);
  }

  void report_finding(const ImportContext& context, const CannPart& part, std::string reason,
                      std::int64_t count) const {
    if (count > 0)
      context.report.add(FindingId::unread_records, name(), part.name, std::move(reason), "",
                         count);
  }

  std::int64_t page_faults_ = 0;
};

}  // namespace

std::unique_ptr<RawKind> make_socpmu_kind(CannImport& import) {
  return std::make_unique<SocPmuKind>(import);
}

}  // namespace msprof::cann
