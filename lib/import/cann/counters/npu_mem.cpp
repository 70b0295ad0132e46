// Raw kinds npu_mem.app and npu_mem.data: memory used by the application and by the whole device,
// in bytes. Source: cann_system.md 2.
#include <fmt/format.h>

#include <array>

#include "import/cann/counters/counter_tracks.hpp"
#include "import/cann/counters/record_time.hpp"
#include "import/cann/counters/time_order.hpp"

namespace msprof::cann {

namespace {

struct __attribute__((packed)) NpuMemWire {
  std::uint32_t time_us;        // after the start of the device; wraps after 71.6 minutes
  std::uint32_t event;          // 0: the application, 1: the device
  std::uint64_t later_time_us;  // version 2.0 only, replaces time_us
  std::uint64_t ddr_bytes;
  std::uint64_t hbm_bytes;
};
static_assert(sizeof(NpuMemWire) == 32);

// Strict limits, because records have no magic and other data must not pass as records.
constexpr std::uint32_t kMaxMemEvents = 16;
constexpr std::uint64_t kMaxMemBytes = std::uint64_t{1} << 48;

template <bool kIsLater>
bool is_sound_mem(std::span<const std::byte> record) {
  const auto wire = decode<NpuMemWire>(record);
  return wire.event < kMaxMemEvents && wire.ddr_bytes <= kMaxMemBytes &&
         wire.hbm_bytes <= kMaxMemBytes && (!kIsLater || wire.later_time_us <= kMaxTimeUs);
}

constexpr std::string_view kUnsoundMem = "impossible event, time or amount";
constexpr RecordFormat kMemFormat{
    "npu_mem", sizeof(NpuMemWire), is_sound_mem<false>, kUnsoundMem, nullptr, false};
constexpr RecordFormat kMemFormat2{
    "npu_mem", sizeof(NpuMemWire), is_sound_mem<true>, kUnsoundMem, nullptr, false};

class NpuMemKind : public SliceKind {
 public:
  explicit NpuMemKind(CannImport& import)
      : SliceKind(import, "npu_mem.data", kMemFormat, "npu_mem.app") {}

 private:
  struct Subject {
    bool is_open = false;
    std::size_t ddr = 0;
    std::size_t hbm = 0;
    std::size_t both = 0;
  };

  RecordFormat record_format(const RawFile& file) const override {
    return has_later_layout(import_.session.find_part(file)) ? kMemFormat2 : kMemFormat;
  }

  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    if (!check_start(context, part, name())) return;
    CounterTracks tracks(import_, context, name());
    std::array<Subject, kMaxMemEvents> subjects;
    Clock32 clock;
    const bool is_later = has_later_layout(part);
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<NpuMemWire>(record.bytes);
      Subject& subject = subjects[wire.event];
      if (!subject.is_open) subject = open(tracks, part, wire.event);
      const std::int64_t time_ns =
          part.start->after_start_us(is_later ? wire.later_time_us : clock.unwrapped(wire.time_us));
      if (!is_time(import_.session, time_ns)) return stream.skip(context, record, kImpossibleTime);
      tracks.add(subject.ddr, time_ns, sample_value(wire.ddr_bytes));
      tracks.add(subject.hbm, time_ns, sample_value(wire.hbm_bytes));
      tracks.add(subject.both, time_ns, sample_value(wire.ddr_bytes + wire.hbm_bytes));
    });
    tracks.write();
    if (tracks.has_samples())
      tell_unexpected(import_, context, part, name(), {0, 1, 3, 4, 5, 7, 8, 11, 15, 16, 17, 18});
  }

  static Subject open(CounterTracks& tracks, const CannPart& part, std::uint32_t event) {
    const std::string_view what = event == 0 ? "APP" : event == 1 ? "Device" : "Unknown";
    const std::string subject = fmt::format("NPU MEM {}", what);
    const auto track = [&](std::string_view counter) {
      return tracks.open({.device = part.device,
                          .subject = subject,
                          .counter = counter,
                          .unit = "KB",
                          .number = event,
                          .detail = what,
                          .divisor = 1024});
    };
    const std::size_t ddr = track("DDR");
    const std::size_t hbm = track("HBM");
    return {true, ddr, hbm, track("Memory")};
  }
};

}  // namespace

std::unique_ptr<RawKind> make_npu_mem_kind(CannImport& import) {
  return std::make_unique<NpuMemKind>(import);
}

}  // namespace msprof::cann
