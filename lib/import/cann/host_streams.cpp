#include "import/cann/host_streams.hpp"

#include "import/cann/cann_import.hpp"

namespace msprof::cann {

namespace {

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kHostStreamCount; ++i)
    if (static_cast<std::size_t>(kHostStreams[i].stream) != i) return false;
  return true;
}
static_assert(is_in_order());

// Adds its files to a stream; join_host() reads all streams together.
class HostStreamKind : public RawKind {
 public:
  HostStreamKind(CannImport& import, const HostStreamInfo& info) : import_(import), info_(info) {}

  std::string_view name() const override { return info_.stem; }
  bool owns(const RawFile& file) const override {
    return import_.session.parsed_name(file).stem == info_.stem;
  }
  void import(const ImportContext&, const RawFile& file) override {
    RecordStream& stream = import_.host[info_.stream];
    stream.add(file, import_.session.parsed_name(file).is_unaging);
    if (const auto& clock = import_.session.host_clock()) stream.limit_times(*clock);
  }

 private:
  CannImport& import_;
  const HostStreamInfo& info_;
};

}  // namespace

RecordFormat host_record_format(HostStream stream) {
  const HostStreamInfo& info = host_stream_info(stream);
  return {info.stem, info.bytes, has_record_magic, "bad magic", host_record_time};
}

HostInputs::HostInputs() {
  for (const HostStreamInfo& info : kHostStreams)
    streams.emplace_back(host_record_format(info.stream));
}

HostInputs::~HostInputs() = default;

std::vector<std::unique_ptr<RawKind>> make_host_stream_kinds(CannImport& import) {
  std::vector<std::unique_ptr<RawKind>> kinds;
  for (const HostStreamInfo& info : kHostStreams)
    kinds.push_back(std::make_unique<HostStreamKind>(import, info));
  return kinds;
}

}  // namespace msprof::cann
