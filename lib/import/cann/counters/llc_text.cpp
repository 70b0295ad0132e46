// Raw kind llc.data of the 310: text with one line per event and time, for example "1.000 12
// hisi_l3c0_1/dsid0/". Contains either the cache capacity used by each CPU, or the amounts read and
// written through the cache. Source: cann_system.md 6.
#include <fmt/format.h>

#include <algorithm>

#include "base/number.hpp"
#include "base/text.hpp"
#include "import/cann/counters/counter_tracks.hpp"
#include "import/cann/counters/llc.hpp"
#include "import/cann/counters/text_kind.hpp"
#include "import/cann/counters/time_order.hpp"

namespace msprof::cann {

namespace {

constexpr std::int64_t kCacheLineBytes = 64;
constexpr std::int64_t kMaxLineCount = INT64_MAX / 64;

// Event numbers for bandwidth; for capacity the number is that of the CPU.
enum LlcEvent : std::size_t {
  kReadAllocate,
  kReadNoallocate,
  kReadHit,
  kWriteAllocate,
  kWriteNoallocate,
  kWriteHit,
  kLlcFlowEvents
};
constexpr std::array<std::string_view, kLlcFlowEvents> kLlcEventNames = {
    "read_allocate",  "read_noallocate",  "read_hit",
    "write_allocate", "write_noallocate", "write_hit"};
constexpr std::size_t kDsids = 8;

struct LlcLine {
  std::int64_t after_start_ns = 0;
  std::uint64_t count = 0;
  std::string_view event;
};

// Parses a line; returns false if it is invalid. Words in brackets are remarks; "<not counted>" is
// 0.
bool read_llc_line(std::string_view line, LlcLine& out) {
  constexpr int kNsPlaces = 9;
  const LineWords words(line);
  std::size_t last = std::min(words.size(), LineWords::kMaxCount);
  while (last > 0 && words[last - 1].starts_with('(')) --last;
  if (last < 3) return false;
  const auto ns = parse_scaled_decimal(words[0], kNsPlaces);
  if (!ns) return false;
  out.after_start_ns = *ns;
  out.event = words[last - 1];
  if (words[1].starts_with('<')) {
    out.count = 0;
    return true;
  }
  return words.number(1, out.count) && out.count <= kMaxLineCount;
}

// Returns the text between slashes, such as "dsid0" of "hisi_l3c0_1/dsid0/"; the whole event if it
// has no slashes.
std::string_view bare_llc_event(std::string_view event) {
  const std::size_t begin = event.find('/');
  if (begin == std::string_view::npos) return event;
  const std::string_view rest = event.substr(begin + 1);
  return rest.substr(0, rest.find('/'));
}

// Returns the number of an event; `otherwise` if it is unknown in this mode.
std::size_t llc_event_number(std::string_view event, bool is_capacity, std::size_t otherwise) {
  const std::string_view bare = bare_llc_event(event);
  if (is_capacity) {
    std::uint64_t dsid = 0;
    if (!bare.starts_with("dsid") || !parse_u64(bare.substr(4), dsid) || dsid >= kDsids)
      return otherwise;
    return static_cast<std::size_t>(dsid);
  }
  const auto* const found = std::find(kLlcEventNames.begin(), kLlcEventNames.end(), bare);
  return found == kLlcEventNames.end() ? otherwise
                                       : static_cast<std::size_t>(found - kLlcEventNames.begin());
}

class LlcTextKind : public TextKind {
 public:
  explicit LlcTextKind(CannImport& import) : TextKind(import, "llc", "llc.data") {}
  bool owns(const RawFile& file) const override {
    return TextKind::owns(file) && has_llc_text(import_, import_.session.find_part(file));
  }

 private:
  static constexpr std::size_t kMaxEvents = std::max<std::size_t>(kDsids, kLlcFlowEvents);
  struct Item {
    std::size_t event = 0;
    std::int64_t bytes = 0;
  };
  // The amounts at one time, summed over the caches of the chip. Each cache has its own line.
  struct Moment {
    std::int64_t time_ns = kNull;
    std::array<std::int64_t, kMaxEvents> bytes{};
    std::array<bool, kMaxEvents> seen{};
  };

  void read(const ImportContext& context, const CannPart& part, const std::string&,
            SliceLines& lines) override {
    if (!check_start(context, part, name())) return;
    const bool is_capacity = part.info.llc_profiling == "capacity";
    if (!is_capacity && part.info.llc_profiling != "bandwidth") {
      bool has_lines = false;
      lines.read([&](std::string_view) -> std::string_view {
        has_lines = true;
        return {};
      });
      if (has_lines) tell_unknown_llc(context, part, name());
      return;
    }
    CounterTracks tracks(import_, context, name());
    const std::vector<std::size_t> opened =
        is_capacity ? open_capacity(tracks, part) : open_bandwidth(tracks, part);

    // As in other tools, the first interval starts at the start of the device.
    std::int64_t last_ns = part.start->after_start_us(0);
    Moment moment;
    const auto end_moment = [&] {
      if (moment.time_ns == kNull) return;
      if (is_capacity) {
        for (std::size_t cpu = 0; cpu < kDsids; ++cpu) {
          if (moment.seen[cpu]) tracks.add(opened[cpu], moment.time_ns, moment.bytes[cpu]);
        }
      } else if (moment.time_ns <= last_ns) {
        lines.skip(kNoInterval);
      } else {
        add_bandwidth(tracks, opened, moment.bytes, moment.seen, last_ns, moment.time_ns, lines);
      }
      last_ns = moment.time_ns;
    };
    const auto take = [&](std::int64_t time_ns, const Item& item) {
      if (time_ns != moment.time_ns) {
        end_moment();
        moment = Moment{.time_ns = time_ns};
      }
      moment.seen[item.event] = true;
      moment.bytes[item.event] = saturating_add(moment.bytes[item.event], item.bytes);
    };
    TimeOrder<Item> order;
    std::int64_t other_events = 0;
    lines.read([&](std::string_view line) -> std::string_view {
      if (trim(line).empty() || line.find('#') != std::string_view::npos) return {};
      LlcLine parsed;
      if (!read_llc_line(line, parsed)) return kNotTheForm;
      const std::size_t event = llc_event_number(parsed.event, is_capacity, kMaxEvents);
      if (event == kMaxEvents) {
        ++other_events;
        return {};
      }
      const std::int64_t time_ns =
          saturating_add(part.start->after_start_us(0), parsed.after_start_ns);
      if (!is_time(import_.session, time_ns)) return kImpossibleTime;
      const std::int64_t bytes = static_cast<std::int64_t>(parsed.count) * kCacheLineBytes;
      if (!order.add(time_ns, {event, bytes}, take)) return kTooLate;
      lines.count();
      return {};
    });
    order.finish(take);
    end_moment();
    tracks.write();
    if (tracks.has_samples()) tell_unexpected(import_, context, part, name(), {0});
    if (other_events > 0) {
      context.report.add({FindingId::unread_records, std::string(name()), part.name,
                          "events of unknown meaning", other_events, kNull, "",
                          "some events of the last level cache"});
    }
  }

  // Opens a track per CPU, with the CPU's owner as detail.
  static std::vector<std::size_t> open_capacity(CounterTracks& tracks, const CannPart& part) {
    const auto has = [](const std::vector<std::int64_t>& cpus, std::size_t cpu) {
      return std::find(cpus.begin(), cpus.end(), static_cast<std::int64_t>(cpu)) != cpus.end();
    };
    std::vector<std::size_t> opened;
    for (std::size_t cpu = 0; cpu < kDsids; ++cpu) {
      const bool is_control = has(part.info.ctrl_cpus, cpu);
      const bool is_ai = has(part.info.ai_cpus, cpu);
      opened.push_back(tracks.open({.device = part.device,
                                    .subject = fmt::format("LLC CPU {}", cpu),
                                    .counter = "Capacity",
                                    .unit = "MB",
                                    .number = static_cast<std::int64_t>(cpu),
                                    .detail = is_ai        ? "AI CPU"
                                              : is_control ? "Ctrl CPU"
                                                           : "other CPU",
                                    .divisor = kMegabyte}));
    }
    return opened;
  }

  // Opens the tracks Read and Write, and one for the hits of each.
  static std::vector<std::size_t> open_bandwidth(CounterTracks& tracks, const CannPart& part) {
    std::vector<std::size_t> opened;
    for (const std::string_view counter : {"Read", "Read Hit", "Write", "Write Hit"}) {
      opened.push_back(tracks.open({.device = part.device,
                                    .subject = "LLC",
                                    .counter = counter,
                                    .unit = "MB/s",
                                    .divisor = kMegabyte,
                                    .is_rate = true}));
    }
    return opened;
  }

  static void add_bandwidth(CounterTracks& tracks, const std::vector<std::size_t>& opened,
                            const std::array<std::int64_t, kMaxEvents>& bytes,
                            const std::array<bool, kMaxEvents>& seen, std::int64_t begin_ns,
                            std::int64_t time_ns, const SliceLines& lines) {
    for (std::size_t way = 0; way < 2; ++way) {
      const std::size_t first = way * 3;  // allocate, noallocate, hit
      if (seen[first] != seen[first + 1] || (seen[first + 2] && !seen[first]))
        lines.skip("sample without one of its events");
      if (seen[first] && seen[first + 1]) {
        tracks.add(opened[way * 2], begin_ns, time_ns,
                   saturating_add(bytes[first], bytes[first + 1]));
        if (seen[first + 2]) tracks.add(opened[way * 2 + 1], begin_ns, time_ns, bytes[first + 2]);
      }
    }
  }
};

}  // namespace

std::unique_ptr<RawKind> make_llc_text_kind(CannImport& import) {
  return std::make_unique<LlcTextKind>(import);
}

}  // namespace msprof::cann
