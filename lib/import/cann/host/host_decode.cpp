#include "import/cann/host/host_decode.hpp"

#include <algorithm>
#include <cstddef>

#include "import/cann/slice_kind.hpp"

namespace msprof::cann {

CopyInfo decode_copy(const StreamRecord& record) {
  constexpr std::uint32_t kLastDirection = 7;
  constexpr std::uint32_t kOther = 65535;
  const auto wire = decode<MemcpyInfoWire>(record.bytes);
  return {record.time, wire.bytes, wire.most_bytes_per_task, wire.head.thread,
          wire.direction <= kLastDirection ? std::uint32_t{wire.direction} : kOther};
}

Decoded<NodeBasicInfo> decode_basic(const StreamRecord& record) {
  const auto wire = decode<NodeBasicInfoWire>(record.bytes);
  return {wire.head.thread,
          {record.sequence, wire.name, wire.type, wire.task_type, wire.blocks, wire.flag != 0,
           !record.is_unaging},
          {}};
}

Decoded<NodeAttribute> decode_attribute(const StreamRecord& record) {
  const auto wire = decode<NodeAttrInfoWire>(record.bytes);
  return {wire.head.thread, {record.sequence, wire.name, wire.attribute}, {}};
}

Decoded<TensorList> decode_tensors(const StreamRecord& record) {
  const auto wire = decode<TensorInfoWire>(record.bytes);
  Decoded<TensorList> decoded;
  decoded.thread = wire.head.thread;
  if (wire.tensor_count > kMostTensors) {
    decoded.why_impossible = "more than 5 tensors";
    return decoded;
  }
  decoded.value.sequence = record.sequence;
  decoded.value.name_hash = wire.name;
  decoded.value.tensors = record.bytes.subspan(offsetof(TensorInfoWire, tensors),
                                               wire.tensor_count * sizeof(TensorWire));
  return decoded;
}

Decoded<ContextIds> decode_contexts(const StreamRecord& record, ContextBuffer& buffer) {
  const auto wire = decode<ContextIdInfoWire>(record.bytes);
  Decoded<ContextIds> decoded;
  decoded.thread = wire.head.thread;
  decoded.value.sequence = record.sequence;
  decoded.value.name_hash = wire.name;
  decoded.value.level = wire.head.level;
  const bool is_range = wire.head.level == host_level::kCommunication;
  if (!is_range && wire.head.level != host_level::kNode) {
    decoded.why_impossible = "unknown level";
  } else if (wire.count > kMostContexts) {
    decoded.why_impossible = "more than 55 contexts";
  } else if (is_range &&
             (wire.count != 2 || wire.ids[0] > wire.ids[1] || wire.ids[1] > UINT16_MAX)) {
    // Context ids have 16 bits.
    decoded.why_impossible = "impossible range of contexts";
  } else {
    for (std::uint32_t i = 0; i < wire.count; ++i) buffer[i] = wire.ids[i];
    decoded.value.ids = std::span<const std::uint32_t>(buffer).first(wire.count);
  }
  return decoded;
}

Decoded<CommTaskInfo> decode_comm_task(const StreamRecord& record) {
  const auto wire = decode<HcclInfoWire>(record.bytes);
  Decoded<CommTaskInfo> decoded;
  decoded.thread = wire.head.thread;
  CommTaskInfo& info = decoded.value;
  info.sequence = record.sequence;
  info.item_hash = wire.item;
  info.group_hash = wire.group;
  info.notify_id = wire.notify_id;
  info.size_bytes = wire.size_bytes;
  info.duration_estimated_us = wire.duration_estimated_us;
  info.context = wire.context;
  info.local_rank = wire.local_rank;
  info.remote_rank = wire.remote_rank;
  info.rank_size = wire.rank_size;
  info.plane_id = wire.plane_id;
  info.data_type = wire.data_type;
  info.link_type = wire.link_type;
  info.transport_type = wire.transport_type;
  info.rdma_type = wire.rdma_type;
  return decoded;
}

Decoded<CommOpInfo> decode_comm_op(const StreamRecord& record) {
  const auto wire = decode<HcclOpInfoWire>(record.bytes);
  return {wire.head.thread,
          {record.sequence, wire.algorithm, wire.count, wire.group, wire.data_type,
           (wire.flags & kRelayFlag) != 0, (wire.flags & kRetryFlag) != 0},
          {}};
}

Decoded<FusionOpInfoWire> decode_fusion(const StreamRecord& record) {
  Decoded<FusionOpInfoWire> decoded;
  decoded.value = decode<FusionOpInfoWire>(record.bytes);
  decoded.thread = decoded.value.head.thread;
  if (decoded.value.count > kMostFusedOps) decoded.why_impossible = "more than 8 fused operators";
  return decoded;
}

}  // namespace msprof::cann
