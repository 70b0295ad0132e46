// Tables of CANN 5 about the host and what feeds the device: msprof_tx, dp.
// Source: cann5_classic.md 10.
#include "export/products.hpp"
#include "export/summary/old_tables.hpp"

namespace msprof {

namespace {

// Ranges and marks in the order in which the application closed them.
class OldMsprofTx : public cann::Table {
 public:
  OldMsprofTx()
      : Table({.name = "msprof_tx",
               .title = "Ranges of the application",
               .help = "ranges and marks that the application named",
               .exists = "SELECT 1 FROM user_range",
               .cann5_place = 14,
               .is_cann5_only = true,
               .is_old = true,
               .is_cann5_whole = true,
               .cann5_folder = Cann5Folder::host},
              {"pid", "tid", "category", "event_type", "payload_type", "payload_value",
               "Start_time(ns)", "End_time(ns)", "message_type", "message"}) {}

  void write(const Database& db, const OutputFile&, RowSink& out) const override {
    const old::Times times(db);
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

// Times are us of the device's clock, as they were recorded.
class OldDp : public cann::Table {
 public:
  OldDp()
      : Table({.name = "dp",
               .title = "Data pipeline",
               .help = "what the data pipeline handed to each device, and what it still had",
               .exists = "SELECT 1 FROM data_queue WHERE action_name_id IS NOT NULL",
               .cann5_place = 10,
               .is_cann5_only = true,
               .is_old = true,
               .is_cann5_whole = true},
              {"Timestamp", "Action", "Source", "Cached Buffer Size"}) {}

  void write(const Database& db, const OutputFile& output_file, RowSink& out) const override {
    cann::Texts texts(db);
    const ScopeFilter scope(output_file.scope);
    Statement read = db.prepare(
        "SELECT device_id, start_us, action_name_id, source_name_id, queue_size FROM data_queue"
        " WHERE action_name_id IS NOT NULL ORDER BY device_id, id");
    while (read.step()) {
      if (!scope.takes_device(read.integer(0))) continue;
      out.number_or_missing(read.maybe_integer(1));
      cann::text_or_missing(out, texts, read.maybe_integer(2));
      cann::text_or_missing(out, texts, read.maybe_integer(3));
      out.number_or_missing(read.maybe_integer(4));
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_old_msprof_tx() {
  return std::make_unique<OldMsprofTx>();
}
std::unique_ptr<SummaryTable> make_old_dp() {
  return std::make_unique<OldDp>();
}

}  // namespace msprof
