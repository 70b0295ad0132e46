// Host records off the wire. For the host join. Source: cann_host.md 1.8.
#pragma once

#include <array>
#include <string_view>

#include "import/cann/host_streams.hpp"
#include "import/cann/join/host_records.hpp"

namespace msprof::cann {

template <typename Record>
struct Decoded {
  std::uint32_t thread = 0;
  Record value;
  std::string_view why_impossible;  // empty: it is sound
};

using ContextBuffer = std::array<std::uint32_t, kMostContexts>;

CopyInfo decode_copy(const StreamRecord& record);
Decoded<NodeBasicInfo> decode_basic(const StreamRecord& record);
Decoded<NodeAttribute> decode_attribute(const StreamRecord& record);
// Points into the record.
Decoded<TensorList> decode_tensors(const StreamRecord& record);
// Points into the buffer.
Decoded<ContextIds> decode_contexts(const StreamRecord& record, ContextBuffer& buffer);
Decoded<CommTaskInfo> decode_comm_task(const StreamRecord& record);
Decoded<CommOpInfo> decode_comm_op(const StreamRecord& record);
Decoded<FusionOpInfoWire> decode_fusion(const StreamRecord& record);

}  // namespace msprof::cann
