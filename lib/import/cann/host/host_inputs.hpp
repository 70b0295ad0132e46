// HostInputs: the streams of host records that the call tree joins. For CannImport.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "import/cann/join/host_task_store.hpp"
#include "import/cann/join/op_table.hpp"
#include "import/cann/record_stream.hpp"

namespace msprof::cann {

struct HostInputs {
  HostInputs();

  RecordStream api_event;
  RecordStream task_track;
  RecordStream node_basic_info;
  RecordStream node_attr_info;
  RecordStream tensor_info;
  RecordStream context_id_info;
  RecordStream fusion_op_info;
  RecordStream memcpy_info;
  RecordStream hccl_info;
  RecordStream hccl_op_info;
  RecordStream capture_stream_info;

  // Hashes of the names of models, by the runtime's number (graph_id_map).
  std::map<std::uint32_t, std::uint64_t> model_names;
  // The operators of the host tasks, once join_host() has run; null: there are none.
  std::unique_ptr<OpTable> ops;
};

}  // namespace msprof::cann
