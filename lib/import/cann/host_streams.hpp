// Streams of host records that are joined into the call tree. To add one, define its struct in
// host_wire.hpp, add a row here, and add its rule to the association. Source: cann_host.md 1.4,
// 1.6, 1.10.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "import/cann/captured_ops.hpp"
#include "import/cann/op_table.hpp"
#include "import/cann/record_stream.hpp"
#include "wire/cann/host_wire.hpp"

namespace msprof::cann {

// Order in which records with equal times are processed: a record precedes the task that needs it,
// and the call at whose start it was written. Streams after api_event are read completely before
// the others.
enum class HostStream : std::size_t {
  memcpy_info,
  task_track,
  node_basic_info,
  node_attr_info,
  tensor_info,
  context_id_info,
  hccl_info,
  hccl_op_info,
  fusion_op_info,
  memmng_info,
  memcpy_ext_info,
  memset_info,
  api_event,
  capture_stream_info,
  capture_stream_info_v2,
  task_track_v2,
};

struct HostStreamInfo {
  HostStream stream;
  std::string_view stem;    // file stem (cann_files.hpp), also the kind's name in reports
  std::size_t bytes;        // bytes per record
  std::string_view orphan;  // how a record that belongs to no call is reported; empty if it needs
                            // no call
};

template <typename Wire, std::size_t kBytes>
constexpr HostStreamInfo host_stream(HostStream stream, std::string_view stem,
                                     std::string_view orphan = {}) {
  static_assert(sizeof(Wire) <= kBytes);
  return {stream, stem, kBytes, orphan};
}

inline constexpr std::string_view kOutsideLevel = "outside all calls of its level";

// Indexed by HostStream.
inline constexpr HostStreamInfo kHostStreams[] = {
    host_stream<MemcpyInfoWire, 64>(HostStream::memcpy_info, "memcpy_info"),
    host_stream<TaskTrackWire, 64>(HostStream::task_track, "task_track",
                                   "communication task outside all node calls"),
    host_stream<NodeBasicInfoWire, 64>(HostStream::node_basic_info, "node_basic_info",
                                       kOutsideLevel),
    host_stream<NodeAttrInfoWire, 64>(HostStream::node_attr_info, "node_attr_info", kOutsideLevel),
    host_stream<TensorInfoWire, 256>(HostStream::tensor_info, "tensor_info", kOutsideLevel),
    host_stream<ContextIdInfoWire, 256>(HostStream::context_id_info, "context_id_info",
                                        kOutsideLevel),
    host_stream<HcclInfoWire, 256>(HostStream::hccl_info, "hccl_info", kOutsideLevel),
    host_stream<HcclOpInfoWire, 64>(HostStream::hccl_op_info, "hccl_op_info", kOutsideLevel),
    host_stream<FusionOpInfoWire, 256>(HostStream::fusion_op_info, "fusion_op_info", kOutsideLevel),
    host_stream<MemmngInfoWire, 64>(HostStream::memmng_info, "memmng_info"),
    host_stream<MemcpyExtInfoWire, 64>(HostStream::memcpy_ext_info, "memcpy_ext_info"),
    host_stream<MemsetInfoWire, 64>(HostStream::memset_info, "memset_info"),
    host_stream<ApiEventWire, 40>(HostStream::api_event, "api_event"),
    host_stream<CaptureStreamInfoWire, 64>(HostStream::capture_stream_info, "capture_stream_info"),
    host_stream<CaptureStreamInfoV2Wire, 64>(HostStream::capture_stream_info_v2,
                                             "capture_stream_info_v2"),
    host_stream<TaskTrackV2Wire, 64>(HostStream::task_track_v2, "task_track_v2"),
};
inline constexpr std::size_t kHostStreamCount = std::size(kHostStreams);

constexpr const HostStreamInfo& host_stream_info(HostStream stream) {
  return kHostStreams[static_cast<std::size_t>(stream)];
}

RecordFormat host_record_format(HostStream stream);

struct HostInputs {
  HostInputs();
  ~HostInputs();
  HostInputs(const HostInputs&) = delete;
  HostInputs& operator=(const HostInputs&) = delete;

  RecordStream& operator[](HostStream stream) { return streams[static_cast<std::size_t>(stream)]; }

  std::vector<RecordStream> streams;  // by HostStream
  // Name hashes of models, by the runtime's model number (graph_id_map).
  std::map<std::uint32_t, std::uint64_t> model_names;
  CapturedOps captured_ops;
  // Name hashes of data unit kernels, by device and task (task_track).
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::uint64_t> dpu_kernels;
  // Operators of the host tasks; set by join_host(), null if there are none.
  std::unique_ptr<OpTable> ops;
};

}  // namespace msprof::cann
