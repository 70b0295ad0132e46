// Raw kind aicore.data of chip 310: task counters in records of variable length. The records do not
// show wraparounds of the task ids; tasks are matched in file order. Source: cann_device.md 7.3.
#include <map>

#include "import/cann/cann_import.hpp"
#include "import/cann/tlv_reader.hpp"

namespace msprof::cann {

namespace {

// Keeps all records in memory until the join: a 310 writes about 10,000 per second.
class EventCountKind : public RawKind {
 public:
  explicit EventCountKind(CannImport& import) : import_(import) {}

  std::string_view name() const override { return "aicore"; }
  // Periodically sampled counters have another format.
  bool owns(const RawFile& file) const override {
    const auto& chip = import_.session.chip();
    const CannPart& part = import_.session.find_part(file);
    return chip && chip->family == ChipFamily::mini && !part.is_host() && part.info.is_task_based &&
           import_.session.parsed_name(file).stem == "aicore.data";
  }

  void import(const ImportContext& context, const RawFile& file) override {
    const CannPart& part = import_.session.find_part(file);
    by_device_[*part.device].push_back(&file);
    if (!files_.is_last(context, *this)) return;
    for (const auto& [device, files] : by_device_) read(context, device, files);
  }

 private:
  void read(const ImportContext& context, std::int64_t device,
            const std::vector<const RawFile*>& files) {
    std::int64_t others = 0;
    std::int64_t overflows = 0;
    auto& counts = import_.devices[device].event_counts;
    read_tlv_records(context, name(), files, [&](const TlvRecord& record) {
      if (record.tag != kEventCountTag) {
        ++others;
        return;
      }
      overflows += decode<EventCountWire>(record.bytes).overflow != 0 ? 1 : 0;
      counts.push_back(read_event_count(record.bytes));
    });
    const std::string& part = import_.session.find_part(*files.front()).name;
    if (others > 0)
      context.report.add(FindingId::obsolete_records, name(), part,
                         "records of other tags present, not read", "", others);
    if (overflows > 0)
      context.report.add(FindingId::overflowed_counters, name(), part, "counters overflowed",
                         "Their values are not corrected.", overflows);
  }

  CannImport& import_;
  std::map<std::int64_t, std::vector<const RawFile*>> by_device_;
  OwnedFiles files_;
};

}  // namespace

std::unique_ptr<RawKind> make_event_count_kind(CannImport& import) {
  return std::make_unique<EventCountKind>(import);
}

}  // namespace msprof::cann
