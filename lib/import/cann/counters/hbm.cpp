// Raw kind hbm.data: amounts read and written by each HBM channel. A record counts units of 32
// bytes moved in one direction of a channel since the previous record. Source: cann_system.md 4.
#include <fmt/format.h>

#include <map>

#include "import/cann/counters/counter_tracks.hpp"
#include "import/cann/counters/record_time.hpp"
#include "import/cann/counters/time_order.hpp"

namespace msprof::cann {

namespace {

struct __attribute__((packed)) HbmWire {
  std::uint64_t time_us;  // after the start of the device
  std::uint64_t count;
  std::uint32_t event;  // 0: read, else write
  std::uint32_t channel;
};
static_assert(sizeof(HbmWire) == 24);

struct __attribute__((packed)) HbmWire2 {
  std::uint32_t reserved[2];
  std::uint32_t event;
  std::uint32_t channel;
  std::uint64_t count;
  std::uint64_t time_ns;  // since 1970
};
static_assert(sizeof(HbmWire2) == 32);

constexpr std::uint32_t kMaxHbmChannels = 4096;

template <typename Wire>
bool is_sound_hbm(std::span<const std::byte> record) {
  const auto wire = decode<Wire>(record);
  return has_sound_time(wire) && wire.channel < kMaxHbmChannels && wire.event < kMaxHbmChannels;
}

constexpr std::string_view kUnsoundHbm = "impossible channel or time";
constexpr RecordFormat kHbmFormat{"hbm",       sizeof(HbmWire), is_sound_hbm<HbmWire>,
                                  kUnsoundHbm, nullptr,         false};
constexpr RecordFormat kHbmFormat2{"hbm",       sizeof(HbmWire2), is_sound_hbm<HbmWire2>,
                                   kUnsoundHbm, nullptr,          false};

struct HbmAmount {
  bool is_write = false;
  std::uint32_t channel = 0;
  std::uint64_t count = 0;
};

class HbmKind : public SliceKind {
 public:
  explicit HbmKind(CannImport& import) : SliceKind(import, "hbm.data", kHbmFormat) {}

 private:
  RecordFormat record_format(const RawFile& file) const override {
    return has_later_layout(import_.session.find_part(file)) ? kHbmFormat2 : kHbmFormat;
  }

  // One direction of a channel, and the time of its latest record.
  struct Lane {
    std::size_t track = 0;
    std::int64_t last_ns = kNull;
  };

  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    if (!check_start(context, part, name())) return;
    CounterTracks tracks(import_, context, name());
    std::map<std::pair<std::uint32_t, bool>, Lane> lanes;
    const bool is_later = has_later_layout(part);
    TimeOrder<std::pair<HbmAmount, std::uint64_t>> order;
    const auto take = [&](std::int64_t time_ns, const std::pair<HbmAmount, std::uint64_t>& item) {
      const HbmAmount& amount = item.first;
      const auto [at, is_new] = lanes.try_emplace({amount.channel, amount.is_write});
      Lane& lane = at->second;
      if (is_new) lane.track = open(tracks, part, amount);
      // The first record only starts an interval, as the start of its own interval is unknown.
      if (lane.last_ns != kNull) {
        if (time_ns <= lane.last_ns) {
          context.report.skip_record(name(), part.name, kNoInterval, item.second);
          return;
        }
        constexpr std::uint64_t kUnitBytes = 32;
        const std::uint64_t bytes =
            amount.count > INT64_MAX / kUnitBytes ? UINT64_MAX : amount.count * kUnitBytes;
        tracks.add(lane.track, lane.last_ns, time_ns, sample_value(bytes));
      }
      lane.last_ns = time_ns;
    };
    const auto add = [&](const auto& wire, const StreamRecord& record) {
      const HbmAmount amount{wire.event != 0, wire.channel, wire.count};
      const std::int64_t time_ns = record_time_ns(part, wire);
      if (!is_time(import_.session, time_ns)) return stream.skip(context, record, kImpossibleTime);
      if (!order.add(time_ns, {amount, record.offset}, take))
        stream.skip(context, record, kTooLate);
    };
    stream.open(context, [&](const StreamRecord& record) {
      is_later ? add(decode<HbmWire2>(record.bytes), record)
               : add(decode<HbmWire>(record.bytes), record);
    });
    order.finish(take);
    tracks.write();
    if (tracks.has_samples())
      tell_unexpected(import_, context, part, name(), {0, 1, 2, 3, 4, 5, 7, 8, 11, 15, 16, 17, 18});
  }

  static std::size_t open(CounterTracks& tracks, const CannPart& part, const HbmAmount& amount) {
    return tracks.open({.device = part.device,
                        .subject = fmt::format("HBM {}", amount.channel),
                        .counter = amount.is_write ? "Write" : "Read",
                        .unit = "MB/s",
                        .number = amount.channel,
                        .divisor = kMegabyte,
                        .is_rate = true});
  }
};

}  // namespace

std::unique_ptr<RawKind> make_hbm_kind(CannImport& import) {
  return std::make_unique<HbmKind>(import);
}

}  // namespace msprof::cann
