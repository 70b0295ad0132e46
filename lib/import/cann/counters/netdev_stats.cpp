// Raw kind netdev_stats.data: counters of an NPU's network devices, with times of the host's clock,
// one line per sample. Source: cann_system.md 12.
#include <array>

#include "import/cann/counters/counter_tracks.hpp"
#include "import/cann/counters/text_kind.hpp"
#include "import/cann/counters/time_order.hpp"

namespace msprof::cann {

namespace {

struct NetdevCounter {
  std::string_view subject;
  std::string_view name;
  bool is_bytes;  // else packets
};

// In the order of the words of a line.
constexpr std::array kNetdevCounters = {
    NetdevCounter{"MAC", "Tx PFC Packets", false},
    NetdevCounter{"MAC", "Rx PFC Packets", false},
    NetdevCounter{"MAC", "Tx", true},
    NetdevCounter{"MAC", "Rx", true},
    NetdevCounter{"MAC", "Tx Bad", true},
    NetdevCounter{"MAC", "Rx Bad", true},
    NetdevCounter{"RoCE", "Tx Packets", false},
    NetdevCounter{"RoCE", "Rx Packets", false},
    NetdevCounter{"RoCE", "Tx Error Packets", false},
    NetdevCounter{"RoCE", "Rx Error Packets", false},
    NetdevCounter{"RoCE", "Tx CNP Packets", false},
    NetdevCounter{"RoCE", "Rx CNP Packets", false},
    NetdevCounter{"RoCE", "New Packet Retries", false},
    NetdevCounter{"NIC", "Tx", true},
    NetdevCounter{"NIC", "Rx", true},
};

class NetdevStatsKind : public TextKind {
 public:
  explicit NetdevStatsKind(CannImport& import)
      : TextKind(import, "netdev_stats", "netdev_stats.data") {}

 private:
  using Totals = std::array<std::uint64_t, kNetdevCounters.size()>;

  void read(const ImportContext& context, const CannPart& part, const std::string&,
            SliceLines& lines) override {
    if (!check_start(context, part, name())) return;
    tell_unexpected(import_, context, part, name(), {0, 1, 2, 3, 4, 5, 7, 8, 11});
    CounterTracks tracks(import_, context, name());
    const std::size_t first_track = tracks.next();
    for (const NetdevCounter& counter : kNetdevCounters) {
      tracks.open({.device = part.device,
                   .subject = counter.subject,
                   .counter = counter.name,
                   .unit = counter.is_bytes ? "MB/s" : "packets/s",
                   .divisor = counter.is_bytes ? kMegabyte : 1,
                   .is_rate = true});
    }
    std::optional<std::pair<std::int64_t, Totals>> last;
    const auto take = [&](std::int64_t time_ns, const Totals& totals) {
      if (last && time_ns <= last->first) return lines.skip(kNoInterval);
      for (std::size_t i = 0; last && i < totals.size(); ++i) {
        const std::uint64_t before = last->second[i];
        if (totals[i] < before) {
          lines.skip(kCounterFell);
        } else {
          tracks.add(first_track + i, last->first, time_ns, sample_value(totals[i] - before));
        }
      }
      last = {time_ns, totals};
    };
    TimeOrder<Totals> order;
    lines.read([&](std::string_view line) -> std::string_view {
      if (line.empty()) return {};
      const LineWords words(line);
      if (words.size() != 1 + kNetdevCounters.size()) return kNotTheForm;
      std::uint64_t ns = 0;
      Totals totals{};
      bool is_good = words.number(0, ns);
      for (std::size_t i = 0; i < totals.size(); ++i)
        is_good = is_good && words.number(i + 1, totals[i]);
      if (!is_good) return kNotTheForm;
      const std::int64_t time_ns = part.start->of_host(ns);
      if (!is_time(import_.session, time_ns)) return kImpossibleTime;
      if (!order.add(time_ns, totals, take)) return kTooLate;
      lines.count();
      return {};
    });
    order.finish(take);
    tracks.write();
  }
};

}  // namespace

std::unique_ptr<RawKind> make_netdev_stats_kind(CannImport& import) {
  return std::make_unique<NetdevStatsKind>(import);
}

}  // namespace msprof::cann
