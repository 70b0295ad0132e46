// Raw kind logic_stream_info: maps streams to logical streams. Source: cann_host.md 1.8.14.
#include <set>

#include "import/cann/cann_import.hpp"
#include "wire/cann/host_wire.hpp"

namespace msprof::cann {

namespace {

constexpr std::size_t kMaxStreamsOfOne = 56;

struct __attribute__((packed)) LogicStreamWire {  // cann_host.md 1.4, 1.8.14
  HostHeader head;
  std::uint32_t logic_stream;
  std::uint32_t count;
  std::uint32_t streams[kMaxStreamsOfOne];
};
static_assert(sizeof(LogicStreamWire) == 256);

constexpr RecordFormat kLogicStreamInfoFormat{"logic_stream_info", sizeof(LogicStreamWire),
                                              has_record_head};

class LogicStreamKind : public SliceKind {
 public:
  explicit LogicStreamKind(CannImport& import)
      : SliceKind(import, "logic_stream_info", kLogicStreamInfoFormat) {}

 private:
  void read(const ImportContext& context, const CannPart&, RecordStream& stream) override {
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<LogicStreamWire>(record.bytes);
      if (wire.count > kMaxStreamsOfOne) {
        stream.skip(context, record, "more than 56 streams");
        return;
      }
      for (std::size_t i = 0; i < wire.count; ++i) {
        // Only the first record of a stream counts.
        if (!seen_.insert(wire.streams[i]).second) continue;
        context.store.add(LogicStreamRow{wire.streams[i], wire.logic_stream});
      }
    });
  }

  std::set<std::uint32_t> seen_;
};

}  // namespace

std::unique_ptr<RawKind> make_logic_stream_info_kind(CannImport& import) {
  return std::make_unique<LogicStreamKind>(import);
}

}  // namespace msprof::cann
