// Raw kind l2_cache.data: events of the L2 cache, one record per task. Source: cann_device.md 9.1.
#include <fmt/format.h>

#include <set>

#include "import/cann/cann_import.hpp"
#include "import/cann/record_scan.hpp"
#include "import/raw_kind.hpp"
#include "wire/cann/device_wire.hpp"

namespace msprof::cann {

namespace {

class L2CacheKind : public RawKind {
 public:
  explicit L2CacheKind(CannImport& import) : import_(import) {}

  std::string_view name() const override { return "l2_cache"; }
  bool owns(const RawFile& file) const override {
    return import_.session.parsed_name(file).stem == "l2_cache.data";
  }

  // Records never span slices.
  void import(const ImportContext& context, const RawFile& file) override {
    const CannPart& part = import_.session.find_part(file);
    name_events(context, part);
    std::uint64_t records = 0;
    FileReader reader(file.path);
    const std::uint64_t rest =
        for_each_record(reader, 0, sizeof(L2CacheWire), [&](auto record, std::uint64_t) {
          if (file.has_space && is_unwritten(record)) return;
          add(context, part, decode<L2CacheWire>(record));
          ++records;
        });
    context.report.count_file(name(), records);
    if (rest > 0) {
      context.report.add({FindingId::trailing_bytes, std::string(name()), file.name,
                          "incomplete record at the end", static_cast<std::int64_t>(rest),
                          static_cast<std::int64_t>(records * sizeof(L2CacheWire)), "", ""});
    }
  }

 private:
  void name_events(const ImportContext& context, const CannPart& part) {
    if (!named_.insert(part.device.value_or(0)).second) return;
    std::string events;
    for (const std::uint32_t event : part.info.l2_cache_events) {
      events += fmt::format("{}{:#x}", events.empty() ? "" : ",", event);
    }
    if (events.empty()) {
      context.report.add(
          FindingId::events_not_said, name(), part.name, "unknown events",
          "sample.json has no l2CacheTaskProfilingEvents, so the counted events are unknown");
    }
    const auto& chip = import_.session.chip();
    if (chip && (chip->family == ChipFamily::mini || !reads_tasks(chip->family))) {
      context.report.add(FindingId::unread_records, name(), part.name, "rates not computed",
                         "It is unknown from which events the rates of this chip are computed.");
    }
    context.store.set_meta(fmt::format("l2_cache.events.{}", part.device.value_or(0)), events);
  }

  void add(const ImportContext& context, const CannPart& part, const L2CacheWire& wire) {
    L2CacheRow row;
    row.id = ++rows_;
    row.device_id = part.device.value_or(0);
    row.stream_id = wire.stream;
    row.task_number = wire.task;
    row.task_type = wire.task_type;
    const std::size_t said = part.info.l2_cache_events.size();
    for (std::size_t i = 0; i < kL2CacheEvents; ++i) {
      if (said == 0 || i < said) row.e[i] = cell(wire.events[i]);
    }
    context.store.add(row);
  }

  CannImport& import_;
  std::set<std::int64_t> named_;
  std::int64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<RawKind> make_l2_cache_kind(CannImport& import) {
  return std::make_unique<L2CacheKind>(import);
}

}  // namespace msprof::cann
