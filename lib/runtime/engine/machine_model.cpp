#include "runtime/engine/machine_model.hpp"

#include <algorithm>

namespace msprof::runtime {
namespace {

// Peak rates of the modelled core at 1000 MHz, comparable to one x86-64 core with SSE2.
constexpr uint64_t kMacsPerCycle = 24;
constexpr uint64_t kVectorOpsPerCycle = 32;
constexpr uint64_t kDdrBytesPerCycle = 64;
constexpr uint64_t kRelayoutBytesPerCycle = 64;

uint64_t cycles(int64_t amount, uint64_t times, uint64_t rate, uint64_t total) {
  const uint64_t work = static_cast<uint64_t>(amount) * times;
  return std::min((work + rate - 1) / rate, total);
}

}  // namespace

UnitCycles model_units(const LayerWork& work, uint64_t images, uint64_t total) {
  UnitCycles units;
  units.mac_busy = cycles(work.padded_macs, images, kMacsPerCycle, total);
  units.mac_ppen = cycles(work.macs, images, kMacsPerCycle, total);
  units.vec_busy = cycles(work.padded_vector_ops, images, kVectorOpsPerCycle, total);
  units.vec_ppen = cycles(work.vector_ops, images, kVectorOpsPerCycle, total);
  units.dstr = cycles(work.output_bytes, images, kDdrBytesPerCycle, total);
  units.dtrans = cycles(work.relayout_bytes, images, kRelayoutBytesPerCycle, total);
  units.dld = cycles(work.input_bytes, images, kDdrBytesPerCycle, total);
  units.wld = cycles(work.weight_bytes, 1, kDdrBytesPerCycle, total);
  units.ddr_read_bytes =
      static_cast<uint64_t>(work.input_bytes) * images + static_cast<uint64_t>(work.weight_bytes);
  units.ddr_write_bytes = static_cast<uint64_t>(work.output_bytes) * images;
  return units;
}

}  // namespace msprof::runtime
