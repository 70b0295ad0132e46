// dp: one row per dequeue from the data pipeline that feeds a device. Times are those of the
// device's own microsecond counter, so a scope selects devices but no times here. Source:
// cann_device.md 8.3, 21.
#include "export/products.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

class CannDp : public cann::CannTable {
 public:
  CannDp()
      : CannTable({.name = "dp",
                   .title = "Data pipeline",
                   .help = "data that the pipeline passed to each device, and data still queued",
                   .exists = "SELECT 1 FROM data_queue WHERE action_name_id IS NOT NULL",
                   .needs = {"data_preprocess"}},
                  {"Device_id", "Timestamp(us)", "Action", "Source", "Cached Buffer Size"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    cann::Texts texts(db);
    const ScopeFilter scope(output_file.scope);
    Statement read = db.prepare(
        "SELECT device_id, start_us, action_name_id, source_name_id, queue_size FROM data_queue"
        " WHERE action_name_id IS NOT NULL ORDER BY device_id, id");
    while (read.step()) {
      if (!scope.takes_device(read.integer(0))) continue;
      out.number(read.integer(0));
      out.timestamp(read.integer(1));
      cann::text_or_missing(out, texts, read.maybe_integer(2));
      cann::text_or_missing(out, texts, read.maybe_integer(3));
      out.number_or_missing(read.maybe_integer(4));
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_dp() {
  return std::make_unique<CannDp>();
}

}  // namespace msprof
