#include "import/cann/host/host_inputs.hpp"

#include "import/cann/api_event_records.hpp"
#include "import/cann/capture_stream_info_records.hpp"
#include "import/cann/context_id_info_records.hpp"
#include "import/cann/fusion_op_info_records.hpp"
#include "import/cann/hccl_info_records.hpp"
#include "import/cann/hccl_op_info_records.hpp"
#include "import/cann/memcpy_info_records.hpp"
#include "import/cann/node_attr_info_records.hpp"
#include "import/cann/node_basic_info_records.hpp"
#include "import/cann/task_track_records.hpp"
#include "import/cann/tensor_info_records.hpp"

namespace msprof::cann {

HostInputs::HostInputs()
    : api_event(kApiEventFormat),
      task_track(kTaskTrackFormat),
      node_basic_info(kNodeBasicInfoFormat),
      node_attr_info(kNodeAttrInfoFormat),
      tensor_info(kTensorInfoFormat),
      context_id_info(kContextIdInfoFormat),
      fusion_op_info(kFusionOpInfoFormat),
      memcpy_info(kMemcpyInfoFormat),
      hccl_info(kHcclInfoFormat),
      hccl_op_info(kHcclOpInfoFormat),
      capture_stream_info(kCaptureStreamInfoFormat) {}

}  // namespace msprof::cann
