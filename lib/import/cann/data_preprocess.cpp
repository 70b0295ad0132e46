// DATA_PREPROCESS.*: what the AI CPUs of older runtimes noted: nodes (.AICPU), the data queue (.DP,
// .AICPUMI), steps of a model with queue (.AICPU_MODEL). Source: cann_device.md 8.2 to 8.5.
#include "import/cann/data_preprocess_records.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/text.hpp"
#include "import/cann/aicpu.hpp"
#include "import/cann/cann_kinds.hpp"
#include "import/cann/data_preprocess.hpp"
#include "import/cann/line_reader.hpp"
#include "import/cann/slice_kind.hpp"

namespace msprof::cann {

namespace {

constexpr std::string_view kName = "data_preprocess";

template <std::uint16_t kTag>
bool has_magic_and_tag(std::span<const std::byte> record) {
  std::uint16_t tag = 0;
  std::memcpy(&tag, record.data() + 2, sizeof(tag));
  return has_record_magic(record) && tag == kTag;
}

// Nobody says which magic it has.
bool has_model_tag(std::span<const std::byte> record) {
  std::uint16_t tag = 0;
  std::memcpy(&tag, record.data() + 2, sizeof(tag));
  return tag == kModelWithQueueTag;
}

DataQueueRow queue_row(CannImport& import, const CannPart& part, TraceDbWriter& store,
                       const QueueEntry& entry) {
  DataQueueRow row;
  row.id = ++import.data_queue_rows;
  row.device_id = part.device.value_or(0);
  row.source_name_id = store.name_id(entry.source);
  if (!entry.action.empty()) row.action_name_id = store.name_id(entry.action);
  row.start_us = cell(entry.start_us);
  if (entry.end_us) row.end_us = cell(*entry.end_us);
  if (entry.index) row.queue_index = cell(*entry.index);
  row.queue_size = cell(entry.size);
  return row;
}

// A file of text entries, a NUL behind each.
template <typename Parse>
void read_entries(CannImport& import, const ImportContext& context, const RawFile& file,
                  Parse&& parse) {
  const CannPart& part = import.session.part_of(file);
  std::uint64_t records = 0;
  LineReader lines(file.path, '\0');
  while (const auto line = lines.next()) {
    const std::string_view text = trim(line->text);
    if (text.empty() && !line->is_too_long) continue;
    if (const auto entry = parse(text)) {
      context.store.add(queue_row(import, part, context.store, *entry));
      ++records;
    } else {
      context.report.skip_record(kName, file.name, "damaged entry", line->offset);
    }
  }
  context.report.count_file(kName, records);
}

class OldAicpuKind : public SliceKind {
 public:
  explicit OldAicpuKind(CannImport& import)
      : SliceKind(import, "DATA_PREPROCESS.AICPU",
                  {kName, sizeof(OldAicpuWire), has_magic_and_tag<kOldAicpuTag>}) {}

 private:
  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<OldAicpuWire>(record.bytes);
      if (wire.start_ticks == 0 || wire.end_ticks == 0) {
        stream.skip(context, record, "start or end is 0");
        return;
      }
      AicpuNodeRow row =
          aicpu_row({wire.start_ticks, wire.end_ticks, wire.compute_start_us, wire.memcpy_start_us,
                     wire.memcpy_end_us, wire.dispatch_us, wire.submit_ticks, wire.after_run_ticks},
                    part.clock);
      row.device_id = part.device.value_or(0);
      row.stream_id = wire.stream % kMostStreams;
      row.task_number = wire.task;
      import_.devices[row.device_id].aicpu_nodes.push_back(row);
    });
  }
};

class ModelWithQueueKind : public SliceKind {
 public:
  explicit ModelWithQueueKind(CannImport& import)
      : SliceKind(import, "DATA_PREPROCESS.AICPU_MODEL",
                  {kName, sizeof(ModelWithQueueWire), has_model_tag, "unknown tag"}) {}

 private:
  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<ModelWithQueueWire>(record.bytes);
      StepMarkRow row;
      row.id = ++import_.step_mark_rows;
      row.device_id = part.device.value_or(0);
      row.index_id = cell(wire.index_id);
      row.model_number = wire.model_id;
      row.ticks = cell(wire.ticks);
      if (part.clock) row.time_ns = part.clock->ns(wire.ticks);
      row.tag = wire.step_tag;
      row.stream_id = 0;
      context.store.add(row);
    });
  }
};

class DataQueueKind : public SliceKind {
 public:
  explicit DataQueueKind(CannImport& import)
      : SliceKind(import, "DATA_PREPROCESS.DP",
                  {kName, sizeof(DataQueueWire), has_magic_and_tag<kDataQueueTag>}) {}

  void import(const ImportContext& context, const RawFile& file) override {
    bool is_text = false;
    try {
      is_text = !is_binary(file);
      if (is_text) read_entries(import_, context, file, parse_dequeue);
    } catch (const Error&) {
      // The other slices are read all the same.
      arrive(context);
      throw;
    }
    is_text ? arrive(context) : SliceKind::import(context, file);
  }

 private:
  // The mark of a binary record does not occur in text.
  static bool is_binary(const RawFile& file) {
    std::vector<std::byte> bytes(2 * sizeof(DataQueueWire));
    FileReader reader(file.path);
    bytes.resize(reader.read(bytes));
    constexpr std::array kMark{std::byte{0x5A}, std::byte{0x5A}, std::byte{kDataQueueTag},
                               std::byte{0}};
    return std::search(bytes.begin(), bytes.end(), kMark.begin(), kMark.end()) != bytes.end();
  }

  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<DataQueueWire>(record.bytes);
      QueueEntry entry;
      entry.source = fixed_text(&wire.source[0], sizeof(wire.source));
      entry.action = fixed_text(&wire.action[0], sizeof(wire.action));
      entry.start_us = wire.time_us;
      entry.index = wire.index;
      entry.size = wire.size;
      context.store.add(queue_row(import_, part, context.store, entry));
    });
  }
};

class DataPreprocessKind : public RawKind {
 public:
  explicit DataPreprocessKind(CannImport& import)
      : import_(import), nodes_(import), models_(import), queue_(import) {}

  std::string_view name() const override { return kName; }
  bool owns(const RawFile& file) const override {
    return nodes_.owns(file) || models_.owns(file) || queue_.owns(file) || is_mind_spore(file);
  }

  void import(const ImportContext& context, const RawFile& file) override {
    if (is_mind_spore(file)) {
      read_entries(import_, context, file, parse_mind_spore);
    } else if (queue_.owns(file)) {
      queue_.import(context, file);
    } else if (models_.owns(file)) {
      models_.import(context, file);
    } else {
      nodes_.import(context, file);
    }
  }

 private:
  bool is_mind_spore(const RawFile& file) const {
    return import_.session.name_of(file).stem == "DATA_PREPROCESS.AICPUMI";
  }

  CannImport& import_;
  OldAicpuKind nodes_;
  ModelWithQueueKind models_;
  DataQueueKind queue_;
};

}  // namespace

std::unique_ptr<RawKind> make_data_preprocess_kind(CannImport& import) {
  return std::make_unique<DataPreprocessKind>(import);
}

}  // namespace msprof::cann
