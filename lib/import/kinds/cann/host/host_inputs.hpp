// HostInputs: the streams of host records that the call tree joins. For CannImport.
#pragma once

#include "associate/host_task_store.hpp"
#include "import/kinds/cann/record_stream.hpp"

namespace msprof::cann {

struct HostInputs {};

}  // namespace msprof::cann
