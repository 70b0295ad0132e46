// stream_queue: streams and the hardware queue that each used, alone or shared. Source:
// cann_new_kinds.md 2.5.
#include "export/products.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

class CannStreamQueue : public cann::CannTable {
 public:
  CannStreamQueue()
      : CannTable({.name = "stream_queue",
                   .title = "Streams and hardware queues",
                   .help = "hardware queue and life of each stream",
                   .exists = "SELECT 1 FROM stream_queue",
                   .needs = {"stream_sq_info"},
                   .group = kRuntimeTables},
                  {"Device_id", "Stream ID", "Queue ID", "Scheduler ID", "Start Time(us)",
                   "End Time(us)", "Streams of Queue"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    const ScopeFilter scope(output_file.scope);
    // Counts the streams of the same queue that exist at the same time; they cannot run in
    // parallel.
    Statement read = db.prepare(
        "SELECT device_id, stream_id, queue_id, scheduler_id, start_ns, end_ns,"
        " (SELECT count(DISTINCT other.stream_id) FROM stream_queue AS other"
        " WHERE other.device_id = stream_queue.device_id AND other.queue_id = stream_queue.queue_id"
        " AND other.scheduler_id = stream_queue.scheduler_id"
        " AND ifnull(other.start_ns, 0) < ifnull(stream_queue.end_ns, 9223372036854775807)"
        " AND ifnull(stream_queue.start_ns, 0) < ifnull(other.end_ns, 9223372036854775807))"
        " FROM stream_queue ORDER BY id");
    while (read.step()) {
      if (!scope.takes(read.integer(0), read.maybe_integer(4).value_or(INT64_MIN),
                       read.maybe_integer(5).value_or(INT64_MAX)))
        continue;
      for (const int cell : {0, 1, 2, 3}) out.number(read.integer(cell));
      for (const int cell : {4, 5})
        read.is_null(cell) ? out.missing() : cann::us_timestamp(out, read.integer(cell));
      out.number(read.integer(6));
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_stream_queue() {
  return std::make_unique<CannStreamQueue>();
}

}  // namespace msprof
