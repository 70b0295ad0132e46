#include "support/prof/device_records.hpp"

#include "support/prof/host_records.hpp"
#include "support/prof/wire.hpp"

namespace msprof::test::prof {

namespace {

std::uint64_t head(unsigned function, unsigned count, unsigned sqe_type) {
  return function | (count & 15u) << 6 | sqe_type << 10;
}

// The 40 bytes of ts_track.data of all chips except the 310.
Wire track(std::uint8_t tag, std::uint64_t time) {
  Wire wire(40);
  wire.u8(0, 1).u8(1, tag).u16(2, 40).u64(8, time);
  return wire;
}

}  // namespace

std::string bytes(const AcsqLog& log) {
  return Wire(64)
      .u16(0, head(log.is_end ? 1 : 0, log.count, log.sqe_type))
      .u16(2, kDeviceMagic)
      .u16(4, log.stream)
      .u16(6, log.task)
      .u64(8, log.time)
      .take();
}

std::string bytes(const FftsLog& log) {
  return Wire(64)
      .u16(0, head(log.is_end ? 35 : 34, log.count, log.sqe_type))
      .u16(2, kDeviceMagic)
      .u16(4, log.stream)
      .u16(6, log.task)
      .u64(8, log.time)
      .u16(16, log.subtask_type)
      .u16(18, log.context)
      .u16(20, unsigned{log.ffts_type} << 13)
      .u16(22, log.thread)
      .take();
}

std::string bytes(const ContextPmu& pmu) {
  return Wire(128)
      .u16(0, head(40, pmu.count, 0))
      .u16(2, kDeviceMagic)
      .u16(4, pmu.stream)
      .u16(6, pmu.task)
      .u16(16, pmu.subtask_type)
      .u16(18, pmu.context)
      .u16(20, unsigned{pmu.ffts_type} << 13)
      .u64(32, pmu.cycles)
      .u64s(48, pmu.counters)
      .u64(112, pmu.start)
      .u64(120, pmu.end)
      .take();
}

std::string bytes(const BlockPmu& pmu) {
  return Wire(128)
      .u16(0, head(41, pmu.count, 0))
      .u16(2, kDeviceMagic)
      .u16(4, pmu.stream)
      .u16(6, pmu.task)
      .u16(16, pmu.subtask_type)
      .u16(18, pmu.context)
      .u8(20, (pmu.is_aiv ? 1u : 0u) | unsigned{pmu.core} << 1)
      .u8(21, unsigned{pmu.ffts_type} << 5)
      .u16(28, pmu.sub_block)
      .u16(30, pmu.block)
      .u64(32, pmu.cycles)
      .u64s(48, pmu.counters)
      .u64(112, pmu.start)
      .u64(120, pmu.end)
      .take();
}

std::string bytes(const LogV6& log) {
  return Wire(32)
      .u16(0, head(log.function + (log.is_end ? 1u : 0u), log.count, log.sqe_type))
      .u16(2, kDeviceMagic)
      .u32(4, log.task)
      .u64(8, log.time)
      .take();
}

std::string bytes(const PmuV6& pmu) {
  return Wire(128)
      .u16(0, head(42, pmu.count, 0))
      .u16(2, kDeviceMagic)
      .u32(4, pmu.task)
      .u64(8, pmu.cycles)
      .u8(17, (pmu.is_master ? 1u : 0u) | (pmu.is_mix ? 2u : 0u) | (pmu.has_overflow ? 4u : 0u))
      .u8(20, pmu.is_aiv ? 1 : 0)
      .u8(21, pmu.core)
      .u64s(32, pmu.counters)
      .u64(112, pmu.start)
      .u64(120, pmu.end)
      .take();
}

std::string bytes(const HwtsLog& log) {
  return Wire(64)
      .u8(0, (log.is_end ? 1u : 0u) | (log.count & 15u) << 4)
      .u8(1, log.sqe_type)
      .u16(2, kDeviceMagic)
      .u16(6, log.task)
      .u64(8, log.time)
      .u32(16, log.stream)
      .take();
}

std::string bytes(const CorePmu& pmu) {
  return Wire(128)
      .u8(0, (pmu.count & 15u) << 4)
      .u16(2, kDeviceMagic)
      .u16(6, pmu.task)
      .u64(16, pmu.cycles)
      .u64s(32, pmu.counters)
      .u32(96, pmu.stream)
      .take();
}

std::string bytes(const StepTrace& step) {
  return track(10, step.time)
      .u64(16, step.index)
      .u64(24, step.model)
      .u16(32, step.stream)
      .u16(34, step.task)
      .u16(36, step.tag)
      .take();
}

std::string bytes(const StepTraceV6& step) {
  return track(10, step.time)
      .u64(16, step.index)
      .u64(24, step.model)
      .u16(32, step.tag)
      .u16(34, step.stream)
      .u32(36, step.task)
      .take();
}

std::string bytes(const TsMemcpy& copy) {
  return track(11, copy.time).u16(16, copy.stream).u16(18, copy.task).u8(20, copy.state).take();
}

std::string bytes(const TsTaskType& state) {
  return track(12, state.time)
      .u16(16, state.stream)
      .u16(18, state.task)
      .u16(20, state.task_type)
      .u8(22, state.state)
      .take();
}

std::string bytes(const TsFlip& flip) {
  return track(14, flip.time).u16(16, flip.stream).u16(18, flip.number).u16(22, flip.task).take();
}

std::string bytes(const TsBlocks& blocks) {
  return track(15, blocks.time)
      .u16(16, blocks.stream)
      .u16(18, blocks.task)
      .u16(20, blocks.blocks)
      .u16(22, blocks.mix_ratio)
      .take();
}

std::string bytes(const AicpuNode& node) {
  return Wire(256)
      .u16(0, kHostMagic)
      .u16(2, kAicpu)
      .u32(4, 0)
      .u32(8, 1)
      .u32(12, 232)
      .u64(16, node.end)
      .u16(24, node.stream)
      .u16(26, node.task)
      .u64(40, node.start)
      .u64(48, node.compute_start_us)
      .u64(56, node.memcpy_start_us)
      .u64(64, node.memcpy_end_us)
      .u64(80, node.end)
      .u64(96, node.submit)
      .u64(120, node.after_run)
      .u32(132, node.dispatch_us)
      .take();
}

std::string bytes(const OldAicpuNode& old) {
  return Wire(128)
      .u16(0, kHostMagic)
      .u16(2, 60)
      .u16(4, old.node.stream)
      .u16(6, old.node.task)
      .u64(16, old.node.start)
      .u64(24, old.node.compute_start_us)
      .u64(32, old.node.memcpy_start_us)
      .u64(40, old.node.memcpy_end_us)
      .u64(56, old.node.end)
      .u64(72, old.node.submit)
      .u64(96, old.node.after_run)
      .u32(108, old.node.dispatch_us)
      .take();
}

std::string bytes(const DataQueue& queue) {
  return Wire(128)
      .u16(0, kHostMagic)
      .u16(2, 100)
      .u64(8, queue.time_us)
      .text(16, 16, queue.action)
      .text(32, 64, queue.source)
      .u64(96, queue.index)
      .u64(104, queue.size)
      .take();
}

std::string bytes(const L2Cache& cache) {
  return Wire(72)
      .u16(0, cache.task_type)
      .u16(2, cache.stream)
      .u16(4, cache.task)
      .u64s(8, cache.events)
      .take();
}

std::string bytes(const LpmInfo& info) {
  Wire wire(888);
  wire.u32(0, info.changes.size()).u32(4, info.type);
  std::size_t at = 8;
  for (const auto& [ticks, value] : info.changes) {
    wire.u64(at, ticks).u32(at + 8, value);
    at += 16;
  }
  return wire.take();
}

std::string bytes(const LpmFreq& frequency) {
  return bytes(LpmInfo{0, frequency.changes});
}

std::string bytes(const TimeLine& line) {
  return Wire(32)
      .u8(0, 1)
      .u8(1, 3)
      .u16(2, 32)
      .u16(8, line.task_type)
      .u16(10, line.state)
      .u16(12, line.stream)
      .u16(14, line.task)
      .u64(16, line.time)
      .u32(24, line.thread)
      .u32(28, line.device)
      .take();
}

std::string bytes(const EventCount& count) {
  return Wire(count.length)
      .u8(0, 1)
      .u8(1, 4)
      .u16(2, count.length)
      .u16(8, count.task_type)
      .u16(10, count.stream)
      .u16(12, count.task)
      .u16(14, count.overflow)
      .u64s(24, count.counters)
      .u64(88, count.cycles)
      .u64(96, count.time)
      .u16(104, count.blocks)
      .take();
}

}  // namespace msprof::test::prof
