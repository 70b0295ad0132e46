// Raw kind ddr.data: amounts read and written by the DDR controllers since their previous records.
// Records with the same time are added up. If a record names a master, it is counted for that
// master; other tools do not add it to the total. Source: cann_system.md 5.
#include <fmt/format.h>

#include "base/number.hpp"
#include "import/cann/counters/counter_tracks.hpp"
#include "import/cann/counters/time_order.hpp"

namespace msprof::cann {

namespace {

struct __attribute__((packed)) DdrWire {
  std::uint32_t time_us;  // after the start of the device; wraps after 71.6 minutes
  std::uint32_t count;    // in words
  std::uint32_t event;    // 0: read, else write
  std::uint32_t controller;
  std::uint32_t master;  // kNoMaster: all masters
};
static_assert(sizeof(DdrWire) == 20);

constexpr std::uint32_t kNoMaster = UINT32_MAX;
constexpr std::uint32_t kMaxControllers = 256;
constexpr std::uint32_t kMaxDdrEvents = 16;
constexpr std::size_t kMaxMasters = 2048;

bool is_sound_ddr(std::span<const std::byte> record) {
  const auto wire = decode<DdrWire>(record);
  return wire.controller < kMaxControllers && wire.event < kMaxDdrEvents;
}

constexpr RecordFormat kDdrFormat{
    "ddr", sizeof(DdrWire), is_sound_ddr, "impossible controller or event", nullptr, false};

// Amounts moved by one master, or by all, at the current time.
struct DdrFlow {
  std::uint32_t master = kNoMaster;
  std::size_t tracks[2]{};  // read, write
  std::int64_t bytes[2]{};
  bool is_seen[2]{};
};

class DdrKind : public SliceKind {
 public:
  explicit DdrKind(CannImport& import) : SliceKind(import, "ddr.data", kDdrFormat) {}

 private:
  struct Item {
    std::uint32_t count = 0;
    std::uint32_t master = 0;
    bool is_write = false;
    std::uint64_t offset = 0;
  };

  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    if (!check_start(context, part, name())) return;
    CounterTracks tracks(import_, context, name());
    const auto& chip = import_.session.chip();
    const bool is_wide = chip && chip->platform >= 1 && chip->platform <= 4;
    const std::int64_t word_bytes = is_wide ? 32 : 16;

    std::vector<DdrFlow> flows;
    std::size_t last_flow = 0;
    const auto find_or_add_flow = [&](std::uint32_t master) -> DdrFlow* {
      if (last_flow < flows.size() && flows[last_flow].master == master) return &flows[last_flow];
      for (last_flow = 0; last_flow < flows.size(); ++last_flow) {
        if (flows[last_flow].master == master) return &flows[last_flow];
      }
      if (flows.size() > kMaxMasters) return nullptr;
      flows.push_back(open(tracks, part, master));
      return &flows.back();
    };
    find_or_add_flow(kNoMaster);

    // The first interval starts at the start of the device, when its clock starts.
    std::int64_t last_ns = part.start->after_start_us(0);
    std::int64_t moment_ns = kNull;
    std::uint64_t moment_offset = 0;
    const auto end_moment = [&] {
      if (moment_ns == kNull) return;
      if (moment_ns <= last_ns) {
        context.report.skip_record(name(), part.name, kNoInterval, moment_offset);
      }
      // If there are only records of masters, the total is 0, as in other tools.
      flows.front().is_seen[0] = flows.front().is_seen[1] = true;
      for (DdrFlow& flow : flows) {
        for (std::size_t way = 0; way < 2; ++way) {
          if (flow.is_seen[way] && moment_ns > last_ns)
            tracks.add(flow.tracks[way], last_ns, moment_ns, flow.bytes[way]);
          flow.is_seen[way] = false;
          flow.bytes[way] = 0;
        }
      }
      last_ns = std::max(last_ns, moment_ns);
    };
    const auto take = [&](std::int64_t time_ns, const Item& item) {
      if (time_ns != moment_ns) {
        end_moment();
        moment_ns = time_ns;
        moment_offset = item.offset;
      }
      DdrFlow* flow = find_or_add_flow(item.master);
      if (flow == nullptr) {
        context.report.skip_record(name(), part.name, "more masters than possible", item.offset);
        return;
      }
      const std::size_t way = item.is_write ? 1 : 0;
      flow->is_seen[way] = true;
      flow->bytes[way] =
          saturating_add(flow->bytes[way], static_cast<std::int64_t>(item.count) * word_bytes);
    };
    TimeOrder<Item> order;
    Clock32 clock;
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<DdrWire>(record.bytes);
      const std::int64_t time_ns = part.start->after_start_us(clock.unwrapped(wire.time_us));
      if (!is_time(import_.session, time_ns)) return stream.skip(context, record, kImpossibleTime);
      if (!order.add(time_ns, {wire.count, wire.master, wire.event != 0, record.offset}, take))
        stream.skip(context, record, kTooLate);
    });
    order.finish(take);
    end_moment();
    tracks.write();
    if (tracks.has_samples())
      tell_unexpected(import_, context, part, name(), {0, 1, 2, 3, 4, 7, 8, 11});
  }

  static DdrFlow open(CounterTracks& tracks, const CannPart& part, std::uint32_t master) {
    DdrFlow flow{.master = master};
    const bool is_total = master == kNoMaster;
    const std::string subject = is_total ? "DDR" : fmt::format("DDR master {}", master);
    for (std::size_t way = 0; way < 2; ++way) {
      flow.tracks[way] = tracks.open({.device = part.device,
                                      .subject = subject,
                                      .counter = way == 1 ? "Write" : "Read",
                                      .unit = "MB/s",
                                      .number = is_total ? kNull : std::int64_t{master},
                                      .divisor = kMegabyte,
                                      .is_rate = true});
    }
    return flow;
  }
};

}  // namespace

std::unique_ptr<RawKind> make_ddr_kind(CannImport& import) {
  return std::make_unique<DdrKind>(import);
}

}  // namespace msprof::cann
