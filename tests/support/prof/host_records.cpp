#include "support/prof/host_records.hpp"

#include <stdexcept>

#include "support/prof/wire.hpp"

namespace msprof::test::prof {

void Wire::throw_outside(std::size_t at) {
  throw std::out_of_range("no field at byte " + std::to_string(at));
}

namespace {

// Types of node records.
constexpr std::uint32_t kBasicType = 0, kTensorType = 1, kFusionType = 2, kContextType = 4,
                        kAttrType = 9, kHcclOpType = 10;

Wire record(std::size_t size, std::uint16_t level, std::uint32_t type, std::uint32_t thread,
            std::uint32_t length, std::uint64_t time) {
  Wire wire(size);
  wire.u16(0, kHostMagic).u16(2, level).u32(4, type).u32(8, thread).u32(12, length).u64(16, time);
  return wire;
}

}  // namespace

std::string bytes(const Api& api) {
  return record(40, api.level, api.type, api.thread, api.request, api.begin)
      .u64(24, api.end)
      .u64(32, api.item)
      .take();
}

std::string bytes(const NodeBasic& node) {
  return record(64, kNode, kBasicType, node.thread, 29, node.time)
      .u64(24, node.op_name)
      .u32(32, node.task_type)
      .u64(36, node.op_type)
      .u16(44, node.blocks)
      .u16(46, node.mix_ratio)
      .u32(48, node.op_flag)
      .take();
}

std::string bytes(const NodeAttr& node) {
  return record(64, kNode, kAttrType, node.thread, 20, node.time)
      .u64(24, node.op_name)
      .u32(32, node.attr_type)
      .u64(36, node.attr)
      .take();
}

std::string bytes(const TaskTrack& track) {
  Wire wire = record(64, kRuntime, 802, track.thread, track.has_launch_info ? 40 : 24, track.time);
  wire.u16(24, track.device).u16(26, track.stream).u16(28, track.task).u16(30, track.batch);
  wire.u64(32, track.task_type).u64(40, track.kernel_name);
  if (track.has_launch_info) wire.u16(48, track.blocks).u16(50, 64).u8(52, track.mix_ratio);
  return wire.take();
}

std::string bytes(const MemcpyInfo& copy) {
  return record(64, kRuntime, 806, copy.thread, 18, copy.time)
      .u64(24, copy.size)
      .u64(32, copy.max_size)
      .u16(40, copy.direction)
      .take();
}

std::string bytes(const HcclOp& op) {
  return record(64, kNode, kHcclOpType, op.thread, 26, op.time)
      .u8(24, op.flags)
      .u8(25, op.data_type)
      .u64(26, op.algorithm)
      .u64(34, op.count)
      .u64(42, op.group)
      .take();
}

std::string bytes(const CaptureStream& stream) {
  return record(64, kRuntime, 807, stream.thread, 10, stream.time)
      .u16(24, stream.status)
      .u16(26, stream.model_stream)
      .u16(28, stream.original_stream)
      .u16(30, stream.model)
      .u16(32, stream.device)
      .take();
}

std::string bytes(const TensorInfo& info) {
  Wire wire = record(256, kNode, kTensorType, info.thread, 232, info.time);
  wire.u64(24, info.op_name).u32(32, info.tensors.size());
  std::size_t at = 36;
  for (const Tensor& tensor : info.tensors) {
    wire.u32(at, tensor.type).u32(at + 4, tensor.format).u32(at + 8, tensor.data_type);
    wire.u32s(at + 12, tensor.shape);
    at += 44;
  }
  return wire.take();
}

std::string bytes(const GraphIdMap& map) {
  return record(256, kModel, 0, map.thread, 16, map.time)
      .u64(24, map.model_name)
      .u32(32, map.graph)
      .u32(36, map.model)
      .take();
}

std::string bytes(const FusionOp& op) {
  return record(256, kNode, kFusionType, op.thread, 116, op.time)
      .u64(24, op.op_name)
      .u32(32, op.fused.size())
      .u64(36, op.input)
      .u64(44, op.output)
      .u64(52, op.weight)
      .u64(60, op.workspace)
      .u64(68, op.total)
      .u64s(76, op.fused)
      .take();
}

std::string bytes(const ContextId& context) {
  return record(256, context.level, kContextType, context.thread, 232, context.time)
      .u64(24, context.op_name)
      .u32(32, context.ids.size())
      .u32s(36, context.ids)
      .take();
}

std::string bytes(const HcclInfo& info) {
  return record(256, kHccl, 0x010003, info.thread, 120, info.time)
      .u64(24, info.item)
      .u64(32, info.tag)
      .u64(40, info.group)
      .u32(48, info.local_rank)
      .u32(52, info.remote_rank)
      .u32(56, info.rank_size)
      .u32(64, info.plane)
      .u32(68, info.context)
      .u64(72, info.notify)
      .f64(88, info.estimated_us)
      .u64(96, 0x1000000)
      .u64(104, 0x2000000)
      .u64(112, info.size)
      .u32(124, info.data_type)
      .u32(128, info.link)
      .u32(132, info.transport)
      .u32(136, info.rdma)
      .take();
}

}  // namespace msprof::test::prof
