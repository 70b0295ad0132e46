// memory_record: the memory of a device at every allocation and release by an operator.
#include <fmt/format.h>

#include "export/products.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

class CannMemoryRecord : public cann::CannTable {
 public:
  CannMemoryRecord()
      : CannTable({.name = "memory_record",
                   .title = "Memory over time",
                   .help = "device memory in use after every allocation and release",
                   .exists = "SELECT 1 FROM memory_event",
                   .needs = {"task_memory_info"}},
                  {"Device_id", "Component", "Timestamp(us)", "Total Allocated(KB)",
                   "Total Reserved(KB)", "Device"}) {}

  std::vector<TableChunk> chunks(const Database& db, const OutputFile& output_file) const override {
    return cann::chunks_by_id(db, "memory_event",
                              [scope = ScopeFilter(output_file.scope)](
                                  const Database& own, IdRange ids, RowBuilder& out) {
                                write_rows(own, scope, ids, out);
                              });
  }

 private:
  static void write_rows(const Database& db, const ScopeFilter& scope, IdRange ids,
                         RowBuilder& out) {
    Statement read = db.prepare(
        "SELECT device_id, vendor_time_ns, total_allocated_bytes, total_reserved_bytes,"
        " time_ns"
        " FROM memory_event WHERE id BETWEEN ? AND ? ORDER BY id");
    read.bind(1, ids.first).bind(2, ids.last);
    while (read.step()) {
      if (!scope.takes(read.integer(0), read.integer(4), read.integer(4))) continue;
      out.number(read.integer(0));
      out.text("GE");  // the only component in these records
      cann::us_timestamp(out, read.integer(1));
      out.number(cann::kb_float3(read.integer(2)));
      out.number(cann::kb_float3(read.integer(3)));
      out.text(fmt::format("NPU:{}", read.integer(0)));
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_memory_record() {
  return std::make_unique<CannMemoryRecord>();
}

}  // namespace msprof
