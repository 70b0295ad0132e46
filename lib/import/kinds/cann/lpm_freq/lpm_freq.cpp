// lpmFreqConv.data: when the frequency of the AI cores changed. Source: cann_device.md 10.
#include "import/kinds/cann/cann_kinds.hpp"
#include "import/kinds/cann/lpm_freq/frequency_list.hpp"
#include "import/kinds/cann/slice_kind.hpp"

namespace msprof::cann {

namespace {

constexpr std::size_t kMostEntries = 55;

struct __attribute__((packed)) FrequencyEntryWire {
  std::uint64_t ticks;
  std::uint32_t mhz;
  std::uint32_t reserved;
};

struct __attribute__((packed)) FrequencyWire {
  std::uint32_t count;
  std::uint32_t reserved;
  FrequencyEntryWire entries[kMostEntries];
};
static_assert(sizeof(FrequencyWire) == 888);

// A record has no mark, but its entries have times and frequencies, and an empty one is all zeros.
bool is_sound(std::span<const std::byte> record) {
  constexpr std::uint32_t kMostMhz = 100'000;
  const auto wire = decode<FrequencyWire>(record);
  if (wire.count > kMostEntries) return false;
  if (wire.count == 0) {
    return std::all_of(record.begin(), record.end(), [](std::byte b) { return b == std::byte{0}; });
  }
  return std::all_of(
      &wire.entries[0], &wire.entries[wire.count],
      [](const FrequencyEntryWire& entry) { return entry.ticks != 0 && entry.mhz <= kMostMhz; });
}

constexpr RecordFormat kFormat{"lpm_freq", sizeof(FrequencyWire), is_sound,
                               "more than 55 entries, or impossible ones"};

class LpmFreqKind : public SliceKind {
 public:
  explicit LpmFreqKind(CannImport& import) : SliceKind(import, "lpmFreqConv.data", kFormat) {}

  // Also of devices without the file: their frequency is that of info.json throughout.
  void finish(const ImportContext& context) override {
    const auto& chip = import_.session.chip();
    if (!chip || !says_frequency(chip->platform)) return;
    for (const CannPart& part : import_.session.parts()) {
      if (!part.is_host() && part.clock && part.info.aic_frequency_hz > 0) {
        write_track(context, part);
      }
    }
  }

 private:
  // 910B, 310B, 950.
  static bool says_frequency(int platform) {
    return platform == 5 || platform == 7 || platform == 15 || platform == 16;
  }

  static std::uint32_t info_mhz(const CannPart& part) {
    return static_cast<std::uint32_t>(part.info.aic_frequency_hz / 1'000'000);
  }

  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    std::vector<FrequencyChange> entries;
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<FrequencyWire>(record.bytes);
      for (std::size_t i = 0; i < wire.count; ++i) {
        entries.emplace_back(wire.entries[i].ticks, wire.entries[i].mhz);
      }
    });
    if (part.is_host()) return;
    auto& list = import_.devices[*part.device].frequencies;
    list = frequency_list(entries, part.start_ticks, info_mhz(part));
    if (list.empty() && !entries.empty()) {
      context.report.damage(name(), part.name, "frequency 0",
                            "all changes are left out, the frequency of info.json is used");
    }
  }

  void write_track(const ImportContext& context, const CannPart& part) {
    FrequencyWindow window{import_.session.begin_ns(), std::nullopt};
    if (import_.session.has_end()) window.end_ns = import_.session.end_ns();
    static const std::vector<FrequencyChange> kNone;
    const auto device = import_.devices.find(*part.device);
    const auto& list = device == import_.devices.end() ? kNone : device->second.frequencies;
    TrackRow track;
    track.id = ++tracks_;
    track.device_id = *part.device;
    track.name_id = context.store.name_id("AI Core Freq");
    track.unit_name_id = context.store.name_id("MHz");
    context.store.add(track);
    for (CounterRow& point : frequency_points(list, info_mhz(part), *part.clock, window)) {
      point.id = ++points_;
      point.track_id = track.id;
      context.store.add(point);
    }
  }

  std::int64_t tracks_ = 0;
  std::int64_t points_ = 0;
};

}  // namespace

std::unique_ptr<RawKind> make_lpm_freq_kind(CannImport& import) {
  return std::make_unique<LpmFreqKind>(import);
}

}  // namespace msprof::cann
