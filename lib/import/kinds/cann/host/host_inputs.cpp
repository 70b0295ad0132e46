#include "import/kinds/cann/host/host_inputs.hpp"

#include "import/kinds/cann/api_event/api_event_records.hpp"
#include "import/kinds/cann/capture_stream_info/capture_stream_info_records.hpp"
#include "import/kinds/cann/context_id_info/context_id_info_records.hpp"
#include "import/kinds/cann/fusion_op_info/fusion_op_info_records.hpp"
#include "import/kinds/cann/hccl_info/hccl_info_records.hpp"
#include "import/kinds/cann/hccl_op_info/hccl_op_info_records.hpp"
#include "import/kinds/cann/memcpy_info/memcpy_info_records.hpp"
#include "import/kinds/cann/node_attr_info/node_attr_info_records.hpp"
#include "import/kinds/cann/node_basic_info/node_basic_info_records.hpp"
#include "import/kinds/cann/task_track/task_track_records.hpp"
#include "import/kinds/cann/tensor_info/tensor_info_records.hpp"

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
