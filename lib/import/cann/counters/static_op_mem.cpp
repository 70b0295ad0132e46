// Raw kind static_op_mem: device memory that the graph compiler assigned to operators, and the
// range of graph nodes during which they own it. Source: cann_system.md 18.
#include <fmt/format.h>

#include <unordered_map>

#include "base/text.hpp"
#include "import/cann/counters/counter_tracks.hpp"

namespace msprof::cann {

namespace {

struct __attribute__((packed)) StaticMemoryWire {
  HostHeader head;
  std::int64_t size_bytes;
  std::uint64_t op;          // hash of its name; 0: total of the graph
  std::uint64_t life_begin;  // node numbers
  std::uint64_t life_end;
  std::uint64_t total_bytes;
  std::uint64_t model;  // hash of its name
  std::uint32_t graph;
  std::uint8_t reserved[180];
};
static_assert(sizeof(StaticMemoryWire) == 256);

constexpr RecordFormat kStaticMemoryFormat{"static_op_mem", sizeof(StaticMemoryWire),
                                           has_record_head, "bad magic", host_record_time};
constexpr std::size_t kMaxOperators = 65536;

class StaticMemoryKind : public SliceKind {
 public:
  explicit StaticMemoryKind(CannImport& import)
      : SliceKind(import, "static_op_mem", kStaticMemoryFormat) {}

 private:
  // Identifies an operator of a graph of a model. It has three consecutive tracks.
  struct Operator {
    std::uint64_t op = 0;
    std::uint64_t model = 0;
    std::uint32_t graph = 0;
    bool operator==(const Operator&) const = default;
  };
  struct OperatorHash {
    std::size_t operator()(const Operator& key) const {
      std::uint64_t hash = key.op * 0x9e3779b97f4a7c15u;
      hash = ((hash ^ (hash >> 29)) + key.model) * 0x9e3779b97f4a7c15u;
      return static_cast<std::size_t>((hash ^ (hash >> 29)) + key.graph);
    }
  };

  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    const auto& clock = import_.session.host_clock();
    if (!clock) {
      context.report.add(FindingId::no_clock, name(), part.name, "no times",
                         "a start log is missing, so the times of the records are unknown");
      return;
    }
    tell_unexpected(import_, context, part, name(), {0, 1, 2, 3, 4, 5, 7, 8, 11, 15, 16, 17, 18});
    CounterTracks tracks(import_, context, name());
    std::unordered_map<Operator, std::size_t, OperatorHash> operators;
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<StaticMemoryWire>(record.bytes);
      const Operator key{wire.op, wire.model, wire.graph};
      auto at = operators.find(key);
      if (at == operators.end()) {
        if (operators.size() == kMaxOperators)
          return stream.skip(context, record, "more operators than a file may have");
        at = operators.emplace(key, open(tracks, key)).first;
      }
      const std::int64_t time_ns = clock->ns(wire.head.time);
      tracks.add(at->second, time_ns, cell(static_cast<std::uint64_t>(wire.size_bytes)));
      tracks.add(at->second + 1, time_ns, sample_value(wire.life_begin));
      tracks.add(at->second + 2, time_ns, sample_value(wire.life_end));
    });
    tracks.write();
  }

  std::size_t open(CounterTracks& tracks, const Operator& key) {
    const std::string op =
        key.op == 0 ? "TOTAL" : printable(import_.dictionaries.hash_text(key.op));
    const std::string model = printable(import_.dictionaries.hash_text(key.model));
    const auto track = [&](std::string_view counter, std::string_view unit, std::int64_t divisor) {
      return tracks.open({.device = {},
                          .subject = op,
                          .counter = counter,
                          .unit = unit,
                          .number = key.graph,
                          .detail = model,
                          .divisor = divisor});
    };
    const std::size_t size = track("Size", "KB", 1024);
    track("Life Start", "", 1);
    track("Life End", "", 1);
    return size;
  }
};

}  // namespace

std::unique_ptr<RawKind> make_static_op_mem_kind(CannImport& import) {
  return std::make_unique<StaticMemoryKind>(import);
}

}  // namespace msprof::cann
