// Raw kind mc2_comm_info: streams on which AI CPU kernels run a collective. Source: cann_host.md
// 1.8.15.
#include "import/cann/cann_import.hpp"
#include "wire/cann/host_wire.hpp"

namespace msprof::cann {

namespace {

constexpr std::size_t kMaxCommStreams = 8;

struct __attribute__((packed)) Mc2CommWire {  // cann_host.md 1.4, 1.8.15
  HostHeader head;
  std::uint64_t group_name;  // hash
  std::uint32_t rank_size;
  std::uint32_t rank_id;
  std::uint32_t user_rank_id;
  std::uint32_t stream;  // stream of the AI CPU kernel
  std::uint32_t count;
  std::uint32_t comm_streams[kMaxCommStreams];
  std::uint8_t reserved[172];
};
static_assert(sizeof(Mc2CommWire) == 256);

constexpr RecordFormat kMc2CommInfoFormat{"mc2_comm_info", sizeof(Mc2CommWire), has_record_head};

class Mc2CommKind : public SliceKind {
 public:
  explicit Mc2CommKind(CannImport& import)
      : SliceKind(import, "mc2_comm_info", kMc2CommInfoFormat) {}

 private:
  void read(const ImportContext& context, const CannPart&, RecordStream& stream) override {
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<Mc2CommWire>(record.bytes);
      if (wire.count > kMaxCommStreams) {
        stream.skip(context, record, "more than 8 streams");
        return;
      }
      KfcStreamRow row;
      row.group_name_id = import_.dictionaries.hash_name_id(context.store, wire.group_name);
      row.rank_size = wire.rank_size;
      row.rank_id = wire.rank_id;
      row.stream_id = wire.stream;
      row.id = ++rows_;
      context.store.add(row);
      row.is_comm_stream = 1;
      for (std::size_t i = 0; i < wire.count; ++i) {
        row.id = ++rows_;
        row.stream_id = wire.comm_streams[i];
        context.store.add(row);
      }
    });
  }

  std::int64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<RawKind> make_mc2_comm_info_kind(CannImport& import) {
  return std::make_unique<Mc2CommKind>(import);
}

}  // namespace msprof::cann
