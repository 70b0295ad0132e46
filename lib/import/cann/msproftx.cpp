// Raw kind msproftx: ranges and marks named by the application. The message of an extended one may
// be split into segments. Source: cann_host.md 1.8.16, 2.2.
#include <deque>
#include <map>
#include <string>
#include <unordered_map>

#include "import/cann/cann_import.hpp"
#include "wire/cann/host_wire.hpp"

namespace msprof::cann {

namespace {

constexpr RecordFormat kMsproftxFormat{"msproftx", sizeof(MsprofTxWire), has_record_head};

// Maximum number of marks waiting for more segments. One call writes its segments consecutively.
constexpr std::size_t kMaxOpenMarks = 65'536;

struct OpenMark {
  UserRangeRow row;  // fields of the lowest segment
  std::map<std::uint16_t, std::string> segments;
};

class MsprofTxKind : public SliceKind {
 public:
  explicit MsprofTxKind(CannImport& import) : SliceKind(import, "msproftx", kMsproftxFormat) {}

 private:
  void read(const ImportContext& context, const CannPart&, RecordStream& stream) override {
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<MsprofTxWire>(record.bytes);
      const auto& clock = import_.session.host_clock();
      if (clock && !(clock->is_possible(wire.start_count) && clock->is_possible(wire.end_count)))
        return stream.skip(context, record, kImpossibleTime);
      switch (wire.info_type) {
        case static_cast<std::uint16_t>(TxInfo::stamp):
          add_stamp(context, wire);
          return;
        case static_cast<std::uint16_t>(TxInfo::extended):
          if (!add_segment(context, wire))
            stream.skip(context, record, "duplicate segment of a message");
          return;
        default:
          stream.skip(context, record, "unknown info type");
      }
    });
    while (!order_.empty()) close_oldest(context);
  }

  UserRangeRow common(const MsprofTxWire& wire) const {
    UserRangeRow row;
    row.process_id = wire.process_id;
    row.thread_id = wire.thread_id;
    row.event_type = wire.event_type;
    row.mark_id = cell(wire.mark_id);
    row.start_count = cell(wire.start_count);
    row.end_count = cell(wire.end_count);
    if (const auto& clock = import_.session.host_clock()) {
      row.start_ns = clock->ns(wire.start_count);
      row.end_ns = clock->ns(wire.end_count);
      row.vendor_start_ns = clock->vendor_ns(wire.start_count);
      row.vendor_end_ns = clock->vendor_ns(wire.end_count);
    }
    return row;
  }

  static std::string_view message(const MsprofTxWire& wire) {
    return fixed_text(&wire.message[0], kTxMessageBytes);
  }

  void add_stamp(const ImportContext& context, const MsprofTxWire& wire) {
    UserRangeRow row = common(wire);
    row.id = ++rows_;
    row.category = wire.category;
    row.payload_type = wire.payload_type;
    row.payload_value = cell(wire.payload);
    row.message_type = wire.message_type;
    row.message_name_id = context.store.name_id(message(wire));
    context.store.add(row);
  }

  // Returns false for a duplicate segment.
  bool add_segment(const ImportContext& context, const MsprofTxWire& wire) {
    auto found = open_.find(wire.mark_id);
    if (found == open_.end()) {
      if (open_.size() >= kMaxOpenMarks) close_oldest(context);
      found = open_.try_emplace(wire.mark_id).first;
      order_.push_back(wire.mark_id);
    }
    OpenMark& mark = found->second;
    const bool is_lowest = mark.segments.empty() || wire.segment < mark.segments.begin()->first;
    if (!mark.segments.try_emplace(wire.segment, message(wire)).second) return false;
    if (is_lowest) {
      mark.row = common(wire);
      mark.row.is_extended = 1;
      mark.row.domain_name_id = domain_id(context, wire.domain);
    }
    return true;
  }

  std::int64_t domain_id(const ImportContext& context, std::uint64_t hash) {
    // Name used if no dictionary contains the domain.
    if (!import_.dictionaries.find_hash_text(hash)) return context.store.name_id("invalid");
    return import_.dictionaries.hash_name_id(context.store, hash);
  }

  void close_oldest(const ImportContext& context) {
    const auto found = open_.find(order_.front());
    order_.pop_front();
    OpenMark& mark = found->second;
    std::string text;
    for (const auto& [segment, part] : mark.segments) text += part;
    mark.row.id = ++rows_;
    mark.row.message_name_id = context.store.name_id(text);
    context.store.add(mark.row);
    open_.erase(found);
  }

  std::unordered_map<std::uint64_t, OpenMark> open_;  // by mark id
  std::deque<std::uint64_t> order_;                   // mark ids in order of arrival
  std::int64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<RawKind> make_msproftx_kind(CannImport& import) {
  return std::make_unique<MsprofTxKind>(import);
}

}  // namespace msprof::cann
