// Raw kind qos.data: bandwidth of up to ten groups of masters, named in sample.json; one record per
// sample. Source: cann_system.md 14.
#include "import/cann/counters/time_order.hpp"
#include "import/cann/counters/track_groups.hpp"

namespace msprof::cann {

namespace {

struct __attribute__((packed)) QosWire {
  std::uint64_t reserved[2];
  std::uint64_t ticks;
  std::uint32_t bandwidth[10];  // MB/s
};
static_assert(sizeof(QosWire) == 64);

// Records have no magic.
constexpr RecordFormat kQosFormat{"qos", sizeof(QosWire)};

class QosKind : public SliceKind {
 public:
  explicit QosKind(CannImport& import) : SliceKind(import, "qos.data", kQosFormat) {}

 private:
  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    if (!check_ticks(context, part, name())) return;
    tell_unexpected(import_, context, part, name(), {5});
    const std::vector<std::string>& names = part.info.qos_events;
    const std::size_t count = std::min(names.size(), std::size(QosWire{}.bandwidth));
    CounterTracks tracks(import_, context, name());
    const std::size_t first_track = tracks.next();
    for (std::size_t i = 0; i < count; ++i) {
      const std::string subject = "QoS " + names[i];
      tracks.open({.device = part.device,
                   .subject = subject,
                   .counter = "Bandwidth",
                   .unit = "MB/s",
                   .number = static_cast<std::int64_t>(i)});
    }
    std::int64_t records = 0;
    TimeOrder<QosWire> order;
    const auto take = [&](std::int64_t time_ns, const QosWire& wire) {
      for (std::size_t i = 0; i < count; ++i)
        tracks.add(first_track + i, time_ns, wire.bandwidth[i]);
    };
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<QosWire>(record.bytes);
      const std::int64_t time_ns = part.clock->ns(wire.ticks);
      if (wire.ticks == 0 || !is_time(import_.session, time_ns)) {
        stream.skip(context, record, kImpossibleTime);
      } else if (!order.add(time_ns, wire, take)) {
        stream.skip(context, record, kTooLate);
      } else {
        ++records;
      }
    });
    order.finish(take);
    if (count == 0 && records > 0)
      context.report.add(FindingId::events_not_said, name(), part.name, "unknown events",
                         "sample.json has no qosEvents, so the counted events are unknown",
                         records);
    tracks.write();
  }
};

}  // namespace

std::unique_ptr<RawKind> make_qos_kind(CannImport& import) {
  return std::make_unique<QosKind>(import);
}

}  // namespace msprof::cann
