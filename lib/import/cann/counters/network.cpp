// Raw kinds nic.data and roce.data: data sent and received by a network port. A line describes one
// port at one time: rates, and counts since the port started. Source: cann_system.md 9.
#include <fmt/format.h>

#include <array>

#include "import/cann/counters/counter_tracks.hpp"
#include "import/cann/counters/text_kind.hpp"
#include "import/cann/counters/time_order.hpp"

namespace msprof::cann {

namespace {

struct NetworkCounter {
  std::string_view name;
  std::string_view unit;
  bool is_count;  // since the port started; else a current value in thousandths
};

// In the order of the words of a line.
constexpr std::array kNetworkCounters = {
    NetworkCounter{"Bandwidth", "MB/s", false},
    NetworkCounter{"Rx Packet Rate", "packets/s", false},
    NetworkCounter{"Rx Byte Rate", "B/s", false},
    NetworkCounter{"Rx Packets", "packets", true},
    NetworkCounter{"Rx Bytes", "B", true},
    NetworkCounter{"Rx Errors", "packets", true},
    NetworkCounter{"Rx Dropped", "packets", true},
    NetworkCounter{"Tx Packet Rate", "packets/s", false},
    NetworkCounter{"Tx Byte Rate", "B/s", false},
    NetworkCounter{"Tx Packets", "packets", true},
    NetworkCounter{"Tx Bytes", "B", true},
    NetworkCounter{"Tx Errors", "packets", true},
    NetworkCounter{"Tx Dropped", "packets", true},
};
constexpr std::int64_t kThousandths = 1000;

// Words of a line: time, counters, port, and a type, which is not used.
constexpr std::size_t kWordsWithoutPort = 1 + kNetworkCounters.size();
constexpr std::size_t kWordsWithType = kWordsWithoutPort + 2;
constexpr std::size_t kMaxPorts = 256;
constexpr std::string_view kTooManyPorts = "more ports than a device has";

struct PortSample {
  std::uint64_t port = 0;
  std::array<std::int64_t, kNetworkCounters.size()> values{};
};

bool read_port_sample(const LineWords& words, PortSample& sample) {
  for (std::size_t i = 0; i < kNetworkCounters.size(); ++i) {
    if (!kNetworkCounters[i].is_count) {
      const auto value = parse_thousandths(words[i + 1]);
      if (!value) return false;
      sample.values[i] = *value;
      continue;
    }
    std::uint64_t count = 0;
    if (!words.number(i + 1, count)) return false;
    sample.values[i] = sample_value(count);
  }
  if (words.size() == kWordsWithoutPort) return true;
  return words.number(kWordsWithoutPort, sample.port) && sample.port <= INT64_MAX;
}

class NetworkKind : public TextKind {
 public:
  NetworkKind(CannImport& import, std::string_view kind, std::string_view stem,
              std::initializer_list<int> chips)
      : TextKind(import, kind, stem), chips_(chips) {}

 private:
  struct Port {
    std::uint64_t number = 0;
    std::size_t first_track = 0;  // tracks of the other counters follow
    PortSample last;
  };

  void read(const ImportContext& context, const CannPart& part, const std::string&,
            SliceLines& lines) override {
    if (!check_start(context, part, name())) return;
    tell_unexpected(import_, context, part, name(), chips_);
    CounterTracks tracks(import_, context, name());
    std::vector<Port> ports;
    std::size_t next = 0;  // ports appear in a fixed order
    const auto find_or_add_port = [&](std::uint64_t number) -> Port* {
      for (std::size_t i = 0; i < ports.size(); ++i, ++next) {
        if (next >= ports.size()) next = 0;
        if (ports[next].number == number) return &ports[next++];
      }
      if (ports.size() == kMaxPorts) return nullptr;
      Port& port = ports.emplace_back();
      port.number = number;
      port.first_track = tracks.next();
      for (const NetworkCounter& counter : kNetworkCounters) {
        tracks.open({.device = part.device,
                     .subject = fmt::format("Port {}", number),
                     .counter = counter.name,
                     .unit = counter.unit,
                     .number = static_cast<std::int64_t>(number),
                     .divisor = counter.is_count ? 1 : kThousandths});
      }
      return &port;
    };
    std::size_t expected_words = 0;  // number of words of the first line
    const auto take = [&](std::int64_t time_ns, const PortSample& sample) {
      Port* const port = find_or_add_port(sample.port);
      if (port == nullptr) return lines.skip(kTooManyPorts);
      bool has_fallen = false;
      for (std::size_t i = 0; i < sample.values.size(); ++i) {
        has_fallen =
            has_fallen || (kNetworkCounters[i].is_count && sample.values[i] < port->last.values[i]);
        tracks.add(port->first_track + i, time_ns, sample.values[i]);
      }
      // Keeps the counter value; only the increase is unknown. Lines without a port may describe
      // several ports, so they are not reported.
      if (has_fallen && expected_words != kWordsWithoutPort) lines.skip(kCounterFell);
      port->last = sample;
    };
    TimeOrder<PortSample> order;
    lines.read([&](std::string_view line) -> std::string_view {
      if (line.empty() || line.find("rxPacket/s") != std::string_view::npos) return {};
      const LineWords words(line);
      if (words.size() < kWordsWithoutPort || words.size() > kWordsWithType) return kNotTheForm;
      PortSample sample;
      const auto ns = parse_stamp_ns(words[0]);
      if (!ns || (expected_words != 0 && words.size() != expected_words) ||
          !read_port_sample(words, sample))
        return kNotTheForm;
      expected_words = words.size();
      const std::int64_t time_ns = part.start->of_device(*ns);
      if (!is_time(import_.session, time_ns)) return kImpossibleTime;
      if (!order.add(time_ns, sample, take)) return kTooLate;
      lines.count();
      return {};
    });
    order.finish(take);
    tracks.write();
  }

  std::initializer_list<int> chips_;
};

}  // namespace

std::unique_ptr<RawKind> make_nic_kind(CannImport& import) {
  static constexpr std::initializer_list<int> kChips = {0, 1, 5, 7, 8, 11};
  return std::make_unique<NetworkKind>(import, "nic", "nic.data", kChips);
}

std::unique_ptr<RawKind> make_roce_kind(CannImport& import) {
  static constexpr std::initializer_list<int> kChips = {0, 1, 5};
  return std::make_unique<NetworkKind>(import, "roce", "roce.data", kChips);
}

}  // namespace msprof::cann
