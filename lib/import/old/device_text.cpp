// Raw kinds DATA_PREPROCESS.* as text: AI CPU nodes with the driver's data about them, and the
// queues that feed the device. Source: cann5_classic.md 8.
#include "base/number.hpp"
#include "base/text.hpp"
#include "import/cann/aicpu.hpp"
#include "import/old/classic_import.hpp"
#include "import/old/text_entries.hpp"

namespace msprof::old {

namespace {

// Parses the digits after the first `key`, skipping blanks.
std::optional<std::uint64_t> parse_number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t begin = at + key.size();
  while (begin < text.size() && text[begin] == ' ') ++begin;
  std::size_t end = begin;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  std::uint64_t value = 0;
  if (!parse_u64(text.substr(begin, end - begin), value) || value > INT64_MAX) return std::nullopt;
  return value;
}

// A node that waits for the driver's data, which follows it.
struct NodeEntry {
  std::string node;
  std::uint64_t run_start_us = 0;
  std::uint64_t run_end_us = 0;
  std::optional<std::uint64_t> compute_start_us, memcpy_start_us, memcpy_end_us;
};

// Parses "[t] Node:<type>, Run start:<us>, Run end:<us>". The parts of the run may be between them,
// and ticks may follow the us. "Run start" may be spelled "Run tart".
std::optional<NodeEntry> parse_node(std::string_view text) {
  const std::size_t at = text.find("Node:");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at + 5);
  const auto parts = split(rest, ',');
  NodeEntry entry;
  const auto start = parse_number_after(rest, "Run start:");
  const auto other_start = parse_number_after(rest, "Run tart:");
  const auto end = parse_number_after(rest, "Run end:");
  if ((!start && !other_start) || !end) return std::nullopt;
  entry.run_start_us = start ? *start : *other_start;
  entry.run_end_us = *end;
  entry.compute_start_us = parse_number_after(rest, "compute start:");
  entry.memcpy_start_us = parse_number_after(rest, "memcpy start:");
  entry.memcpy_end_us = parse_number_after(rest, "memcpy end:");
  for (const auto& us : {start, other_start, end, entry.compute_start_us, entry.memcpy_start_us,
                         entry.memcpy_end_us}) {
    if (us.value_or(0) > cann::kMaxTimeUs) return std::nullopt;
  }
  std::string_view node = trim(parts[0]);
  // The type is the last part of a full name, up to the first "-".
  const std::size_t slash = node.rfind('/');
  if (slash != std::string_view::npos) {
    node = node.substr(slash + 1);
    node = node.substr(0, node.find('-'));
  }
  entry.node = node;
  return entry;
}

std::optional<AicpuThreadRow> parse_thread(std::string_view text) {
  const auto number = [&](std::string_view key) {
    const auto value = parse_number_after(text, key);
    return value ? static_cast<std::int64_t>(*value) : kNull;
  };
  if (text.find("Thread[") == std::string_view::npos) return std::nullopt;
  AicpuThreadRow row;
  row.thread = number("Thread[");
  row.device_id = number("device[");
  row.aicpu_number = number("aicpu[");
  row.top_half_ticks = number("tickDrvTopHalf=");
  row.bottom_half_ticks = number("tickDrvBottomHalf=");
  row.before_run_ticks = number("tickBeforeRun=");
  row.after_run_ticks = number("tickAfterRun=");
  row.dispatch_us = number("dispatchTime=");
  row.total_us = number("totalTime=");
  const bool is_whole = row.thread != kNull && row.before_run_ticks != kNull &&
                        row.after_run_ticks != kNull && row.dispatch_us != kNull &&
                        row.total_us != kNull;
  return is_whole ? std::optional(row) : std::nullopt;
}

class AicpuTextKind : public TextFiles {
 public:
  explicit AicpuTextKind(CannImport& import) : TextFiles(import, "aicpu") {}

  bool owns(const RawFile& file) const override {
    return TextFiles::owns(file) && first_bytes({&file}, 2) != "ZZ";
  }

 protected:
  bool owns_stem(std::string_view stem) const override { return stem == "DATA_PREPROCESS.AICPU"; }

  void read(const ImportContext& context, std::int64_t device, const std::string&,
            const Slices& slices) override {
    std::optional<NodeEntry> open;
    read_entries(context, name(), slices, EntryForm::nul,
                 [&](std::string_view text) -> std::string_view {
                   if (auto node = parse_node(text)) {
                     if (open) add_node(context, device, *open, nullptr);
                     open = std::move(node);
                     return {};
                   }
                   auto thread = parse_thread(text);
                   if (!thread) return "damaged entry";
                   if (!is_possible(device, *thread)) return cann::kImpossibleTime;
                   thread->id = ++data().threads;
                   thread->device_id = device;
                   context.store.add(*thread);
                   if (open) add_node(context, device, *open, &*thread);
                   open.reset();
                   return {};
                 });
    if (open) add_node(context, device, *open, nullptr);
  }

 private:
  const CannPart* find_part(std::int64_t device) const {
    const CannPart* part = nullptr;
    for (const CannPart& candidate : import_.session.parts()) {
      if (candidate.device == device) part = &candidate;
    }
    return part;
  }

  bool is_possible(std::int64_t device, const AicpuThreadRow& thread) const {
    const CannPart* part = find_part(device);
    if (part == nullptr || !part->clock) return true;
    return part->clock->is_possible(static_cast<std::uint64_t>(thread.before_run_ticks)) &&
           part->clock->is_possible(static_cast<std::uint64_t>(thread.after_run_ticks));
  }

  // Converts the driver's ticks, if recorded, to times: the us are from another clock.
  void add_node(const ImportContext& context, std::int64_t device, const NodeEntry& entry,
                const AicpuThreadRow* thread) {
    AicpuNodeRow row;
    row.id = ++data().nodes;
    row.device_id = device;
    row.op_name_id = context.store.name_id(entry.node);
    row.run_start_us = static_cast<std::int64_t>(entry.run_start_us);
    row.run_end_us = static_cast<std::int64_t>(entry.run_end_us);
    const auto between = [](const auto& from, const auto& to) {
      return from && to && *to >= *from ? static_cast<std::int64_t>(*to - *from) : kNull;
    };
    row.compute_us = between(entry.compute_start_us, entry.memcpy_start_us);
    row.memcpy_us = between(entry.memcpy_start_us, entry.memcpy_end_us);
    if (thread != nullptr) {
      row.dispatch_us = thread->dispatch_us;
      row.total_ns = us_as_ns(thread->total_us);
    }
    const CannPart* part = find_part(device);
    if (part != nullptr && part->clock) {
      if (thread != nullptr) {
        row.start_ns = part->clock->ns(static_cast<std::uint64_t>(thread->before_run_ticks));
        row.end_ns = part->clock->ns(static_cast<std::uint64_t>(thread->after_run_ticks));
      } else if (part->start) {
        row.start_ns = part->start->of_host(us_as_ns(entry.run_start_us));
        row.end_ns = part->start->of_host(us_as_ns(entry.run_end_us));
      }
    }
    row.vendor_start_ns = row.start_ns;
    if (row.start_ns != kNull)
      row.vendor_duration_ns = saturating_subtract(row.end_ns, row.start_ns);
    context.store.add(row);
  }

  template <typename Integer>
  static Integer us_as_ns(Integer us) {
    return us > INT64_MAX / 1000 ? INT64_MAX : us * 1000;
  }
};

// Parses "Node:<name>, Run start:<us>, Run end:<us>, queue size:<n>" and "[<us>] <action>,
// source:<id>, index:<n>, size:<n>".
class QueueTextKind : public TextFiles {
 public:
  explicit QueueTextKind(CannImport& import) : TextFiles(import, "data_preprocess") {}

  bool owns(const RawFile& file) const override {
    return TextFiles::owns(file) && first_bytes({&file}, 2) != "ZZ";
  }

 protected:
  bool owns_stem(std::string_view stem) const override {
    return stem == "DATA_PREPROCESS.AICPUMI" || stem == "DATA_PREPROCESS.TDT" ||
           stem == "DATA_PREPROCESS.DP";
  }

  void read(const ImportContext& context, std::int64_t device, const std::string& stem,
            const Slices& slices) override {
    const bool is_nodes = stem.ends_with("AICPUMI");
    read_entries(context, name(), slices, EntryForm::nul,
                 [&](std::string_view text) -> std::string_view {
                   DataQueueRow row;
                   row.device_id = device;
                   const bool is_entry =
                       is_nodes ? take_node(context, text, row) : take_action(context, text, row);
                   if (!is_entry) return "damaged entry";
                   row.id = ++import_.data_queue_rows;
                   context.store.add(row);
                   return {};
                 });
  }

 private:
  static bool take_node(const ImportContext& context, std::string_view text, DataQueueRow& row) {
    const auto node = parse_node(text);
    const auto size = parse_number_after(text, "queue size:");
    if (!node || !size) return false;
    row.source_name_id = context.store.name_id(node->node);
    row.start_us = static_cast<std::int64_t>(node->run_start_us);
    row.end_us = static_cast<std::int64_t>(node->run_end_us);
    row.queue_size = static_cast<std::int64_t>(*size);
    return true;
  }

  static bool take_action(const ImportContext& context, std::string_view text, DataQueueRow& row) {
    const auto entry = cann::parse_dequeue(text);
    if (!entry || entry->start_us > cann::kMaxTimeUs) return false;
    row.source_name_id = context.store.name_id(entry->source);
    row.action_name_id = context.store.name_id(entry->action);
    row.start_us = cann::cell(entry->start_us);
    if (entry->index) row.queue_index = cann::cell(*entry->index);
    row.queue_size = cann::cell(entry->size);
    return true;
  }
};

}  // namespace

std::unique_ptr<RawKind> make_aicpu_text_kind(CannImport& import) {
  return std::make_unique<AicpuTextKind>(import);
}
std::unique_ptr<RawKind> make_queue_text_kind(CannImport& import) {
  return std::make_unique<QueueTextKind>(import);
}

}  // namespace msprof::old
