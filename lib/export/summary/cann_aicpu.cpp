// aicpu: one row per node that an AI CPU ran, with the phases of its time.
#include "export/products.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

class CannAicpu : public cann::CannTable {
 public:
  CannAicpu()
      : CannTable(
            {.name = "aicpu",
             .title = "AI CPU",
             .help = "nodes that the AI CPUs ran: compute, copy and dispatch time",
             .exists = "SELECT 1 FROM aicpu_node",
             .needs = {"aicpu|data_preprocess"}},
            {"Device_id", "Timestamp(us)", "Node", "Compute_time(us)", "Memcpy_time(us)",
             "Task_time(us)", "Dispatch_time(us)", "Total_time(us)", "Stream ID", "Task ID"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    cann::Texts texts(db);
    Statement read = db.prepare(
        "SELECT device_id, vendor_start_ns, op_name_id, compute_us, memcpy_us, vendor_duration_ns,"
        " dispatch_us, total_ns, stream_id, task_number, start_ns, end_ns FROM aicpu_node WHERE "
        "start_ns >= ?"
        " ORDER BY device_id, vendor_start_ns, id");
    read.bind(1, cann::window_begin_ns(db));
    const ScopeFilter scope(output_file.scope);
    while (read.step()) {
      if (!scope.takes(read.integer(0), read.integer(10), read.integer(11))) continue;
      out.number(read.integer(0));
      cann::us_timestamp(out, read.integer(1));
      cann::text_or_missing(out, texts, read.maybe_integer(2));
      out.number(cann::float3(read.integer(3), 1));
      out.number(cann::float3(read.integer(4), 1));
      out.number(cann::float3(read.integer(5), 1000));
      out.number(cann::float3(read.integer(6), 1));
      out.number(cann::float3(read.integer(7), 1000));
      out.number(read.integer(8));
      out.number(read.integer(9));
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_aicpu() {
  return std::make_unique<CannAicpu>();
}

}  // namespace msprof
