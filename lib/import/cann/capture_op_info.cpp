// Raw kind capture_op_info: operators of kernels replayed by a graph. Records of up to 256 bytes
// are in the additional file; longer ones are stored consecutively in the variable file. Source:
// cann_new_kinds.md 2.4.
#include <cstring>
#include <string_view>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "import/cann/cann_import.hpp"
#include "wire/cann/host_wire.hpp"

namespace msprof::cann {

namespace {

struct __attribute__((packed)) CaptureOpWire {
  HostHeader head;
  std::uint32_t model;
  std::uint32_t device;
  std::uint32_t stream;
  std::uint32_t task;
  std::uint32_t task_type;  // table T1
  std::uint32_t blocks;
  std::uint64_t name;  // hash
  std::uint64_t type;  // hash
};
static_assert(sizeof(CaptureOpWire) == 64);

// Fields between the wire struct and the tensors: CaptureOpTail since 2026, OldCaptureOpTail
// before.
struct __attribute__((packed)) CaptureOpTail {
  std::uint64_t attribute;  // hash; 0 if absent
  std::uint64_t reserved;
  std::uint32_t flag;
  std::uint32_t tensor_count;
};
struct __attribute__((packed)) OldCaptureOpTail {
  std::uint32_t flag;
  std::uint32_t tensor_count;
};

constexpr std::size_t kBodyBytes = sizeof(CaptureOpWire) - sizeof(HostHeader);
constexpr std::size_t kTensorBytes = sizeof(TensorWire);
constexpr std::size_t kShortOpBytes = 256;
constexpr std::size_t kMaxOpBytes = std::size_t{64} << 10;
constexpr std::string_view kCaptureOpKind = "capture_op_info";

constexpr bool has_tail(std::size_t data_len, std::size_t tail) {
  return data_len >= kBodyBytes + tail && (data_len - kBodyBytes - tail) % kTensorBytes == 0;
}

// Adds a record of 24 + data_len bytes. Returns why it is invalid; empty on success.
std::string_view add_captured_op(CapturedOps& ops, std::span<const std::byte> record,
                                 bool is_unaging) {
  const auto wire = decode<CaptureOpWire>(record);
  const std::size_t length = wire.head.data_len;
  const auto rest = record.subspan(std::min(record.size(), sizeof(CaptureOpWire)));
  CaptureOpTail tail{};
  std::size_t tail_bytes = 0;
  if (has_tail(length, sizeof(CaptureOpTail))) {
    tail = decode<CaptureOpTail>(rest);
    tail_bytes = sizeof(CaptureOpTail);
  } else if (has_tail(length, sizeof(OldCaptureOpTail))) {
    const auto old = decode<OldCaptureOpTail>(rest);
    tail.flag = old.flag;
    tail.tensor_count = old.tensor_count;
    tail_bytes = sizeof(OldCaptureOpTail);
  } else {
    return "impossible length";
  }
  if (sizeof(HostHeader) + length > record.size()) return "impossible length";
  const std::size_t tensors = length - kBodyBytes - tail_bytes;
  if (tail.tensor_count > tensors / kTensorBytes) return "more tensors than fit in the record";
  CapturedOp op;
  op.time = wire.head.time;
  op.model = wire.model;
  op.device = wire.device;
  op.stream = wire.stream;
  op.task = wire.task;
  op.task_type = wire.task_type;
  op.blocks = wire.blocks;
  op.name = wire.name;
  op.type = wire.type;
  op.attribute = tail.attribute;
  op.flag = tail.flag;
  op.is_unaging = is_unaging;
  op.tensors = rest.subspan(tail_bytes, tail.tensor_count * kTensorBytes);
  ops.add(op);
  return {};
}

constexpr RecordFormat kCaptureOpFormat{kCaptureOpKind, kShortOpBytes, has_record_head};

class CaptureOpKind : public SliceKind {
 public:
  explicit CaptureOpKind(CannImport& import)
      : SliceKind(import, kCaptureOpKind, kCaptureOpFormat) {}

 private:
  void read(const ImportContext& context, const CannPart&, RecordStream& stream) override {
    stream.open(context, [&](const StreamRecord& record) {
      const auto why = add_captured_op(import_.host.captured_ops, record.bytes, record.is_unaging);
      if (!why.empty()) stream.skip(context, record, why);
    });
  }
};

// Reads records of variable length. After damage, reading resumes at the next plausible head.
class LongCaptureOpKind : public RawKind {
 public:
  explicit LongCaptureOpKind(CannImport& import) : import_(import) {}

  std::string_view name() const override { return kCaptureOpKind; }
  bool owns(const RawFile& file) const override {
    return import_.session.parsed_name(file).stem == "capture_op_info.variable";
  }

  void import(const ImportContext& context, const RawFile& file) override {
    FileReader reader(file.path);
    std::vector<std::byte> bytes;
    std::uint64_t place = 0;  // offset of bytes[0] in the file
    std::uint64_t records = 0;
    bool is_lost = false;  // inside damage that is already counted
    bool is_end = false;
    while (!is_end) {
      interrupt::check();
      const std::size_t kept = bytes.size();
      bytes.resize(kept + kReadBytes);
      const std::size_t count = reader.read(std::span(bytes).subspan(kept));
      bytes.resize(kept + count);
      is_end = count < kReadBytes;
      std::size_t at = 0;
      while (bytes.size() - at >= sizeof(HostHeader)) {
        const auto rest = std::span<const std::byte>(bytes).subspan(at);
        const std::size_t length = record_length(rest);
        if (length == 0) {
          if (!is_lost && !(file.has_space && is_zero(rest)))
            context.report.skip_record(name(), file.name, "bad magic or length", place + at);
          is_lost = true;
          ++at;
          continue;
        }
        if (length > rest.size()) break;
        is_lost = false;
        const auto why = add_captured_op(import_.host.captured_ops, rest.first(length),
                                         import_.session.parsed_name(file).is_unaging);
        why.empty() ? void(++records)
                    : context.report.skip_record(name(), file.name, why, place + at);
        at += length;
      }
      bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
      place += at;
    }
    context.report.count_file(name(), records);
    if (!bytes.empty() && !is_lost)
      context.report.add({FindingId::trailing_bytes, std::string(name()), file.name,
                          "incomplete record at the end", static_cast<std::int64_t>(bytes.size()),
                          static_cast<std::int64_t>(place), "", ""});
  }

 private:
  static constexpr std::size_t kReadBytes = std::size_t{1} << 18;

  // Returns the length in bytes of the record that starts here; 0 if none does.
  static std::size_t record_length(std::span<const std::byte> bytes) {
    if (!has_record_head(bytes)) return 0;
    const auto head = decode<HostHeader>(bytes);
    const std::size_t length = sizeof(HostHeader) + head.data_len;
    return head.data_len >= kBodyBytes && length <= kMaxOpBytes ? length : 0;
  }
  static bool is_zero(std::span<const std::byte> bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
  }

  CannImport& import_;
};

}  // namespace

std::unique_ptr<RawKind> make_capture_op_info_kind(CannImport& import) {
  return std::make_unique<CaptureOpKind>(import);
}

std::unique_ptr<RawKind> make_long_capture_op_info_kind(CannImport& import) {
  return std::make_unique<LongCaptureOpKind>(import);
}

}  // namespace msprof::cann
