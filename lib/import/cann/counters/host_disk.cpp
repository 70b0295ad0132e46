// Raw kind host_disk.data: data read from and written to disks by the process, as printed by iotop:
// a start time, then one line per interval. Source: cann_system.md 16.3.
#include "base/number.hpp"
#include "import/cann/counters/counter_tracks.hpp"
#include "import/cann/counters/text_kind.hpp"

namespace msprof::cann {

namespace {

constexpr int kDiskDecimals = 6;  // decimals kept of rates and percentages
constexpr std::int64_t kDiskMillionth = 1'000'000;

// Parses for example "396.54" and "K/s". Returns millionths of a byte per second.
std::optional<std::int64_t> parse_disk_rate(std::string_view number, std::string_view unit) {
  constexpr std::string_view kUnits = "BKMG";
  const auto value = parse_scaled_decimal(number, kDiskDecimals);
  const std::size_t power =
      unit.size() == 3 && unit.ends_with("/s") ? kUnits.find(unit[0]) : std::string_view::npos;
  std::int64_t rate = 0;
  if (!value || power == std::string_view::npos ||
      __builtin_mul_overflow(*value, std::int64_t{1} << (10 * power), &rate))
    return std::nullopt;
  return rate;
}

class HostDiskKind : public TextKind {
 public:
  explicit HostDiskKind(CannImport& import) : TextKind(import, "host_disk", "host_disk.data") {}

 private:
  void read(const ImportContext& context, const CannPart& part, const std::string&,
            SliceLines& lines) override {
    if (!check_start(context, part, name())) return;
    if (part.info.host_disk_hz <= 0) {
      bool has_lines = false;
      lines.read([&](std::string_view line) -> std::string_view {
        has_lines = has_lines || !line.empty();
        return {};
      });
      if (has_lines) {
        context.report.add(FindingId::events_not_said, name(), part.name, "no host_disk_freq",
                           "sample.json does not contain the sampling interval");
      }
      return;
    }
    CounterTracks tracks(import_, context, name());
    const auto open = [&](std::string_view counter, std::string_view unit, std::int64_t divisor) {
      return tracks.open(
          {.device = {}, .subject = "Disk", .counter = counter, .unit = unit, .divisor = divisor});
    };
    constexpr std::int64_t kKilobyte = 1024;
    const std::size_t read = open("Read", "KB/s", kKilobyte * kDiskMillionth);
    const std::size_t write = open("Write", "KB/s", kKilobyte * kDiskMillionth);
    const std::size_t usage = open("Usage", "%", kDiskMillionth);

    std::optional<std::int64_t> start_ns;
    std::int64_t number = 0;  // intervals since `start_ns`
    const auto moment = [&](std::int64_t intervals) {
      constexpr int128 kSecond = 1'000'000'000;
      const int128 ns = *start_ns + intervals * kSecond / part.info.host_disk_hz;
      return static_cast<std::int64_t>(std::min<int128>(ns, INT64_MAX));
    };
    lines.read([&](std::string_view line) -> std::string_view {
      const LineWords words(line);
      if (words.size() == 0) return {};
      if (words[0] == "start_time") {
        std::uint64_t ns = 0;
        if (words.size() != 2 || !words.number(1, ns)) return kNotTheForm;
        const std::int64_t begin_ns = part.start->of_host(ns);
        if (!is_time(import_.session, begin_ns)) return kImpossibleTime;
        // A second start_time means that the recording was restarted.
        if (start_ns && begin_ns < moment(number)) return kTooLate;
        start_ns = begin_ns;
        number = 0;
        return {};
      }
      std::uint64_t thread = 0;
      if (words[0] == "Total" || words[0] == "Actual" || words[0] == "Current" ||
          words[0] == "TIME" || words[0] == "TID")
        return {};  // headers of iotop
      if (!words.number(1, thread)) return kNotTheForm;
      if (!start_ns) return "no start_time precedes it";
      // Every line is an interval, even if it cannot be parsed.
      const std::int64_t begin_ns = moment(number);
      const std::int64_t end_ns = moment(++number);
      if (words.size() < 8) return kNotTheForm;
      const auto read_rate = parse_disk_rate(words[4], words[5]);
      const auto write_rate = parse_disk_rate(words[6], words[7]);
      const bool has_usage =
          words.size() >= 11 && line.find("unavailable") == std::string_view::npos;
      const auto waited = has_usage ? parse_scaled_decimal(words[10], kDiskDecimals) : 0;
      if (!read_rate || !write_rate || !waited || end_ns <= begin_ns) return kNotTheForm;
      tracks.add(read, begin_ns, end_ns, *read_rate);
      tracks.add(write, begin_ns, end_ns, *write_rate);
      tracks.add(usage, begin_ns, end_ns, *waited);
      lines.count();
      return {};
    });
    tracks.write();
  }
};

}  // namespace

std::unique_ptr<RawKind> make_host_disk_kind(CannImport& import) {
  return std::make_unique<HostDiskKind>(import);
}

}  // namespace msprof::cann
