// expand_stream_spec: flag that stream ids have 15 bits. Source: cann_host.md 1.8.7,
// cann_device.md 5.2.
#include "import/cann/cann_import.hpp"

namespace msprof::cann {

namespace {

constexpr std::size_t kStatusOffset = 24;  // u8, 1: expanded
constexpr RecordFormat kExpandStreamSpecFormat{"expand_stream_spec", 64, has_record_head};

class ExpandStreamKind : public SliceKind {
 public:
  explicit ExpandStreamKind(CannImport& import)
      : SliceKind(import, "expand_stream_spec", kExpandStreamSpecFormat) {}

 private:
  void read(const ImportContext& context, const CannPart&, RecordStream& stream) override {
    stream.open(context, [this](const StreamRecord& record) {
      // Takes the first record.
      if (known_) return;
      known_ = true;
      import_.streams_expanded = record.bytes[kStatusOffset] == std::byte{1};
    });
  }

  bool known_ = false;
};

}  // namespace

std::unique_ptr<RawKind> make_expand_stream_spec_kind(CannImport& import) {
  return std::make_unique<ExpandStreamKind>(import);
}

}  // namespace msprof::cann
