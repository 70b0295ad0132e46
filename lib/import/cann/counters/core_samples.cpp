// Raw kinds aicore.data, aiVectorCore.data and ffts_profile.data of runs that sample counters
// periodically: the counts of each core since its previous sample. Runs that count per task are
// read by device_streams.cpp. In the store a core is a subject of ai_core_utilization or
// ai_vector_core_utilization: part 0 is its cycles, shown as utilization; part i is its event i.
// Source: cann_device.md 6.4.
#include <fmt/format.h>

#include <algorithm>

#include "import/cann/counters/time_order.hpp"
#include "import/cann/counters/track_groups.hpp"

namespace msprof::cann {

namespace {

template <std::size_t kEvents>
struct __attribute__((packed)) CoreSampleWireOf {
  std::uint8_t mode;
  std::uint8_t reserved_1;
  std::uint16_t reserved_2[3];
  std::uint64_t events[kEvents];
  std::uint64_t cycles;
  std::uint64_t time;  // ns of the device's monotonic clock; ticks on chips 15 and 16
  std::uint8_t event_count;
  std::uint8_t core;
  std::uint8_t tail[6];
};
using CoreSampleWire = CoreSampleWireOf<8>;
static_assert(sizeof(CoreSampleWire) == 96);
using LaterCoreSampleWire = CoreSampleWireOf<10>;  // chips 15 and 16
static_assert(sizeof(LaterCoreSampleWire) == 112);

// Returns true for unused space, which can follow the samples in a file.
bool is_core_space(std::span<const std::byte> record) {
  return std::all_of(record.begin(), record.end(), [](std::byte b) { return b == std::byte{0}; });
}

// A sample, independent of its record format.
struct CoreSample {
  static constexpr std::size_t kMaxEvents = 10;
  std::uint64_t cycles = 0;
  std::uint64_t time = 0;
  std::uint64_t offset = 0;
  std::array<std::uint64_t, kMaxEvents> events{};
  std::uint8_t event_count = 0;
  std::uint8_t core = 0;
};

template <typename Wire>
CoreSample decode_core_sample(const StreamRecord& record) {
  const auto wire = decode<Wire>(record.bytes);
  CoreSample sample;
  sample.cycles = wire.cycles;
  sample.time = wire.time;
  sample.offset = record.offset;
  for (std::size_t i = 0; i < std::size(wire.events); ++i) sample.events[i] = wire.events[i];
  sample.event_count = wire.event_count;
  sample.core = wire.core;
  return sample;
}

// ffts_profile.data has samples of both core types; cores with a number above this one are vector
// cores (cann_device.md 6.4).
unsigned last_cube_core(const Chip& chip) {
  constexpr unsigned kAscend910b = 5;
  if (chip.family == ChipFamily::stars_v6) return 35;
  return static_cast<unsigned>(chip.platform) == kAscend910b ? 24 : 0;
}

struct CoreFile {
  std::string_view kind;  // for reports
  std::string_view stem;
  std::string_view other_stem;
  bool is_vector = false;  // all cores in the file are vector cores
};

class CoreSamplesKind : public SliceKind {
 public:
  CoreSamplesKind(CannImport& import, const CoreFile& file)
      : SliceKind(import, file.stem, {file.kind, sizeof(CoreSampleWire)}, file.other_stem),
        file_(file) {}

  bool owns(const RawFile& file) const override {
    const auto& chip = import_.session.chip();
    const CannPart& part = import_.session.find_part(file);
    return chip && reads_tasks(chip->family) && !part.is_host() && SliceKind::owns(file) &&
           is_sampled_over_time(part.info, import_.session.parsed_name(file).stem);
  }

 private:
  struct Lane {
    CounterTracks* tracks = nullptr;
    std::size_t track = 0;  // track of the cycles; the tracks of the events follow
    std::size_t events = 0;
    std::int64_t last_ns = kNull;
  };

  // Adds a finding unless the chip is documented to write these files: chips 0 to 4 and those with
  // a STARS scheduler.
  void tell_expected(const ImportContext& context, const CannPart& part) const {
    if (file_.is_vector) return tell_unexpected(import_, context, part, name(), {2, 3, 4});
    tell_unexpected(import_, context, part, name(), {0, 1, 2, 3, 4, 5, 7, 8, 11, 15, 16, 17, 18});
  }

  bool has_later_records() const { return import_.session.chip()->family == ChipFamily::stars_v6; }
  RecordFormat record_format(const RawFile& file) const override {
    RecordFormat format = SliceKind::record_format(file);
    if (has_later_records()) {
      format.bytes = sizeof(LaterCoreSampleWire);
    }
    return format;
  }

  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    const bool is_later = has_later_records();
    if (is_later ? !check_ticks(context, part, name()) : !check_start(context, part, name()))
      return;
    tell_expected(context, part);
    CounterTracks cube(import_, context, "ai_core_utilization");
    CounterTracks vector(import_, context, "ai_vector_core_utilization");
    TrackGroups<Lane> lanes(CoreSample::kMaxEvents + 1);
    std::optional<std::size_t> event_count;  // from the first record
    TimeOrder<CoreSample> order;
    const auto take = [&](std::int64_t time_ns, const CoreSample& sample) {
      Lane* lane = lanes.find(sample.core, [&] {
        return is_vector_core(sample.core) ? open(vector, part, sample.core, true, *event_count)
                                           : open(cube, part, sample.core, false, *event_count);
      });
      if (lane == nullptr) {
        context.report.skip_record(name(), part.name, kTooMany, sample.offset);
        return;
      }
      // If two samples have the same time, keeps the counts but no interval, so that they give no
      // rate.
      std::int64_t begin_ns = lane->last_ns;
      if (begin_ns == time_ns) {
        context.report.skip_record(name(), part.name, kNoInterval, sample.offset);
        begin_ns = kNull;
      }
      lane->last_ns = time_ns;
      lane->tracks->add(lane->track, begin_ns, time_ns, sample_value(sample.cycles));
      for (std::size_t i = 0; i < lane->events; ++i)
        lane->tracks->add(lane->track + 1 + i, begin_ns, time_ns, sample_value(sample.events[i]));
    };
    stream.open(context, [&](const StreamRecord& record) {
      if (is_core_space(record.bytes)) return;
      const CoreSample sample = is_later ? decode_core_sample<LaterCoreSampleWire>(record)
                                         : decode_core_sample<CoreSampleWire>(record);
      const std::int64_t time_ns =
          is_later ? part.clock->ns(sample.time) : part.start->of_device(sample.time);
      if (record.bytes[0] == std::byte{0} || sample.event_count > CoreSample::kMaxEvents) {
        stream.skip(context, record, "not a sample");
        return;
      }
      if (!is_time(import_.session, time_ns)) {
        stream.skip(context, record, kImpossibleTime);
        return;
      }
      if (!event_count) event_count = sample.event_count;
      if (!order.add(time_ns, sample, take)) stream.skip(context, record, kTooLate);
    });
    order.finish(take);
    cube.write();
    vector.write();
  }

  bool is_vector_core(unsigned core) const {
    if (file_.is_vector) return true;
    const Chip& chip = *import_.session.chip();
    const bool has_both = chip.family == ChipFamily::stars || chip.family == ChipFamily::stars_v6;
    return has_both && core > last_cube_core(chip);
  }

  static Lane open(CounterTracks& tracks, const CannPart& part, std::uint8_t core, bool is_vector,
                   std::size_t events) {
    const std::string subject =
        fmt::format("{} {}", is_vector ? "AI Vector Core" : "AI Core", core);
    const std::vector<std::uint32_t>& said =
        is_vector ? part.info.aiv_events : part.info.aic_events;
    // Cycles divided by the frequency are the share of time in which the core was busy.
    const std::int64_t percent_hz = part.info.aic_frequency_hz / 100;
    TrackName track{.device = part.device,
                    .subject = subject,
                    .counter = percent_hz > 0 ? "Utilization" : "Cycles",
                    .unit = percent_hz > 0 ? "%" : "",
                    .number = core,
                    .part = 0,
                    .detail = {},
                    .divisor = std::max<std::int64_t>(percent_hz, 1),
                    .is_rate = percent_hz > 0};
    Lane lane;
    lane.tracks = &tracks;
    lane.track = tracks.open(track);
    lane.events = std::min({events, said.size(), CoreSample::kMaxEvents});
    track.divisor = 1'000'000;
    track.is_rate = true;
    track.unit = "M/s";
    for (std::size_t i = 0; i < lane.events; ++i) {
      const std::string event = fmt::format("{:#x}", said[i]);
      track.counter = event;
      track.part = static_cast<std::int64_t>(i) + 1;
      tracks.open(track);
    }
    return lane;
  }

  CoreFile file_;
};

}  // namespace

bool is_sampled_over_time(const Info& info, std::string_view stem) {
  if (stem == "aiVectorCore.data") return !info.is_aiv_task_based;
  if (stem == "ffts_profile.data" && info.aic_events.empty() && !info.aiv_events.empty())
    return !info.is_aiv_task_based;
  return !info.is_task_based;
}

std::unique_ptr<RawKind> make_core_samples_kind(CannImport& import) {
  return std::make_unique<CoreSamplesKind>(
      import, CoreFile{"core_samples", "aicore.data", "ffts_profile.data", false});
}

std::unique_ptr<RawKind> make_vector_core_samples_kind(CannImport& import) {
  return std::make_unique<CoreSamplesKind>(
      import, CoreFile{"vector_core_samples", "aiVectorCore.data", {}, true});
}

}  // namespace msprof::cann
