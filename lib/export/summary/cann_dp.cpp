// dp: one row per dequeue from the data pipeline that feeds a device; for captures of CANN 5 one
// file per device. Times are those of the device's own microsecond counter, so a scope selects
// devices but no times here. Source: cann_device.md 8.3, 21; cann5_classic.md 10.
#include "export/products.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

std::vector<std::string> dp_columns(ProductAge age) {
  if (age != ProductAge::current) return {"Timestamp", "Action", "Source", "Cached Buffer Size"};
  return {"Device_id", "Timestamp(us)", "Action", "Source", "Cached Buffer Size"};
}

class Dp : public cann::CannTable {
 public:
  explicit Dp(ProductAge age)
      : CannTable({.name = "dp",
                   .title = "Data pipeline",
                   .help = "data that the pipeline passed to each device, and data still queued",
                   .exists = "SELECT 1 FROM data_queue WHERE action_name_id IS NOT NULL",
                   .needs = {"data_preprocess"},
                   .cann5_place = 10,
                   .age = age,
                   .is_cann5_whole = age != ProductAge::current},
                  dp_columns(age)) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    const bool is_current = info().age == ProductAge::current;
    cann::Texts texts(db);
    const ScopeFilter scope(output_file.scope);
    Statement read = db.prepare(
        "SELECT device_id, start_us, action_name_id, source_name_id, queue_size FROM data_queue"
        " WHERE action_name_id IS NOT NULL ORDER BY device_id, id");
    while (read.step()) {
      if (!scope.takes_device(read.integer(0))) continue;
      if (is_current) {
        out.number(read.integer(0));
        out.timestamp(read.integer(1));
      } else {
        out.number_or_missing(read.maybe_integer(1));
      }
      cann::text_or_missing(out, texts, read.maybe_integer(2));
      cann::text_or_missing(out, texts, read.maybe_integer(3));
      out.number_or_missing(read.maybe_integer(4));
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_dp() {
  return std::make_unique<Dp>(ProductAge::current);
}
std::unique_ptr<SummaryTable> make_old_dp() {
  return std::make_unique<Dp>(ProductAge::cann5);
}

}  // namespace msprof
