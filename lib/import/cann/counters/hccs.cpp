// Raw kind hccs.data: bytes that a device sent and received over HCCS since it started, one line
// per sample. Source: cann_system.md 8.
#include "import/cann/counters/counter_tracks.hpp"
#include "import/cann/counters/text_kind.hpp"
#include "import/cann/counters/time_order.hpp"

namespace msprof::cann {

namespace {

class HccsKind : public TextKind {
 public:
  explicit HccsKind(CannImport& import) : TextKind(import, "hccs", "hccs.data") {}

 private:
  struct Totals {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };

  void read(const ImportContext& context, const CannPart& part, const std::string&,
            SliceLines& lines) override {
    if (!check_start(context, part, name())) return;
    CounterTracks tracks(import_, context, name());
    const auto open = [&](std::string_view counter) {
      return tracks.open({.device = part.device,
                          .subject = "HCCS",
                          .counter = counter,
                          .unit = "MB/s",
                          .divisor = kMegabyte,
                          .is_rate = true});
    };
    const std::size_t tx = open("Tx");
    const std::size_t rx = open("Rx");
    std::optional<std::pair<std::int64_t, Totals>> last;
    const auto interval = [&](std::size_t track, std::int64_t time_ns, std::uint64_t before,
                              std::uint64_t now) {
      if (now < before) return lines.skip(kCounterFell);
      tracks.add(track, last->first, time_ns, sample_value(now - before));
    };
    TimeOrder<Totals> order;
    const auto take = [&](std::int64_t time_ns, const Totals& totals) {
      if (last && time_ns <= last->first) return lines.skip(kNoInterval);
      if (last) {
        interval(tx, time_ns, last->second.sent, totals.sent);
        interval(rx, time_ns, last->second.received, totals.received);
      }
      last = {time_ns, totals};
    };
    lines.read([&](std::string_view line) -> std::string_view {
      if (line.empty() || line.starts_with("time_stamp")) return {};
      const LineWords words(line);
      Totals totals;
      const auto ns = words.size() == 3 ? parse_stamp_ns(words[0]) : std::nullopt;
      if (!ns || !words.number(1, totals.sent) || !words.number(2, totals.received))
        return kNotTheForm;
      const std::int64_t time_ns = part.start->of_device(*ns);
      if (!is_time(import_.session, time_ns)) return kImpossibleTime;
      if (!order.add(time_ns, totals, take)) return kTooLate;
      lines.count();
      return {};
    });
    order.finish(take);
    tracks.write();
    if (tracks.has_samples()) tell_unexpected(import_, context, part, name(), {0, 1, 2, 3, 4, 5});
  }
};

}  // namespace

std::unique_ptr<RawKind> make_hccs_kind(CannImport& import) {
  return std::make_unique<HccsKind>(import);
}

}  // namespace msprof::cann
