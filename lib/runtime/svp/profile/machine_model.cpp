#include "runtime/svp/profile/machine_model.hpp"

#include "runtime/engine/machine_model.hpp"

namespace msprof::runtime {

void model_units(const LayerWork& work, uint64_t batch, SvpAicoreRecord& record) {
  const UnitCycles units = model_units(work, batch, record.total_cycles);
  record.mac_busy = units.mac_busy;
  record.mac_ppen = units.mac_ppen;
  record.vec_busy = units.vec_busy;
  record.vec_ppen = units.vec_ppen;
  record.dstr = units.dstr;
  record.dtrans = units.dtrans;
  record.dld = units.dld;
  record.wld = units.wld;
  record.ddr_read_bytes = units.ddr_read_bytes;
  record.ddr_write_bytes = units.ddr_write_bytes;
}

}  // namespace msprof::runtime
