// Raw kind ts_track.data: step trace, wraparounds of task ids, blocks and states of tasks. Chip 310
// writes records of variable length, other chips records of 40 bytes. Source: cann_device.md 3.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "import/cann/cann_import.hpp"
#include "import/cann/tlv_reader.hpp"
#include "wire/cann/device_wire.hpp"
#include "wire/cann/ts_track_wire.hpp"

namespace msprof::cann {

namespace {

constexpr std::string_view kTsTrack = "ts_track";
struct __attribute__((packed)) StepTraceV6Wire {  // cann_device.md 3.2 (chips 15, 16)
  TsHeadWire head;
  std::uint64_t index_id;
  std::uint64_t model_id;
  std::uint16_t tag;
  std::uint16_t stream;
  std::uint32_t task;
};
static_assert(sizeof(StepTraceV6Wire) == kTsRecordBytes);

struct __attribute__((packed)) TaskTypeWire {  // cann_device.md 3.4
  TsHeadWire head;
  std::uint16_t stream;
  std::uint16_t task;
  std::uint16_t type;
  std::uint8_t state;
  std::uint8_t reserved[17];
};
static_assert(sizeof(TaskTypeWire) == kTsRecordBytes);

struct __attribute__((packed)) BlockNumWire {  // cann_device.md 3.6
  TsHeadWire head;
  std::uint16_t stream;
  std::uint16_t task;
  std::uint16_t blocks;
  std::uint16_t mix_ratio;
  std::uint8_t unused[16];
};
static_assert(sizeof(BlockNumWire) == kTsRecordBytes);

struct __attribute__((packed)) CopyWire {  // cann5_classic.md 5.3
  TsHeadWire head;
  std::uint16_t stream;
  std::uint16_t task;
  std::uint8_t state;
  std::uint8_t unused[19];
};
static_assert(sizeof(CopyWire) == kTsRecordBytes);

struct __attribute__((packed)) TimeLineWire {  // cann_device.md 3.7
  std::uint8_t mode;
  std::uint8_t tag;
  std::uint16_t bytes;
  std::uint32_t reserved;
  std::uint16_t type;
  std::uint16_t state;
  std::uint16_t stream;
  std::uint16_t task;
  std::uint64_t ticks;
  std::uint32_t thread;
  std::uint32_t device;
};
static_assert(sizeof(TimeLineWire) == 32);

bool is_known(std::uint8_t tag) {
  return tag >= static_cast<std::uint8_t>(TsTag::step_trace) &&
         tag <= static_cast<std::uint8_t>(TsTag::block_num);
}

bool has_known_tag(std::span<const std::byte> record) {
  return is_known(std::to_integer<std::uint8_t>(record[1]));
}

// If the writer fills in the length, it serves as a magic; the two bytes of a tag are too weak.
bool has_length(std::span<const std::byte> record) {
  const auto head = decode<TsHeadWire>(record);
  return head.bytes == 32 || head.bytes == kTsRecordBytes;
}

constexpr RecordFormat kPlain{kTsTrack, kTsRecordBytes, has_known_tag, "unknown tag"};
constexpr RecordFormat kWithLength{kTsTrack, kTsRecordBytes, has_length, "bad record header"};

// Returns the first bytes of a file; empty if it cannot be read, which the stream reports.
std::vector<std::byte> first_bytes(const RawFile& file, std::size_t count) {
  std::vector<std::byte> bytes(count);
  try {
    FileReader reader(file.path);
    bytes.resize(reader.read(bytes));
  } catch (const Error& error) {
    if (error.code() != Exit::partial_data) throw;
    bytes.clear();
  }
  return bytes;
}

// Returns true if the records of a file have their length filled in. Reads only the first records.
bool fills_in_length(const RawFile& file) {
  const std::vector<std::byte> bytes = first_bytes(file, 4 * kTsRecordBytes);
  // The first record may be damaged or have extra bytes.
  for (std::size_t at = 0; at < 2 * kTsRecordBytes; ++at) {
    bool all = at + kTsRecordBytes <= bytes.size();
    for (std::size_t i = at; i + kTsRecordBytes <= bytes.size(); i += kTsRecordBytes) {
      const auto record = std::span<const std::byte>(bytes).subspan(i, kTsRecordBytes);
      all = all && has_length(record) && has_known_tag(record);
    }
    if (all) return true;
  }
  return false;
}

// The device's record of an application's mark or range edge (cann_host.md 2.2): a step trace
// record with one of these tags.
struct DeviceMark {
  std::uint64_t mark_id = 0;
  std::uint64_t ticks = 0;
  std::uint64_t model = 0;
  std::uint16_t stream = 0;
  std::uint32_t task = 0;
  std::uint16_t tag = 0;
};

struct DeviceMarkPair {
  DeviceMark first;
  std::uint64_t end_ticks = 0;
};

struct DeviceMarkPairs {
  std::vector<DeviceMarkPair> pairs;  // sorted by (mark, start)
  std::int64_t unpaired = 0;          // range edges without a counterpart
};

// Pairs the marks of one id, as written since CANN 9.1. A kMark record has no pair; the others
// alternate between start and end.
void pair_by_tag(const DeviceMark* begin, const DeviceMark* end, DeviceMarkPairs& result) {
  const DeviceMark* open = nullptr;
  for (const DeviceMark* mark = begin; mark != end; ++mark) {
    if (mark->tag == step_tag::kMark) {
      result.pairs.push_back({*mark, mark->ticks});
    } else if (open == nullptr) {
      open = mark;
    } else {
      result.pairs.push_back({*open, mark->ticks});
      open = nullptr;
    }
  }
  if (open != nullptr) ++result.unpaired;
}

// `tags_tell`: true since CANN 9.1, where the tag distinguishes a mark from a range edge. Before,
// two records with one mark id are a range.
DeviceMarkPairs pair_device_marks(std::vector<DeviceMark> marks, bool tags_tell) {
  const auto key = [](const DeviceMark& mark) { return std::tuple(mark.mark_id, mark.ticks); };
  std::stable_sort(marks.begin(), marks.end(),
                   [&](const auto& a, const auto& b) { return key(a) < key(b); });
  DeviceMarkPairs result;
  const DeviceMark* end = marks.data() + marks.size();
  for (const DeviceMark* first = marks.data(); first != end;) {
    const DeviceMark* behind = std::find_if(
        first, end, [&](const DeviceMark& mark) { return mark.mark_id != first->mark_id; });
    if (tags_tell) {
      pair_by_tag(first, behind, result);
    } else {
      result.pairs.push_back({*first, (behind - 1)->ticks});
    }
    first = behind;
  }
  std::stable_sort(result.pairs.begin(), result.pairs.end(),
                   [&](const auto& a, const auto& b) { return key(a.first) < key(b.first); });
  return result;
}

class TsTrackKind : public SliceKind {
 public:
  explicit TsTrackKind(CannImport& import) : SliceKind(import, "ts_track.data", kPlain) {
    const auto& chip = import.session.chip();
    if (chip) family_ = chip->family;
  }

  void import(const ImportContext& context, const RawFile& file) override {
    if (family_ != ChipFamily::mini) return SliceKind::import(context, file);
    import_tlv(context, file);
  }

  void finish(const ImportContext& context) override {
    for (const auto& [device, marks] : marks_) write_marks(context, device, marks);
  }

 private:
  RecordFormat record_format(const RawFile& file) const override {
    return fills_in_length(file) ? kWithLength : kPlain;
  }

  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    Counts counts;
    stream.open(context, [&](const StreamRecord& record) {
      const auto tag = std::to_integer<std::uint8_t>(record.bytes[1]);
      if (!is_known(tag)) {
        stream.skip(context, record, "unknown tag");
      } else if (const auto why = take(context, part, tag, record.bytes, counts); !why.empty()) {
        stream.skip(context, record, why);
      }
    });
    note_unread(context, part, counts);
  }

  void import_tlv(const ImportContext& context, const RawFile& file) {
    const CannPart& part = import_.session.find_part(file);
    tlv_by_part_[part.name].push_back(&file);
    if (!tlv_files_.is_last(context, *this)) return;
    for (const auto& [name, files] : tlv_by_part_) read_tlv(context, files);
  }

  void read_tlv(const ImportContext& context, const std::vector<const RawFile*>& files) {
    Counts counts;
    const CannPart& part = import_.session.find_part(*files.front());
    const auto visit = [&](const TlvRecord& record) {
      const auto why = take(context, part, record.tag, record.bytes, counts);
      if (!why.empty()) context.report.skip_record(kTsTrack, record.file->name, why, record.offset);
    };
    read_tlv_records(context, kTsTrack, files, visit);
    note_unread(context, part, counts);
  }

  // Numbers of records of one part that are not converted.
  struct Counts {
    std::int64_t memcpy = 0;
    std::int64_t old_flips = 0;
    std::int64_t others = 0;
  };

  static void note_unread(const ImportContext& context, const CannPart& part,
                          const Counts& counts) {
    const auto report_finding = [&](FindingId id, std::int64_t count, std::string_view what) {
      if (count == 0) return;
      context.report.add(id, kTsTrack, part.name, fmt::format("{} records present, not read", what),
                         "", count);
    };
    report_finding(FindingId::unread_records, counts.memcpy, "memcpy");
    report_finding(FindingId::obsolete_records, counts.old_flips, "old flip");
    report_finding(FindingId::obsolete_records, counts.others, "status");
  }

  // Returns the time of a record; 0 if the record is not read.
  std::uint64_t record_ticks(TsTag tag, std::span<const std::byte> record) const {
    switch (tag) {
      case TsTag::time_line:
        return decode<TimeLineWire>(record).ticks;
      case TsTag::memcpy:
        return import_.session.is_old() ? decode<TsHeadWire>(record).ticks : 0;
      case TsTag::step_trace:
      case TsTag::task_type:
      case TsTag::flip:
      case TsTag::block_num:
        return decode<TsHeadWire>(record).ticks;
      case TsTag::flip_old:
        break;
    }
    return 0;
  }

  // Converts a record. Returns why it is impossible; empty on success.
  std::string_view take(const ImportContext& context, const CannPart& part, std::uint8_t tag,
                        std::span<const std::byte> record, Counts& counts) {
    if (part.clock && !part.clock->is_possible(record_ticks(static_cast<TsTag>(tag), record)))
      return kImpossibleTime;
    TsTrackRecords& out = import_.devices[part.device.value_or(0)].ts_track;
    switch (static_cast<TsTag>(tag)) {
      case TsTag::step_trace:
        return take_step(context, part, record) ? std::string_view() : "timestamp 0";
      case TsTag::task_type: {
        const auto wire = decode<TaskTypeWire>(record);
        out.states.push_back(
            {wire.head.ticks, masked(wire.stream), wire.task, wire.type, wire.state});
        return {};
      }
      case TsTag::flip: {
        const auto wire = decode<FlipWire>(record);
        // With 15-bit stream ids, flip records also have 15 bits (cann_new_kinds.md 2.6).
        constexpr std::uint16_t kExpandedMask = 0x7FFF;
        const auto stream = import_.are_streams_expanded
                                ? static_cast<std::uint16_t>(wire.stream & kExpandedMask)
                                : masked(wire.stream);
        out.flips.push_back({wire.head.ticks, stream, wire.number, wire.task});
        return {};
      }
      case TsTag::block_num: {
        const auto wire = decode<BlockNumWire>(record);
        out.blocks.push_back(
            {wire.head.ticks, wire.stream, wire.task, wire.blocks, wire.mix_ratio});
        return {};
      }
      case TsTag::time_line: {
        const auto wire = decode<TimeLineWire>(record);
        out.states.push_back({wire.ticks, masked(wire.stream), wire.task, wire.type, wire.state});
        return {};
      }
      case TsTag::memcpy: {
        if (!import_.session.is_old()) {
          ++counts.memcpy;
          return {};
        }
        const auto wire = decode<CopyWire>(record);
        out.copies.push_back({wire.head.ticks, wire.stream, wire.task, wire.state});
        return {};
      }
      case TsTag::flip_old:
        ++counts.old_flips;
        return {};
    }
    ++counts.others;
    return {};
  }

  static std::uint16_t masked(std::uint16_t stream) {
    return static_cast<std::uint16_t>(stream & kStreamMask);
  }

  bool take_step(const ImportContext& context, const CannPart& part,
                 std::span<const std::byte> record) {
    StepTraceWire wire = decode<StepTraceWire>(record);
    std::int64_t task = wire.task;
    if (family_ == ChipFamily::stars_v6) {
      const auto v6 = decode<StepTraceV6Wire>(record);
      wire.tag = v6.tag;
      wire.stream = v6.stream;
      task = v6.task;
    } else {
      wire.stream = masked(wire.stream);
    }
    if (wire.head.ticks == 0) return false;
    const std::int64_t device = part.device.value_or(0);
    StepMarkRow row;
    row.id = ++import_.step_mark_rows;
    row.device_id = device;
    row.index_id = cell(wire.index_id);
    row.model_number = cell(wire.model_id);
    row.ticks = cell(wire.head.ticks);
    if (part.clock) row.time_ns = part.clock->ns(wire.head.ticks);
    row.tag = wire.tag;
    row.stream_id = wire.stream;
    row.task_number = task;
    context.store.add(row);
    if (step_tag::is_stamp(wire.tag)) {
      marks_[device].push_back({wire.index_id, wire.head.ticks, wire.model_id, wire.stream,
                                static_cast<std::uint32_t>(task), wire.tag});
      parts_[device] = &part;
    }
    return true;
  }

  void write_marks(const ImportContext& context, std::int64_t device,
                   const std::vector<DeviceMark>& marks) {
    const CannPart& part = *parts_.at(device);
    const bool tags_tell = std::pair(part.info.cann_major, part.info.cann_minor) >= std::pair(9, 1);
    const DeviceMarkPairs paired = pair_device_marks(marks, tags_tell);
    for (const DeviceMarkPair& pair : paired.pairs) {
      DeviceMarkRow row;
      row.id = ++mark_rows_;
      row.device_id = device;
      row.mark_id = cell(pair.first.mark_id);
      if (part.clock) {
        row.start_ns = part.clock->ns(pair.first.ticks);
        row.end_ns = part.clock->ns(pair.end_ticks);
        row.vendor_start_ns = part.clock->vendor_ns(pair.first.ticks);
        row.vendor_end_ns = part.clock->vendor_ns(pair.end_ticks);
      }
      row.stream_id = pair.first.stream;
      row.task_number = pair.first.task;
      row.model_number = cell(pair.first.model);
      context.store.add(row);
    }
    if (paired.unpaired > 0) {
      context.report.add(FindingId::half_call, kTsTrack, part.name,
                         "range of the application without its start or end", "", paired.unpaired);
    }
  }

  ChipFamily family_ = ChipFamily::stars;
  std::map<std::string_view, std::vector<const RawFile*>> tlv_by_part_;
  OwnedFiles tlv_files_;
  std::map<std::int64_t, std::vector<DeviceMark>> marks_;
  std::map<std::int64_t, const CannPart*> parts_;
  std::int64_t mark_rows_ = 0;
};

}  // namespace

std::unique_ptr<RawKind> make_ts_track_kind(CannImport& import) {
  return std::make_unique<TsTrackKind>(import);
}

}  // namespace msprof::cann
