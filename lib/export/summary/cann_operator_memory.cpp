// operator_memory: one row per allocation of device memory by an operator, with its release.
#include <fmt/format.h>

#include "export/products.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

class CannOperatorMemory : public cann::CannTable {
 public:
  CannOperatorMemory()
      : CannTable({.name = "operator_memory",
                   .title = "Operator memory",
                   .help = "device memory allocations of operators, with their lifetimes",
                   .exists = "SELECT 1 FROM memory_block",
                   .needs = {"task_memory_info"}},
                  {"Device_id", "Name", "Size(KB)", "Allocation Time(us)", "Duration(us)",
                   "Allocation Total Allocated(KB)", "Allocation Total Reserved(KB)",
                   "Release Total Allocated(KB)", "Release Total Reserved(KB)", "Device"}) {}

  std::vector<TableChunk> chunks(const Database& db, const OutputFile& output_file) const override {
    return cann::chunks_by_id(db, "memory_block",
                              [scope = ScopeFilter(output_file.scope)](
                                  const Database& own, IdRange ids, RowBuilder& out) {
                                write_rows(own, scope, ids, out);
                              });
  }

 private:
  static void write_rows(const Database& db, const ScopeFilter& scope, IdRange ids,
                         RowBuilder& out) {
    cann::Texts texts(db);
    Statement read = db.prepare(
        "SELECT got.device_id, got.name_id, got.size_bytes, got.vendor_time_ns, duration_ns,"
        " got.total_allocated_bytes, got.total_reserved_bytes, freed.total_allocated_bytes,"
        " freed.total_reserved_bytes, got.time_ns FROM memory_block"
        " JOIN memory_event AS got ON got.id = allocation_id"
        " LEFT JOIN memory_event AS freed ON freed.id = release_id"
        " WHERE memory_block.id BETWEEN ? AND ? ORDER BY memory_block.id");
    read.bind(1, ids.first).bind(2, ids.last);
    while (read.step()) {
      if (!scope.takes_for(read.integer(0), read.integer(9), read.integer(4))) continue;
      out.number(read.integer(0));
      out.text(read.is_null(1) ? std::string() : texts(read.integer(1)));
      out.number(cann::kb_float3(read.integer(2)));
      cann::us_timestamp(out, read.integer(3));
      // Zero for allocations that were never released.
      out.number(cann::float3(read.integer(4), 1000));
      for (const int total : {5, 6, 7, 8}) out.number(cann::kb_float3(read.integer(total)));
      out.text(fmt::format("NPU:{}", read.integer(0)));
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_operator_memory() {
  return std::make_unique<CannOperatorMemory>();
}

}  // namespace msprof
