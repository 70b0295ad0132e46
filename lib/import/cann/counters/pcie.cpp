// Raw kind pcie.data: minimum, maximum and mean over an interval, for seven types of traffic: the
// bandwidth, or the latency. Source: cann_system.md 7.
#include <array>

#include "import/cann/counters/counter_tracks.hpp"

namespace msprof::cann {

namespace {

constexpr std::size_t kPcieGroups = 7;
constexpr std::size_t kPcieLatency = 3;  // this group is in ns, the others in bytes per microsecond
constexpr std::array<std::string_view, kPcieGroups> kPcieNames = {
    "PCIe Tx posted", "PCIe Tx non-posted", "PCIe Tx completion", "PCIe Tx non-posted latency",
    "PCIe Rx posted", "PCIe Rx non-posted", "PCIe Rx completion"};
constexpr std::array<std::string_view, 3> kPcieCounters = {"Min", "Max", "Avg"};
constexpr std::uint32_t kNothingSeen = 0xFFFFF;  // minimum if there was no traffic

struct __attribute__((packed)) PcieWire {
  std::uint64_t device_ns;  // time of the device's monotonic clock
  std::uint32_t device;
  std::uint32_t values[kPcieGroups][3];  // in the order of kPcieCounters
};
static_assert(sizeof(PcieWire) == 96);

bool is_sound_pcie(std::span<const std::byte> record) {
  constexpr std::uint32_t kMaxDevices = 64;
  constexpr std::uint64_t kMaxUptimeNs = std::uint64_t{1} << 56;  // 2.3 years
  const auto wire = decode<PcieWire>(record);
  return wire.device < kMaxDevices && wire.device_ns <= kMaxUptimeNs;
}

constexpr RecordFormat kPcieFormat{
    "pcie", sizeof(PcieWire), is_sound_pcie, "impossible device or time", nullptr, false};

class PcieKind : public SliceKind {
 public:
  explicit PcieKind(CannImport& import) : SliceKind(import, "pcie.data", kPcieFormat) {}

 private:
  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    if (!check_start(context, part, name())) return;
    CounterTracks tracks(import_, context, name());
    std::array<std::array<std::size_t, kPcieCounters.size()>, kPcieGroups> opened{};
    for (std::size_t group = 0; group < kPcieGroups; ++group) {
      const bool is_latency = group == kPcieLatency;
      for (std::size_t i = 0; i < kPcieCounters.size(); ++i) {
        opened[group][i] = tracks.open({.device = part.device,
                                        .subject = kPcieNames[group],
                                        .counter = kPcieCounters[i],
                                        .unit = is_latency ? "us" : "MB/s",
                                        .part = static_cast<std::int64_t>(group),
                                        .divisor = is_latency ? 1000 : kMegabyte});
      }
    }
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<PcieWire>(record.bytes);
      const std::int64_t time_ns = part.start->of_device(wire.device_ns);
      if (!is_time(import_.session, time_ns)) return stream.skip(context, record, kImpossibleTime);
      for (std::size_t group = 0; group < kPcieGroups; ++group) {
        constexpr std::int64_t kUsPerSecond = 1'000'000;
        const std::int64_t factor = group == kPcieLatency ? 1 : kUsPerSecond;
        for (std::size_t i = 0; i < kPcieCounters.size(); ++i) {
          const std::uint32_t value = wire.values[group][i];
          if (i == 0 && value == kNothingSeen) continue;
          tracks.add(opened[group][i], time_ns, std::int64_t{value} * factor);
        }
      }
    });
    tracks.write();
    if (tracks.has_samples())
      tell_unexpected(import_, context, part, name(), {0, 1, 2, 3, 4, 5, 15, 16, 17, 18});
  }
};

}  // namespace

std::unique_ptr<RawKind> make_pcie_kind(CannImport& import) {
  return std::make_unique<PcieKind>(import);
}

}  // namespace msprof::cann
