#include "support/prof/other_host_records.hpp"

#include "support/prof/wire.hpp"

namespace msprof::test::prof {

namespace {

Wire additional(std::uint16_t level, std::uint32_t type, std::uint32_t thread, std::uint32_t length,
                std::uint64_t time) {
  Wire wire(256);
  wire.u16(0, kHostMagic).u16(2, level).u32(4, type).u32(8, thread).u32(12, length).u64(16, time);
  return wire;
}

}  // namespace

std::string bytes(const TxMark& mark) {
  return additional(kTx, 0, mark.thread, 232, mark.begin)
      .u16(24, mark.is_ex ? 1 : 0)
      .u16(26, mark.segment)
      .u16(32, kHostMagic)
      .u16(34, 120)
      .u32(36, mark.process)
      .u32(40, mark.thread)
      .u32(44, mark.category)
      .u32(48, mark.event)
      .u32(52, static_cast<std::uint32_t>(mark.payload_type))
      .u64(56, mark.payload)
      .u64(64, mark.begin)
      .u64(72, mark.end)
      .u64(80, mark.mark)
      .u64(88, mark.domain)
      .u32(96, static_cast<std::uint32_t>(mark.message_type))
      .text(100, 156, mark.message)
      .take();
}

std::string bytes(const TaskMemory& memory) {
  return additional(kNode, 6, memory.thread, 48, memory.time)
      .u64(24, memory.address)
      .u64(32, static_cast<std::uint64_t>(memory.size))
      .u64(40, memory.node)
      .u64(48, memory.allocated)
      .u64(56, memory.reserved)
      .u32(64, memory.device)
      .u32(68, 20)
      .take();
}

std::string bytes(const LogicStream& stream) {
  return additional(kModel, 7, stream.thread, 232, stream.time)
      .u32(24, stream.logic)
      .u32(28, stream.physical.size())
      .u32s(32, stream.physical)
      .take();
}

std::string bytes(const Mc2Comm& comm) {
  return additional(kNode, 12, comm.thread, 64, comm.time)
      .u64(24, comm.group)
      .u32(32, comm.rank_size)
      .u32(36, comm.rank)
      .u32(40, comm.rank)
      .u32(44, comm.kfc_stream)
      .u32(48, comm.comm_streams.size())
      .u32s(52, comm.comm_streams)
      .take();
}

std::string bytes(const ExpandStream& spec) {
  Wire wire(64);
  wire.u16(0, kHostMagic).u16(2, kRuntime).u32(4, 808).u32(12, 1).u64(16, spec.time);
  return wire.u8(24, spec.status).take();
}

std::string type_line(std::uint32_t level, std::uint32_t type, std::string_view name) {
  return std::to_string(level) + "_" + std::to_string(type) + ":" + std::string(name) + "\n";
}

std::string hash_line(std::uint64_t hash, std::string_view text) {
  return std::to_string(hash) + ":" + std::string(text) + "\n";
}

}  // namespace msprof::test::prof
