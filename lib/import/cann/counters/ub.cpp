// Raw kind ub.data: traffic of the unified bus ports (chips 15 and 16). A record describes one port
// at one time. Source: cann_system.md 22.
#include <fmt/format.h>

#include "import/cann/counters/time_order.hpp"
#include "import/cann/counters/track_groups.hpp"

namespace msprof::cann {

namespace {

struct UbCounter {
  std::string_view name;
  std::string_view unit;
};
// In the order of the record. Units are documented only for the first two; the others are stored
// unchanged.
constexpr UbCounter kUbCounters[] = {
    {"bandwidth_rx", "MB/s"}, {"bandwidth_tx", "MB/s"}, {"rx_port_bandwidth", ""},
    {"rx_packet_rate", ""},   {"rx_bytes", ""},         {"rx_packets", ""},
    {"rx_errors", ""},        {"rx_dropped", ""},       {"tx_port_bandwidth", ""},
    {"tx_packet_rate", ""},   {"tx_bytes", ""},         {"tx_packets", ""},
    {"tx_errors", ""},        {"tx_dropped", ""}};
constexpr std::size_t kUbValues = std::size(kUbCounters);

struct __attribute__((packed)) UbWire {
  std::uint16_t magic;
  std::uint16_t reserved_2;
  std::uint16_t port;
  std::uint16_t reserved_6;
  std::uint64_t time_us;  // after the start of the device
  std::uint64_t values[kUbValues];
};
static_assert(sizeof(UbWire) == 128);

// Not checked by a magic: its value is unknown.
constexpr RecordFormat kUbFormat{"ub", sizeof(UbWire)};

class UbKind : public SliceKind {
 public:
  explicit UbKind(CannImport& import) : SliceKind(import, "ub.data", kUbFormat) {}

 private:
  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    if (!check_start(context, part, name())) return;
    tell_unexpected(import_, context, part, name(), {15, 16, 17, 18});
    CounterTracks tracks(import_, context, name());
    TrackGroups<std::size_t> ports(kUbValues);
    TimeOrder<std::pair<UbWire, std::uint64_t>> order;
    const auto take = [&](std::int64_t time_ns, const std::pair<UbWire, std::uint64_t>& item) {
      const UbWire& wire = item.first;
      const std::uint16_t port = wire.port;
      const std::size_t* track = ports.find(port, [&] { return open(tracks, part, port); });
      if (track == nullptr) {
        context.report.skip_record(name(), part.name, kTooMany, item.second);
        return;
      }
      for (std::size_t i = 0; i < kUbValues; ++i)
        tracks.add(*track + i, time_ns, sample_value(wire.values[i]));
    };
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<UbWire>(record.bytes);
      const std::int64_t time_ns = part.start->after_start_us(wire.time_us);
      if (!is_time(import_.session, time_ns)) {
        stream.skip(context, record, kImpossibleTime);
      } else if (!order.add(time_ns, {wire, record.offset}, take)) {
        stream.skip(context, record, kTooLate);
      }
    });
    order.finish(take);
    tracks.write();
  }

  // Opens the tracks of a port and returns the first.
  static std::size_t open(CounterTracks& tracks, const CannPart& part, std::uint16_t port) {
    const std::string subject = fmt::format("UB Port{:03}", port);
    const std::size_t first = tracks.next();
    for (const UbCounter& counter : kUbCounters) {
      tracks.open({.device = part.device,
                   .subject = subject,
                   .counter = counter.name,
                   .unit = counter.unit,
                   .number = port});
    }
    return first;
  }
};

}  // namespace

std::unique_ptr<RawKind> make_ub_kind(CannImport& import) {
  return std::make_unique<UbKind>(import);
}

}  // namespace msprof::cann
