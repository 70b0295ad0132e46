// Raw kind stream_sq_info: hardware queues of streams. Source: cann_new_kinds.md 2.5.
#include <map>
#include <utility>

#include "import/cann/cann_import.hpp"
#include "wire/cann/host_wire.hpp"

namespace msprof::cann {

namespace {

struct __attribute__((packed)) StreamSqWire {
  HostHeader head;
  std::uint16_t status;  // 0 created, 1 destroyed
  std::uint16_t reserved;
  std::uint32_t stream;
  std::uint16_t queue;
  std::uint16_t device;
  std::uint16_t scheduler;
};
static_assert(sizeof(StreamSqWire) == 38);

constexpr std::size_t kStreamSqBytes = 64;

constexpr RecordFormat kStreamSqFormat{"stream_sq_info", kStreamSqBytes, has_record_head,
                                       "bad magic", host_record_time};

class StreamSqKind : public SliceKind {
 public:
  explicit StreamSqKind(CannImport& import)
      : SliceKind(import, "stream_sq_info", kStreamSqFormat) {}

 private:
  void read(const ImportContext& context, const CannPart&, RecordStream& stream) override {
    const auto& clock = import_.session.host_clock();
    std::vector<StreamQueueRow> rows;
    std::map<std::pair<std::uint16_t, std::uint32_t>, std::size_t> open;  // by device and stream
    stream.open(context);
    for (; const StreamRecord* record = stream.peek(); stream.next()) {
      const auto wire = decode<StreamSqWire>(record->bytes);
      const std::pair<std::uint16_t, std::uint32_t> key{wire.device, wire.stream};
      const auto found = open.find(key);
      if (wire.status != 0) {
        if (found == open.end()) continue;
        if (clock) rows[found->second].end_ns = clock->ns(record->time);
        open.erase(found);
        continue;
      }
      open.insert_or_assign(key, rows.size());
      StreamQueueRow& row = rows.emplace_back();
      row.device_id = wire.device;
      row.stream_id = wire.stream;
      row.queue_id = wire.queue;
      row.scheduler_id = wire.scheduler;
      if (clock) row.start_ns = clock->ns(record->time);
    }
    for (StreamQueueRow& row : rows) {
      row.id = ++rows_;
      context.store.add(row);
    }
  }

  std::int64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<RawKind> make_stream_sq_info_kind(CannImport& import) {
  return std::make_unique<StreamSqKind>(import);
}

}  // namespace msprof::cann
