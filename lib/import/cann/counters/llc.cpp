// Raw kind llc.data of all chips except the 310: events of each last-level cache, counted since the
// previous records. Hit rate and throughput are computed here from all events of one time. Source:
// cann_system.md 6.
#include "import/cann/counters/llc.hpp"

#include <fmt/format.h>

#include <array>

#include "base/number.hpp"
#include "import/cann/counters/counter_tracks.hpp"
#include "import/cann/counters/record_time.hpp"
#include "import/cann/counters/time_order.hpp"

namespace msprof::cann {

namespace {

struct __attribute__((packed)) LlcWire {
  std::uint64_t time_us;  // after the start of the device
  std::uint64_t count;
  std::uint32_t event;
  std::uint32_t cache;
};
static_assert(sizeof(LlcWire) == 24);

struct __attribute__((packed)) LlcWire2 {
  std::uint32_t reserved;
  std::uint32_t count;
  std::uint32_t event;
  std::uint32_t cache;
  std::uint64_t time_ns;  // since 1970
};
static_assert(sizeof(LlcWire2) == 24);

constexpr std::uint32_t kMaxCaches = 1024;
constexpr std::uint32_t kMaxLlcEvents = 256;
// its size in bytes still fits 64 bits
constexpr std::uint64_t kMaxLlcCount = std::uint64_t{1} << 55;
constexpr std::int64_t kLlcLineBytes = 64;

template <typename Wire>
bool is_sound_llc(std::span<const std::byte> record) {
  const auto wire = decode<Wire>(record);
  return has_sound_time(wire) && std::uint64_t{wire.count} <= kMaxLlcCount &&
         wire.cache < kMaxCaches && wire.event < kMaxLlcEvents;
}

constexpr std::string_view kUnsoundLlc = "impossible cache, event, count or time";
constexpr RecordFormat kLlcFormat{"llc",       sizeof(LlcWire), is_sound_llc<LlcWire>,
                                  kUnsoundLlc, nullptr,         false};
constexpr RecordFormat kLlcFormat2{"llc",       sizeof(LlcWire2), is_sound_llc<LlcWire2>,
                                   kUnsoundLlc, nullptr,          false};

// Indexes of the events of one time: 0 and 1 count transfers, 4 and 6 lookups, 2, 3, 5 and 7 hits.
constexpr std::size_t kLlcPlaces = 8;
using LlcEvents = std::array<std::uint32_t, kLlcPlaces>;
constexpr LlcEvents kLlcReadEvents = {0x00, 0x01, 0x02, 0x13, 0x20, 0x22, 0x34, 0x36};
constexpr LlcEvents kLlcWriteEvents = {0x00, 0x01, 0x03, 0x14, 0x21, 0x23, 0x35, 0x37};
constexpr unsigned kLlcMoved = 0b0000'0011;
constexpr unsigned kLlcLookedUp = 0b0101'0000;
constexpr unsigned kLlcFound = 0b1010'1100;

constexpr std::string_view kLacksEvent = "sample without one of its events";

// Returns hits per lookup in thousandths, rounded half to even; 0 without lookups, as in other
// tools.
std::int64_t hit_thousandths(std::uint64_t found, std::uint64_t looked_up) {
  if (looked_up == 0) return 0;
  const int128 scaled = int128{found} * 1000;
  int128 rounded = divide_rounded(scaled, looked_up);
  const bool is_half = rounded * 2 * looked_up - scaled * 2 == int128{looked_up};
  if (is_half && rounded % 2 != 0) --rounded;
  return static_cast<std::int64_t>(std::min<int128>(rounded, INT64_MAX));
}

struct LlcCache {
  bool is_open = false;
  std::size_t hit_rate = 0;
  std::size_t throughput = 0;
  std::int64_t last_ns = kNull;
  // The records of the current time.
  std::int64_t time_ns = kNull;
  std::uint64_t offset = 0;
  unsigned seen = 0;  // one bit per index
  std::array<std::uint64_t, kLlcPlaces> counts{};

  std::uint64_t sum(unsigned places) const {
    std::uint64_t total = 0;
    for (std::size_t place = 0; place < kLlcPlaces; ++place) {
      if ((places >> place & 1) != 0) total += counts[place];
    }
    return total;
  }
};

class LlcKind : public SliceKind {
 public:
  explicit LlcKind(CannImport& import) : SliceKind(import, "llc.data", kLlcFormat) {}
  bool owns(const RawFile& file) const override {
    return SliceKind::owns(file) && !has_llc_text(import_, import_.session.find_part(file));
  }

 private:
  struct Item {
    std::uint32_t cache = 0;
    std::uint32_t place = 0;
    std::uint64_t count = 0;
    std::uint64_t offset = 0;
  };

  RecordFormat record_format(const RawFile& file) const override {
    return has_later_layout(import_.session.find_part(file)) ? kLlcFormat2 : kLlcFormat;
  }

  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    if (!check_start(context, part, name())) return;
    const bool is_read = part.info.llc_profiling == "read";
    if (!is_read && part.info.llc_profiling != "write") {
      bool has_records = false;
      stream.open(context, [&](const StreamRecord&) { has_records = true; });
      if (has_records) tell_unknown_llc(context, part, name());
      return;
    }
    std::array<std::uint8_t, kMaxLlcEvents> places{};
    places.fill(kLlcPlaces);
    const LlcEvents& events = is_read ? kLlcReadEvents : kLlcWriteEvents;
    for (std::size_t i = 0; i < events.size(); ++i)
      places[events[i]] = static_cast<std::uint8_t>(i);

    CounterTracks tracks(import_, context, name());
    std::vector<LlcCache> caches;
    const auto end_moment = [&](LlcCache& cache) {
      if (cache.time_ns == kNull) return;
      if ((cache.seen & (kLlcFound | kLlcLookedUp)) == (kLlcFound | kLlcLookedUp)) {
        tracks.add(cache.hit_rate, cache.time_ns,
                   hit_thousandths(cache.sum(kLlcFound), cache.sum(kLlcLookedUp)));
      }
      const bool has_moved = (cache.seen & kLlcMoved) == kLlcMoved;
      // The first time only starts an interval, as the start of its own interval is unknown.
      if (has_moved && cache.last_ns != kNull) {
        tracks.add(cache.throughput, cache.last_ns, cache.time_ns,
                   static_cast<std::int64_t>(cache.sum(kLlcMoved)) * kLlcLineBytes);
      }
      if (cache.seen != (kLlcMoved | kLlcFound | kLlcLookedUp))
        context.report.skip_record(name(), part.name, kLacksEvent, cache.offset);
      cache.last_ns = cache.time_ns;
    };
    const auto take = [&](std::int64_t time_ns, const Item& item) {
      if (item.cache >= caches.size()) caches.resize(item.cache + 1);
      LlcCache& cache = caches[item.cache];
      if (!cache.is_open) open(tracks, part, is_read, item.cache, cache);
      if (time_ns != cache.time_ns) {
        end_moment(cache);
        cache.time_ns = time_ns;
        cache.offset = item.offset;
        cache.seen = 0;
      }
      cache.seen |= 1U << item.place;
      cache.counts[item.place] = item.count;
    };
    TimeOrder<Item> order;
    std::int64_t other_events = 0;
    const auto add = [&](const auto& wire, const StreamRecord& record) {
      const std::uint32_t place = places[wire.event];
      if (place == kLlcPlaces) {
        ++other_events;
        return;
      }
      const Item item{wire.cache, place, wire.count, record.offset};
      const std::int64_t time_ns = record_time_ns(part, wire);
      if (!is_time(import_.session, time_ns)) return stream.skip(context, record, kImpossibleTime);
      if (!order.add(time_ns, item, take)) stream.skip(context, record, kTooLate);
    };
    const bool is_later = has_later_layout(part);
    stream.open(context, [&](const StreamRecord& record) {
      is_later ? add(decode<LlcWire2>(record.bytes), record)
               : add(decode<LlcWire>(record.bytes), record);
    });
    order.finish(take);
    for (LlcCache& cache : caches) end_moment(cache);
    tracks.write();
    if (tracks.has_samples())
      tell_unexpected(import_, context, part, name(), {1, 2, 3, 4, 5, 7, 8, 11, 15, 16, 17, 18});
    if (other_events > 0) {
      context.report.add({FindingId::unread_records, std::string(name()), part.name,
                          "events of unknown meaning", other_events, kNull, "",
                          "some events of the last level cache"});
    }
  }

  static void open(CounterTracks& tracks, const CannPart& part, bool is_read, std::uint32_t number,
                   LlcCache& cache) {
    const std::string subject = fmt::format("LLC {} {}", number, is_read ? "Read" : "Write");
    TrackName track{.device = part.device,
                    .subject = subject,
                    .counter = "Hit Rate",
                    .unit = "%",
                    .number = number,
                    .detail = part.info.llc_profiling,
                    .divisor = 10};
    cache.hit_rate = tracks.open(track);
    track.counter = "Throughput";
    track.unit = "MB/s";
    track.divisor = kMegabyte;
    track.is_rate = true;
    cache.throughput = tracks.open(track);
    cache.is_open = true;
  }
};

}  // namespace

std::unique_ptr<RawKind> make_llc_kind(CannImport& import) {
  return std::make_unique<LlcKind>(import);
}

}  // namespace msprof::cann
