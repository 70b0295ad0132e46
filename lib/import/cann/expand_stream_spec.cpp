// Raw kind expand_stream_spec: flag for 15-bit stream ids; only 910B has them. Source: cann_host.md
// 1.8.7, cann_device.md 5.2.
#include "import/cann/cann_import.hpp"

namespace msprof::cann {

namespace {

constexpr std::size_t kStatusOffset = 24;  // u8; 1 means expanded
constexpr RecordFormat kExpandStreamSpecFormat{"expand_stream_spec", 64, has_record_head};

class ExpandStreamKind : public SliceKind {
 public:
  explicit ExpandStreamKind(CannImport& import)
      : SliceKind(import, "expand_stream_spec", kExpandStreamSpecFormat) {}

 private:
  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    constexpr int kAscend910b = 5;
    const auto& chip = import_.session.chip();
    stream.open(context, [this](const StreamRecord& record) {
      // Only the first record counts.
      if (is_known_) return;
      is_known_ = true;
      import_.are_streams_expanded = record.bytes[kStatusOffset] == std::byte{1};
    });
    if (!import_.are_streams_expanded || !chip || chip->platform == kAscend910b) return;
    import_.are_streams_expanded = false;
    context.report.add(FindingId::unread_records, name(), part.name,
                       "stream ids of 15 bits, not read",
                       "The encoding of this chip is unknown: they are read as 11 bits.");
  }

  bool is_known_ = false;
};

}  // namespace

std::unique_ptr<RawKind> make_expand_stream_spec_kind(CannImport& import) {
  return std::make_unique<ExpandStreamKind>(import);
}

}  // namespace msprof::cann
