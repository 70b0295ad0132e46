#include "runtime/svp/profile/machine_model.hpp"

#include <algorithm>

namespace msprof::runtime {
namespace {

// Peak rates of the imagined core at 1000 MHz, of the size of one x86-64 core with SSE2.
constexpr uint64_t kMacsPerCycle = 24;
constexpr uint64_t kVectorOpsPerCycle = 32;
constexpr uint64_t kDdrBytesPerCycle = 64;
constexpr uint64_t kRelayoutBytesPerCycle = 64;

uint64_t cycles(int64_t amount, uint64_t times, uint64_t rate, uint64_t total) {
  const uint64_t work = static_cast<uint64_t>(amount) * times;
  return std::min((work + rate - 1) / rate, total);
}

}  // namespace

void model_units(const LayerWork& work, uint64_t batch, AicoreRecord& record) {
  const uint64_t total = record.total_cycles;
  record.mac_busy = cycles(work.padded_macs, batch, kMacsPerCycle, total);
  record.mac_ppen = cycles(work.macs, batch, kMacsPerCycle, total);
  record.vec_busy = cycles(work.padded_vector_ops, batch, kVectorOpsPerCycle, total);
  record.vec_ppen = cycles(work.vector_ops, batch, kVectorOpsPerCycle, total);
  record.dstr = cycles(work.output_bytes, batch, kDdrBytesPerCycle, total);
  record.dtrans = cycles(work.relayout_bytes, batch, kRelayoutBytesPerCycle, total);
  record.dld = cycles(work.input_bytes, batch, kDdrBytesPerCycle, total);
  record.wld = cycles(work.weight_bytes, 1, kDdrBytesPerCycle, total);
  record.ddr_read_bytes =
      static_cast<uint64_t>(work.input_bytes) * batch + static_cast<uint64_t>(work.weight_bytes);
  record.ddr_write_bytes = static_cast<uint64_t>(work.output_bytes) * batch;
}

}  // namespace msprof::runtime
