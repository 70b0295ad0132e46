// msprof_tx: one row per range or mark named by the application; one per device mark if there are
// any.
#include "export/products.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

enum TxCell : int {
  kTxExtended,
  kTxProcess,
  kTxThread,
  kTxCategory,
  kTxEventType,
  kTxPayloadType,
  kTxPayloadValue,
  kTxStart,
  kTxEnd,
  kTxMessageType,
  kTxMessage,
  kTxDomain,
  kTxDevice,
  kTxDeviceStart,
  kTxDeviceEnd,
  // Exact times, not shown.
  kTxExactStart,
  kTxExactEnd,
  kTxExactDeviceStart,
  kTxExactDeviceEnd
};

class CannMsprofTx : public cann::CannTable {
 public:
  CannMsprofTx()
      : CannTable({.name = "msprof_tx",
                   .title = "Ranges of the application",
                   .help = "ranges and marks of the application, with their times on the devices",
                   .exists = "SELECT 1 FROM user_range",
                   .needs = {"msproftx"},
                   .cann5_place = 14,
                   .is_cann5_whole = true,
                   .cann5_folder = Cann5Folder::host},
                  {"Device_id", "pid", "tid", "category", "event_type", "payload_type",
                   "payload_value", "Start_time(us)", "End_time(us)", "message_type", "message",
                   "domain", "Device Start_time(us)", "Device End_time(us)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    cann::Texts texts(db);
    Statement read = db.prepare(
        "SELECT is_extended, process_id, range.thread_id, category, event_type, payload_type,"
        " payload_value, range.vendor_start_ns, range.vendor_end_ns, message_type, message_name_id,"
        " domain_name_id, mark.device_id, mark.vendor_start_ns, mark.vendor_end_ns,"
        " range.start_ns, range.end_ns, mark.start_ns, mark.end_ns"
        " FROM user_range AS range"
        " LEFT JOIN device_mark AS mark"
        " ON ? AND is_extended = 1 AND mark.mark_id = range.mark_id"
        " ORDER BY range.vendor_start_ns, range.id, mark.device_id, mark.id");
    read.bind(1, std::int64_t{!output_file.is_cann5});  // CANN 5 has no device marks
    const ScopeFilter scope(output_file.scope);
    while (read.step()) {
      if (is_taken(scope, read)) write_row(out, texts, read);
    }
  }

 private:
  static bool is_taken(const ScopeFilter& scope, const Statement& row) {
    return row.is_null(kTxDevice)
               ? scope.takes_range(row.integer(kTxExactStart), row.integer(kTxExactEnd))
               : scope.takes(row.integer(kTxDevice), row.integer(kTxExactDeviceStart),
                             row.integer(kTxExactDeviceEnd));
  }

  static void write_row(RowBuilder& out, cann::Texts& texts, const Statement& row) {
    const bool is_extended = row.integer(kTxExtended) != 0;
    const bool has_device = !row.is_null(kTxDevice);
    const auto plain_number = [&](int cell) {
      is_extended ? out.missing() : out.number_or_missing(row.maybe_integer(cell));
    };
    has_device ? out.number(row.integer(kTxDevice)) : out.text("host");
    out.number(row.integer(kTxProcess));
    out.number(row.integer(kTxThread));
    plain_number(kTxCategory);
    out.text(cann::event_type_text(row.integer(kTxEventType)));
    plain_number(kTxPayloadType);
    if (is_extended || row.is_null(kTxPayloadValue)) {
      out.missing();
    } else {
      out.number(std::to_string(static_cast<std::uint64_t>(row.integer(kTxPayloadValue))));
    }
    cann::us_timestamp(out, row.integer(kTxStart));
    cann::us_timestamp(out, row.integer(kTxEnd));
    plain_number(kTxMessageType);
    cann::text_or_missing(out, texts, row.maybe_integer(kTxMessage));
    cann::text_or_missing(
        out, texts, is_extended ? row.maybe_integer(kTxDomain) : std::optional<std::int64_t>());
    for (const int time : {kTxDeviceStart, kTxDeviceEnd}) {
      has_device ? cann::us_timestamp(out, row.integer(time)) : out.missing();
    }
    out.end_row();
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_msprof_tx() {
  return std::make_unique<CannMsprofTx>();
}

}  // namespace msprof
