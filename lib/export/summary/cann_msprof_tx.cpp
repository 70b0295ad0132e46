// msprof_tx: one row per range or mark named by the application; one per device mark if there are
// any.
#include "export/products.hpp"
#include "export/scope/user_ranges.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

class CannMsprofTx : public cann::CannTable {
 public:
  explicit CannMsprofTx(bool has_device_marks)
      : CannTable({.name = "msprof_tx",
                   .title = "Ranges of the application",
                   .help = "ranges and marks of the application, with their times on the devices",
                   .exists = "SELECT 1 FROM user_range",
                   .needs = {"msproftx"}},
                  {"Device_id", "pid", "tid", "category", "event_type", "payload_type",
                   "payload_value", "Start_time(us)", "End_time(us)", "message_type", "message",
                   "domain", "Device Start_time(us)", "Device End_time(us)"}),
        has_device_marks_(has_device_marks) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    cann::Texts texts(db);
    cann::UserRanges ranges(
        db, std::string(" FROM user_range AS range LEFT JOIN device_mark AS mark ON ") +
                (has_device_marks_ ? "is_extended = 1 AND mark.mark_id = range.mark_id" : "0") +
                " ORDER BY range.vendor_start_ns, range.id, mark.device_id, mark.id");
    const ScopeFilter scope(output_file.scope);
    while (ranges.next()) {
      const UserRangeRow& range = ranges.range();
      const DeviceMarkRow& mark = ranges.mark();
      if (mark.id == kNull ? scope.takes_range(range.start_ns, range.end_ns)
                           : scope.takes(mark.device_id, mark.start_ns, mark.end_ns))
        write_row(out, texts, range, mark);
    }
  }

 private:
  static void write_row(RowBuilder& out, cann::Texts& texts, const UserRangeRow& range,
                        const DeviceMarkRow& mark) {
    const bool is_extended = range.is_extended != 0;
    const bool has_device = mark.id != kNull;
    const auto plain_number = [&](std::int64_t cell) {
      is_extended ? out.missing() : out.number_or_missing(given(cell));
    };
    // Without a clock there are no times.
    const auto timestamp = [&out](std::int64_t ns) {
      cann::us_timestamp(out, given(ns).value_or(0));
    };
    has_device ? out.number(mark.device_id) : out.text("host");
    out.number(range.process_id);
    out.number(range.thread_id);
    plain_number(range.category);
    out.text(cann::event_type_text(range.event_type));
    plain_number(range.payload_type);
    if (is_extended || range.payload_value == kNull) {
      out.missing();
    } else {
      out.number(std::to_string(static_cast<std::uint64_t>(range.payload_value)));
    }
    timestamp(range.vendor_start_ns);
    timestamp(range.vendor_end_ns);
    plain_number(range.message_type);
    cann::text_or_missing(out, texts, given(range.message_name_id));
    cann::text_or_missing(out, texts, is_extended ? given(range.domain_name_id) : std::nullopt);
    for (const std::int64_t time : {mark.vendor_start_ns, mark.vendor_end_ns})
      has_device ? timestamp(time) : out.missing();
    out.end_row();
  }

  bool has_device_marks_;
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_msprof_tx() {
  return cann::make_msprof_tx(true);
}

std::unique_ptr<SummaryTable> cann::make_msprof_tx(bool has_device_marks) {
  return std::make_unique<CannMsprofTx>(has_device_marks);
}

}  // namespace msprof
