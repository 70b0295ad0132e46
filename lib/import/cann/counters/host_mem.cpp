// Raw kind host_mem.data: host memory of the process. A line has a time and the contents of
// /proc/<pid>/statm. Source: cann_system.md 16.2.
#include "import/cann/counters/counter_tracks.hpp"
#include "import/cann/counters/text_kind.hpp"
#include "import/cann/counters/time_order.hpp"

namespace msprof::cann {

namespace {

constexpr std::int64_t kHostKilobyte = 1024;

// Returns `value` * `factor`, limited to INT64_MAX.
std::int64_t saturating_product(std::uint64_t value, std::uint64_t factor) {
  std::uint64_t result = 0;
  return __builtin_mul_overflow(value, factor, &result) ? INT64_MAX : sample_value(result);
}

class HostMemKind : public TextKind {
 public:
  explicit HostMemKind(CannImport& import) : TextKind(import, "host_mem", "host_mem.data") {}

 private:
  void read(const ImportContext& context, const CannPart& part, const std::string&,
            SliceLines& lines) override {
    if (!check_start(context, part, name())) return;
    CounterTracks tracks(import_, context, name());
    const auto open = [&](std::string_view counter) {
      return tracks.open({.device = {},
                          .subject = "Memory",
                          .counter = counter,
                          .unit = "KB",
                          .divisor = kHostKilobyte});
    };
    const std::size_t total = open("Total");
    const std::size_t used = open("Used");
    const auto total_kb = static_cast<std::uint64_t>(part.info.memory_total_kb);
    bool is_first = true;
    TimeOrder<std::int64_t> order;
    const auto take = [&](std::int64_t time_ns, std::int64_t bytes) {
      if (is_first && total_kb > 0)
        tracks.add(total, time_ns, saturating_product(total_kb, kHostKilobyte));
      is_first = false;
      tracks.add(used, time_ns, bytes);
    };
    lines.read([&](std::string_view line) -> std::string_view {
      if (line.empty()) return {};
      constexpr std::uint64_t kPageBytes = 4096;
      const LineWords words(line);
      std::uint64_t ns = 0;
      std::uint64_t pages = 0;
      if (words.size() < 3 || !words.number(0, ns) || !words.number(2, pages)) return kNotTheForm;
      const std::int64_t time_ns = part.start->of_host(ns);
      if (!is_time(import_.session, time_ns)) return kImpossibleTime;
      if (!order.add(time_ns, saturating_product(pages, kPageBytes), take)) return kTooLate;
      lines.count();
      return {};
    });
    order.finish(take);
    if (!is_first && total_kb == 0) {
      context.report.add(FindingId::events_not_said, name(), part.name, "no memoryTotal",
                         "info.json does not contain the total memory size");
    }
    tracks.write();
  }
};

}  // namespace

std::unique_ptr<RawKind> make_host_mem_kind(CannImport& import) {
  return std::make_unique<HostMemKind>(import);
}

}  // namespace msprof::cann
