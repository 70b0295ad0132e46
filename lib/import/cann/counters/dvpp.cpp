// Raw kind dvpp.data: use of the image and video engines. A line describes one engine at one time:
// its work since it started, and its recent work. Source: cann_system.md 10.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "import/cann/counters/counter_tracks.hpp"
#include "import/cann/counters/text_kind.hpp"
#include "import/cann/counters/time_order.hpp"

namespace msprof::cann {

namespace {

struct DvppCounter {
  std::string_view name;
  std::string_view unit;
};

// In the order of the words of a line. Percentages are stored in thousandths.
constexpr std::array kDvppCounters = {
    DvppCounter{"All Time", "us"},       DvppCounter{"All Frame", "frames"},
    DvppCounter{"All Utilization", "%"}, DvppCounter{"Proc Time", "us"},
    DvppCounter{"Proc Frame", "frames"}, DvppCounter{"Proc Utilization", "%"},
    DvppCounter{"Last Time", "us"},      DvppCounter{"Last Frame", "frames"},
};
// The first counters only increase: time and frames since the start.
constexpr std::size_t kDvppTotals = 2;
constexpr std::int64_t kPercentDivisor = 1000;

constexpr std::array<std::string_view, 7> kEngineTypes = {"VDEC", "JPEGD", "PNGD", "JPEGE",
                                                          "VPC",  "VENC",  "SCD"};
constexpr std::size_t kMaxEngines = 512;
constexpr std::string_view kTooManyEngines = "more engines than a device has";

struct EngineSample {
  std::uint64_t dvpp = 0;
  std::uint64_t type = 0;
  std::uint64_t engine = 0;
  std::array<std::int64_t, kDvppCounters.size()> values{};

  bool is_of_same_engine(const EngineSample& other) const {
    return dvpp == other.dvpp && type == other.type && engine == other.engine;
  }
};

// `first` is the index of the word after the time.
bool read_engine(const LineWords& words, std::size_t first, bool has_dvpp, EngineSample& sample) {
  if (has_dvpp && !words.number(first++, sample.dvpp)) return false;
  if (!words.number(first, sample.type) || !words.number(first + 1, sample.engine) ||
      sample.dvpp > INT64_MAX || sample.type > INT64_MAX || sample.engine > INT64_MAX)
    return false;
  first += 2;
  for (std::size_t i = 0; i < kDvppCounters.size(); ++i) {
    std::string_view word = words[first + i];
    if (kDvppCounters[i].unit == "%") {
      if (!word.ends_with('%')) return false;
      word.remove_suffix(1);
      const auto percent = parse_thousandths(word);
      if (!percent) return false;
      sample.values[i] = *percent;
      continue;
    }
    std::uint64_t value = 0;
    if (!words.number(first + i, value)) return false;
    sample.values[i] = sample_value(value);
  }
  return true;
}

class DvppKind : public TextKind {
 public:
  explicit DvppKind(CannImport& import) : TextKind(import, "dvpp", "dvpp.data") {}

 private:
  struct Engine {
    std::size_t first_track = 0;  // tracks of the other counters follow
    EngineSample last;
  };

  // For files without a header: returns true if lines have a dvpp_id.
  bool has_dvpp_id() const {
    const auto& chip = import_.session.chip();
    constexpr int kWithout[] = {0, 2, 3, 4};
    return !chip || std::find(std::begin(kWithout), std::end(kWithout), chip->platform) ==
                        std::end(kWithout);
  }

  void read(const ImportContext& context, const CannPart& part, const std::string&,
            SliceLines& lines) override {
    if (!check_start(context, part, name())) return;
    tell_unexpected(import_, context, part, name(), {0, 1, 5, 7, 8, 11, 15, 16, 17, 18});
    CounterTracks tracks(import_, context, name());
    std::vector<Engine> engines;
    std::size_t next = 0;  // engines appear in a fixed order
    const auto find_or_add_engine = [&](const EngineSample& sample) -> Engine* {
      for (std::size_t i = 0; i < engines.size(); ++i, ++next) {
        if (next >= engines.size()) next = 0;
        if (engines[next].last.is_of_same_engine(sample)) return &engines[next++];
      }
      if (engines.size() == kMaxEngines) return nullptr;
      engines.push_back({open(tracks, part, sample), sample});
      return &engines.back();
    };
    const auto take = [&](std::int64_t time_ns, const EngineSample& sample) {
      Engine* const engine = find_or_add_engine(sample);
      if (engine == nullptr) return lines.skip(kTooManyEngines);
      bool has_fallen = false;
      for (std::size_t i = 0; i < sample.values.size(); ++i) {
        has_fallen = has_fallen || (i < kDvppTotals && sample.values[i] < engine->last.values[i]);
        tracks.add(engine->first_track + i, time_ns, sample.values[i]);
      }
      if (has_fallen) lines.skip(kCounterFell);
      engine->last = sample;
    };
    TimeOrder<EngineSample> order;
    bool has_dvpp = has_dvpp_id();
    lines.read([&](std::string_view line) -> std::string_view {
      if (line.empty()) return {};
      if (line.find("engine_type") != std::string_view::npos) {
        has_dvpp = line.find("dvpp_id") != std::string_view::npos;
        return {};
      }
      const LineWords words(line);
      if (words.size() != 3 + kDvppCounters.size() + (has_dvpp ? 1 : 0)) return kNotTheForm;
      EngineSample sample;
      const auto ns = parse_stamp_ns(words[0]);
      if (!ns || !read_engine(words, 1, has_dvpp, sample)) return kNotTheForm;
      const std::int64_t time_ns = part.start->of_device(*ns);
      if (!is_time(import_.session, time_ns)) return kImpossibleTime;
      if (!order.add(time_ns, sample, take)) return kTooLate;
      lines.count();
      return {};
    });
    order.finish(take);
    tracks.write();
  }

  // Returns the first track.
  static std::size_t open(CounterTracks& tracks, const CannPart& part, const EngineSample& sample) {
    const std::string type = sample.type < kEngineTypes.size()
                                 ? std::string(kEngineTypes[sample.type])
                                 : fmt::format("Type {}", sample.type);
    const std::string subject = fmt::format("DVPP {} {} {}", sample.dvpp, type, sample.engine);
    const std::size_t first = tracks.next();
    for (const DvppCounter& counter : kDvppCounters) {
      tracks.open({.device = part.device,
                   .subject = subject,
                   .counter = counter.name,
                   .unit = counter.unit,
                   .number = static_cast<std::int64_t>(sample.dvpp),
                   .part = static_cast<std::int64_t>(sample.engine),
                   .detail = type,
                   .divisor = counter.unit == "%" ? kPercentDivisor : 1});
    }
    return first;
  }
};

}  // namespace

std::unique_ptr<RawKind> make_dvpp_kind(CannImport& import) {
  return std::make_unique<DvppKind>(import);
}

}  // namespace msprof::cann
