// Raw kind DATA_PREPROCESS.*: AI CPU records of older runtimes: nodes (.AICPU), the data queue
// (.DP, .TDT, .AICPUMI) and steps of a model with queue (.AICPU_MODEL). Source: cann_device.md 8.2
// to 8.5.
#include "import/cann/aicpu.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/text.hpp"
#include "import/cann/cann_import.hpp"
#include "import/cann/dictionaries.hpp"
#include "wire/cann/aicpu_wire.hpp"

namespace msprof::cann {

namespace {

constexpr std::string_view kDataPreprocess = "data_preprocess";

constexpr std::uint16_t kModelWithQueueTag = 61;
constexpr std::uint16_t kDataQueueTag = 100;

struct __attribute__((packed)) DataQueueWire {  // cann_device.md 8.3
  std::uint16_t magic;
  std::uint16_t tag;
  std::uint32_t reserved;
  std::uint64_t time_us;
  char action[16];  // NUL-terminated if shorter
  char source[64];
  std::uint64_t index;
  std::uint64_t size;
  std::uint8_t unused[16];
};
static_assert(sizeof(DataQueueWire) == 128);

struct __attribute__((packed)) ModelWithQueueWire {  // cann_device.md 8.5
  std::uint16_t magic;
  std::uint16_t tag;
  std::uint32_t reserved;
  std::uint64_t ticks;
  std::uint64_t index_id;
  std::uint32_t model_id;
  std::uint16_t step_tag;
  std::uint16_t unused;
  std::uint64_t event_id;
  std::uint8_t rest[24];
};
static_assert(sizeof(ModelWithQueueWire) == 64);

template <std::uint16_t kTag>
bool has_magic_and_tag(std::span<const std::byte> record) {
  return has_record_magic(record) && decode<std::uint16_t>(record.subspan(2)) == kTag;
}

// Checks only the tag, because the magic is not documented.
bool has_model_tag(std::span<const std::byte> record) {
  return decode<std::uint16_t>(record.subspan(2)) == kModelWithQueueTag;
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

// Reads a file of NUL-terminated text entries.
template <typename Parse>
void read_entries(CannImport& import, const ImportContext& context, const RawFile& file,
                  Parse&& parse) {
  const CannPart& part = import.session.find_part(file);
  std::uint64_t records = 0;
  LineReader lines(file.path, '\0');
  while (const auto line = lines.next()) {
    const std::string_view text = trim(line->text);
    if (text.empty() && !line->is_too_long) continue;
    const auto entry = parse(text);
    if (entry && (entry->start_us > kMaxTimeUs || entry->end_us.value_or(0) > kMaxTimeUs)) {
      context.report.skip_record(kDataPreprocess, file.name, kImpossibleTime, line->offset);
    } else if (entry) {
      context.store.add(queue_row(import, part, context.store, *entry));
      ++records;
    } else {
      context.report.skip_record(kDataPreprocess, file.name, "damaged entry", line->offset);
    }
  }
  context.report.count_file(kDataPreprocess, records);
}

class OldAicpuKind : public SliceKind {
 public:
  explicit OldAicpuKind(CannImport& import)
      : SliceKind(import, "DATA_PREPROCESS.AICPU",
                  {kDataPreprocess, sizeof(OldAicpuWire), has_magic_and_tag<kOldAicpuTag>}) {}

 private:
  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<OldAicpuWire>(record.bytes);
      const AicpuNode node{wire.start_ticks,     wire.end_ticks,      wire.compute_start_us,
                           wire.memcpy_start_us, wire.memcpy_end_us,  wire.dispatch_us,
                           wire.submit_ticks,    wire.after_run_ticks};
      if (const auto why = why_impossible(node, part.clock); !why.empty())
        return stream.skip(context, record, why);
      AicpuNodeRow row = aicpu_row(node, part.clock);
      row.device_id = part.device.value_or(0);
      row.stream_id = wire.stream % kMaxStreams;
      row.task_number = wire.task;
      // Tools of CANN 5 and older show the recorded total.
      if (import_.session.is_old()) row.total_ns = std::int64_t{wire.total_time_us} * 1000;
      import_.devices[row.device_id].aicpu_nodes.push_back(row);
    });
  }
};

class ModelWithQueueKind : public SliceKind {
 public:
  explicit ModelWithQueueKind(CannImport& import)
      : SliceKind(import, "DATA_PREPROCESS.AICPU_MODEL",
                  {kDataPreprocess, sizeof(ModelWithQueueWire), has_model_tag, "unknown tag"}) {}

 private:
  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<ModelWithQueueWire>(record.bytes);
      if (part.clock && !part.clock->is_possible(wire.ticks))
        return stream.skip(context, record, kImpossibleTime);
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
                  {kDataPreprocess, sizeof(DataQueueWire), has_magic_and_tag<kDataQueueTag>},
                  "DATA_PREPROCESS.TDT") {}

  void import(const ImportContext& context, const RawFile& file) override {
    bool is_text = false;
    try {
      is_text = !is_binary(file);
      if (is_text) read_entries(import_, context, file, parse_dequeue);
    } catch (const Error&) {
      // Counts the file, so that the other slices are still read.
      arrive(context);
      throw;
    }
    is_text ? arrive(context) : SliceKind::import(context, file);
  }

 private:
  // Detects binary records by their magic and tag, which do not occur in text.
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
      if (wire.time_us > kMaxTimeUs) return stream.skip(context, record, kImpossibleTime);
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

  std::string_view name() const override { return kDataPreprocess; }
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
    return import_.session.parsed_name(file).stem == "DATA_PREPROCESS.AICPUMI";
  }

  CannImport& import_;
  OldAicpuKind nodes_;
  ModelWithQueueKind models_;
  DataQueueKind queue_;
};

// Gets the value of "key:value" if the key is `key`.
bool parse_value(std::string_view part, std::string_view key, std::string_view& value) {
  part = trim(part);
  if (!part.starts_with(key)) return false;
  value = part.substr(key.size());
  return true;
}

bool parse_number(std::string_view part, std::string_view key, std::uint64_t& number) {
  std::string_view value;
  return parse_value(part, key, value) && parse_u64(trim(value), number);
}

}  // namespace

std::optional<QueueEntry> parse_dequeue(std::string_view text) {
  const auto parts = split(text, ',');
  if (parts.size() < 4) return std::nullopt;
  const std::string_view head = trim(parts[0]);
  const std::size_t bracket = head.find(']');
  QueueEntry entry;
  if (!head.starts_with('[') || bracket == std::string_view::npos ||
      !parse_u64(trim(head.substr(1, bracket - 1)), entry.start_us)) {
    return std::nullopt;
  }
  entry.action = trim(head.substr(bracket + 1));
  std::uint64_t index = 0;
  // A name may contain commas.
  const std::size_t last = parts.size() - 1;
  const char* source_end = parts[last - 2].data() + parts[last - 2].size();
  const std::string_view source(parts[1].data(),
                                static_cast<std::size_t>(source_end - parts[1].data()));
  if (!parse_value(source, "source:", entry.source) ||
      !parse_number(parts[last - 1], "index:", index) ||
      !parse_number(parts[last], "size:", entry.size)) {
    return std::nullopt;
  }
  entry.index = index;
  return entry;
}

std::optional<QueueEntry> parse_mind_spore(std::string_view text) {
  constexpr std::size_t kValues = 4;
  const auto parts = split(text, ',');
  if (parts.size() != kValues) return std::nullopt;
  std::string_view values[kValues];
  for (std::size_t i = 0; i < kValues; ++i) {
    const std::size_t colon = parts[i].find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    values[i] = trim(parts[i].substr(colon + 1));
  }
  QueueEntry entry;
  std::uint64_t end = 0;
  if (!parse_u64(values[1], entry.size) || !parse_u64(values[2], entry.start_us) ||
      !parse_u64(values[3], end)) {
    return std::nullopt;
  }
  entry.source = values[0];
  entry.end_us = end;
  return entry;
}

std::unique_ptr<RawKind> make_data_preprocess_kind(CannImport& import) {
  return std::make_unique<DataPreprocessKind>(import);
}

}  // namespace msprof::cann
