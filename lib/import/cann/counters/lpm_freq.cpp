// Raw kind lpmFreqConv.data: frequency changes of the AI cores. Current collectors write
// lpmInfoConv.data instead, which also has voltages. Source: cann_device.md 10, cann_system.md 20.
#include "import/cann/counters/lpm_freq.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "import/cann/cann_import.hpp"
#include "import/cann/counters/counter_tracks.hpp"

namespace msprof::cann {

namespace {

constexpr std::size_t kMaxEntries = 55;

struct __attribute__((packed)) ChangeWire {
  std::uint64_t ticks;
  std::uint32_t value;  // MHz or mV
  std::uint32_t reserved;
};

struct __attribute__((packed)) ChangesWire {
  std::uint32_t count;
  std::uint32_t type;  // lpmInfoConv.data only
  ChangeWire entries[kMaxEntries];
};
static_assert(sizeof(ChangesWire) == 888);

enum : std::uint32_t { kFrequency = 0, kCoreVoltage = 1, kBusVoltage = 2, kTypes = 3 };

// Records have no magic, so times and values must be plausible; an empty record is all zeros.
bool is_sound(std::span<const std::byte> record) {
  constexpr std::uint32_t kMaxValue = 100'000;
  const auto wire = decode<ChangesWire>(record);
  if (wire.count > kMaxEntries) return false;
  if (wire.count == 0) {
    const auto rest = record.subspan(offsetof(ChangesWire, entries));
    return wire.type < kTypes &&
           std::all_of(rest.begin(), rest.end(), [](std::byte b) { return b == std::byte{0}; });
  }
  return std::all_of(&wire.entries[0], &wire.entries[wire.count], [](const ChangeWire& entry) {
    return entry.ticks != 0 && entry.value <= kMaxValue;
  });
}

CounterRow point_at(std::int64_t time_ns, std::uint32_t value) {
  CounterRow point;
  point.time_ns = time_ns;
  point.value = value;
  return point;
}

constexpr RecordFormat kLpmFreqFormat{"lpm_freq", sizeof(ChangesWire), is_sound,
                                      "more than 55 entries, or invalid entries"};

class LpmFreqKind : public SliceKind {
 public:
  explicit LpmFreqKind(CannImport& import)
      : SliceKind(import, "lpmFreqConv.data", kLpmFreqFormat, "lpmInfoConv.data") {}

  // Also writes tracks for devices without the file, with the frequency of info.json throughout.
  void finish(const ImportContext& context) override {
    const auto& chip = import_.session.chip();
    if (!chip) return;
    const bool says_always = says_frequency(*chip);
    for (const CannPart& part : import_.session.parts()) {
      if (part.is_host() || !part.clock) continue;
      if (part.info.aic_frequency_hz > 0 && (says_always || !find_frequencies(part).empty()))
        write_track(context, part, {"AI Core", "AI Core Freq", "MHz"}, find_frequencies(part),
                    info_mhz(part));
      const DeviceChanges& changes = changes_[*part.device];
      if (find_frequencies(part).empty() && !changes[kFrequency].empty()) {
        context.report.add(FindingId::zero_frequency, name(), part.name, "frequency 0",
                           "all changes are ignored, the frequency of info.json is used");
      }
      write_track(context, part, {"AI Core", "Aicore Voltage", "mV"}, changes[kCoreVoltage],
                  std::nullopt);
      write_track(context, part, {"Bus", "Bus Voltage", "mV"}, changes[kBusVoltage], std::nullopt);
    }
  }

 private:
  // Entries in reading order, by record type.
  using DeviceChanges = std::array<std::vector<FrequencyChange>, kTypes>;

  struct Counter {
    std::string_view subject;
    std::string_view name;
    std::string_view unit;
  };

  // Returns true for chips whose frequency is always shown: 910B, 310B, V6 (cann_device.md 23.4).
  static bool says_frequency(const Chip& chip) {
    return chip.platform == 5 || chip.platform == 7 || chip.family == ChipFamily::stars_v6;
  }

  static std::uint32_t info_mhz(const CannPart& part) {
    return static_cast<std::uint32_t>(part.info.aic_frequency_hz / 1'000'000);
  }

  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    DeviceChanges read;
    std::map<std::uint32_t, std::int64_t> others;
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<ChangesWire>(record.bytes);
      if (wire.type >= kTypes) {
        ++others[wire.type];
        return;
      }
      const bool is_possible = std::all_of(
          &wire.entries[0], &wire.entries[wire.count], [&part](const ChangeWire& entry) {
            return !part.clock || part.clock->is_possible(entry.ticks);
          });
      if (!is_possible) return stream.skip(context, record, kImpossibleTime);
      for (std::size_t i = 0; i < wire.count; ++i)
        read[wire.type].emplace_back(wire.entries[i].ticks, wire.entries[i].value);
    });
    for (const auto& [type, count] : others) {
      context.report.add(FindingId::unread_records, name(), part.name,
                         fmt::format("records of type {} present, not read", type), "", count);
    }
    if (part.is_host()) return;
    tell_unexpected(import_, context, part, name(), {5, 7, 15, 16, 17, 18});
    DeviceChanges& changes = changes_[*part.device];
    for (std::size_t type = 0; type < kTypes; ++type)
      changes[type] = merged(std::move(changes[type]), read[type]);
    import_.devices[*part.device].frequencies =
        frequency_list(changes[kFrequency], part.start_ticks, info_mhz(part));
  }

  const std::vector<FrequencyChange>& find_frequencies(const CannPart& part) const {
    static const std::vector<FrequencyChange> none;
    const auto device = import_.devices.find(*part.device);
    return device == import_.devices.end() ? none : device->second.frequencies;
  }

  void write_track(const ImportContext& context, const CannPart& part, const Counter& counter,
                   const std::vector<FrequencyChange>& list, std::optional<std::uint32_t> initial) {
    FrequencyWindow window{import_.session.begin_ns(), std::nullopt};
    if (import_.session.has_end()) window.end_ns = import_.session.end_ns();
    auto points = frequency_points(list, initial, *part.clock, window);
    if (points.empty()) return;
    CounterTracks tracks(import_, context, name());
    const std::size_t track = tracks.open({.device = part.device,
                                           .subject = counter.subject,
                                           .counter = counter.name,
                                           .unit = counter.unit});
    for (const CounterRow& point : points) tracks.add(track, point.time_ns, point.value);
    tracks.write();
  }

  std::map<std::int64_t, DeviceChanges> changes_;
};

}  // namespace

std::vector<FrequencyChange> merged(std::vector<FrequencyChange> entries,
                                    const std::vector<FrequencyChange>& others) {
  if (others.empty()) return entries;
  if (entries.empty()) return others;
  entries.insert(entries.end(), others.begin(), others.end());
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  return entries;
}

std::vector<FrequencyChange> frequency_list(const std::vector<FrequencyChange>& entries,
                                            std::uint64_t start_ticks, std::uint32_t info_mhz) {
  const auto is_zero = [](const FrequencyChange& entry) { return entry.second == 0; };
  if (entries.empty() || std::any_of(entries.begin(), entries.end(), is_zero)) return {};
  std::vector<FrequencyChange> list{{start_ticks, info_mhz}};
  for (const FrequencyChange& entry : entries) {
    if (entry.first < start_ticks) {
      list.front().second = entry.second;
    } else {
      list.push_back(entry);
    }
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return list;
}

std::vector<CounterRow> frequency_points(const std::vector<FrequencyChange>& list,
                                         std::optional<std::uint32_t> initial,
                                         const ClockMap& clock, const FrequencyWindow& window) {
  std::vector<CounterRow> points;
  std::optional<std::uint32_t> at_begin = initial;
  std::optional<std::uint32_t> last = initial;
  for (const auto& [ticks, value] : list) {
    const std::int64_t time_ns = clock.ns(ticks);
    last = value;
    if (time_ns < window.begin_ns) {
      at_begin = value;
    } else {
      points.push_back(point_at(time_ns, value));
    }
  }
  // No additional point at the start if there is already an equal one.
  const bool is_said = !points.empty() && points.front().time_ns == window.begin_ns &&
                       points.front().value == at_begin;
  if (at_begin && !is_said) points.insert(points.begin(), point_at(window.begin_ns, *at_begin));
  if (last && window.end_ns) points.push_back(point_at(*window.end_ns, *last));
  return points;
}

std::unique_ptr<RawKind> make_lpm_freq_kind(CannImport& import) {
  return std::make_unique<LpmFreqKind>(import);
}

}  // namespace msprof::cann
