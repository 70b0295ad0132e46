// The devices table of `show`: chip, cores, clock and metrics of each NPU.
#include <algorithm>

#include "export/products.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

class CannDevices : public cann::CannTable {
 public:
  CannDevices()
      : CannTable({.name = "devices",
                   .title = "Devices",
                   .help = "chip, cores, clock and metrics of every NPU",
                   .exists = "SELECT 1 FROM device",
                   .is_shown = true,
                   .is_exported = false},
                  {"Device_id", "Chip", "AI Cores", "Vector Cores", "Frequency(MHz)",
                   "Core Metrics", "Vector Core Metrics", "Tasks"}) {}

  void write(const Database& db, const OutputFile&, RowBuilder& out) const override {
    cann::Texts texts(db);
    Statement read = db.prepare(
        "SELECT id, chip_name_id, core_count, vector_core_count, frequency_hz,"
        " core_metrics_name_id, vector_core_metrics_name_id,"
        " (SELECT ifnull(sum(last_task_id - first_task_id + 1), 0) FROM task_run"
        "  WHERE task_run.device_id = device.id)"
        " FROM device ORDER BY id");
    while (read.step()) {
      out.number(read.integer(0));
      cann::text_or_missing(out, texts, read.maybe_integer(1));
      out.number_or_missing(read.maybe_integer(2));
      out.number_or_missing(read.maybe_integer(3));
      read.is_null(4) ? out.missing() : out.number(cann::trimmed3(read.integer(4), 1'000'000));
      cann::text_or_missing(out, texts, read.maybe_integer(5));
      cann::text_or_missing(out, texts, read.maybe_integer(6));
      out.number(read.integer(7));
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_devices() {
  return std::make_unique<CannDevices>();
}

}  // namespace msprof
