// Small valid files of the kinds of cann_new_kinds.md 2 to 4, for the seeds of the fuzz targets of
// PROF folders.
#include "counter_seeds.hpp"
#include "support/prof/wire.hpp"

namespace msprof::fuzz {

namespace {

using test::prof::Wire;

constexpr std::uint64_t kCount = 500'001'010;  // host time, during the call of a copy
constexpr std::uint64_t kTicks = 250'001'000;  // device time

Wire record(std::size_t bytes, std::uint32_t length) {
  Wire wire(bytes);
  wire.u16(0, 0x5A5A).u16(2, 5000).u32(8, 9).u32(12, length).u64(16, kCount);
  return wire;
}

std::string capture_op(std::size_t room, std::uint32_t tensors) {
  Wire wire = record(room == 0 ? 88 + 44 * tensors : room, 64 + 44 * tensors);
  wire.u32(24, 2).u32(32, 3).u32(36, 1).u32(44, 8).u64(48, 1).u64(56, 2).u32(84, tensors);
  for (std::uint32_t i = 0; i < tensors; ++i) wire.u32(88 + 44 * i + 12, 16);
  return wire.take();
}

std::string memory() {
  const auto one = [](std::uint64_t address, std::uint64_t bytes, std::uint16_t is_free) {
    return record(64, 32).u64(24, address).u64(32, bytes).u32(40, 2).u16(44, is_free).take();
  };
  return one(0x1000, 64, 0) + one(0x1020, 64, 0) + one(0x1020, 0, 1) + one(0x5000, 0, 1);
}

std::string ccu_host(std::uint32_t mask) {
  return record(256, 152).u16(58, 3).u32(60, 5).u16(66, 7).u64(72, mask).u16(80, 1).take();
}

std::string ccu_instructions() {
  return Wire(64).u64(42, kTicks + 50).u64(50, kTicks).u16(58, 7).u16(60, 5).take() +
         Wire(64).u16(30, 9).u64(32, kTicks + 60).u16(40, 7).u16(60, 5).take();
}

std::string biu() {
  std::string words;
  const auto word = [&](std::uint64_t value, std::uint64_t control) {
    words += Wire(4).u16(0, value & 0xFFFF).u16(2, control).take();
  };
  for (int k = 0; k < 4; ++k) word(kTicks >> (16 * k), 0xE000);
  word(20, 0xF004);
  word(20, 0xF000);
  return words + Wire(4).u32(0, 0xEFFFFFFF).take();
}

}  // namespace

std::vector<NamedBytes> new_kind_files() {
  const auto host = [](const std::string& stem, std::string bytes) {
    return NamedBytes{"host/data/" + stem + ".slice_0", std::move(bytes)};
  };
  const auto device = [](const std::string& stem, std::string bytes) {
    return NamedBytes{"device_0/data/" + stem + ".0.slice_0", std::move(bytes)};
  };
  return {
      host("unaging.compact.task_track_v2", record(64, 40).u32(28, 70'003).u32(32, 1).take()),
      host("unaging.compact.capture_stream_info_v2",
           record(64, 16).u32(28, 3).u32(32, 4).u32(36, 2).take() +
               record(64, 16).u8(26, 1).u32(28, 0xFFFFFFFF).u32(32, 0xFFFFFFFF).u32(36, 2).take()),
      host("unaging.compact.stream_sq_info",
           record(64, 16).u32(28, 3).u16(32, 7).take() +
               record(64, 16).u16(24, 1).u32(28, 3).u16(32, 7).take()),
      host("unaging.additional.capture_op_info", capture_op(256, 2)),
      host("unaging.variable.capture_op_info", capture_op(0, 9) + capture_op(0, 4)),
      host("aging.compact.memmng_info", memory()),
      host("aging.compact.memcpy_ext_info", record(64, 16).u64(24, 100).u16(32, 1).take()),
      host("aging.compact.memset_info", record(64, 24).u64(24, 100).u32(36, 0xFFFFFFFF).take()),
      host("aging.compact.dpu_track",
           record(64, 24).u16(24, 0x1000).u16(26, 9).u32(28, 40).u64(40, kCount - 10).take()),
      host("aging.additional.ccu_task_info", ccu_host(0)),
      host("aging.additional.ccu_wait_signal_info", ccu_host(7)),
      host("aging.additional.ccu_group_info", ccu_host(64)),
      device("ccu0.instr", ccu_instructions()),
      device("ccu1.stat", Wire(2816).u32(0, kTicks).u32(8, 10).u32(12, 9).u32(16, 11).take()),
      device("instr.biu_perf_group0_aic", biu())};
}

}  // namespace msprof::fuzz
