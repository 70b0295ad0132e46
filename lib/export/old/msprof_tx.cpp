// msprof_tx of CANN 5: ranges and marks of the application. Source: cann5_classic.md 10.
#include "export/products.hpp"
#include "export/old/tables.hpp"

namespace msprof {

namespace {

// Rows are in the order in which the application closed the ranges and marks.
class OldMsprofTx : public cann::CannTable {
 public:
  OldMsprofTx()
      : CannTable({.name = "msprof_tx",
                   .title = "Ranges of the application",
                   .help = "ranges and marks of the application",
                   .exists = "SELECT 1 FROM user_range",
                   .cann5_place = 14,
                   .age = ProductAge::cann5,
                   .is_cann5_whole = true,
                   .cann5_folder = Cann5Folder::host},
                  {"pid", "tid", "category", "event_type", "payload_type", "payload_value",
                   "Start_time(ns)", "End_time(ns)", "message_type", "message"}) {}

  void write(const Database& db, const OutputFile&, RowBuilder& out) const override {
    const old::OldTimes times(db);
    cann::Texts texts(db);
    Statement read = db.prepare(
        "SELECT process_id, thread_id, category, event_type, payload_type, payload_value,"
        " start_ns, end_ns, message_type, message_name_id FROM user_range ORDER BY id");
    while (read.step()) {
      for (int cell = 0; cell < 3; ++cell) out.number_or_missing(read.maybe_integer(cell));
      out.text(cann::event_type_text(read.maybe_integer(3).value_or(kNull)));
      out.number_or_missing(read.maybe_integer(4));
      out.number_or_missing(read.maybe_integer(5));
      for (int cell = 6; cell < 8; ++cell) {
        const auto ns = read.maybe_integer(cell);
        ns ? out.number(times.host_ns(*ns)) : out.missing();
      }
      out.number_or_missing(read.maybe_integer(8));
      cann::text_or_missing(out, texts, read.maybe_integer(9));
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_old_msprof_tx() {
  return std::make_unique<OldMsprofTx>();
}

}  // namespace msprof
