// Records of stars_soc.data: when STARS chips (5, 7, 8, 11) began and ended a task.
// For join_devices(). Sources: cann_device.md 5.1 … 5.4, cann_corrections.md B2, J-A3.
#pragma once

#include <cstdint>

#include "import/cann/join/device_log.hpp"
#include "import/cann/join/device_types.hpp"
#include "import/cann/record_stream.hpp"

namespace msprof::cann {

RecordFormat stars_soc_format();

struct StarsLog {
  enum class What { task, other, unknown };
  What what = What::unknown;
  unsigned function = 0;
  unsigned counter = 0;  // rolling, 4 bit
  DeviceLog log;         // of a task; without type_name_id
  unsigned type = 0;     // SQE type or sub task type
  bool is_sub_task = false;
};

// `expanded`: see stars_ids().
StarsLog read_stars_log(const StreamRecord& record, bool expanded);

}  // namespace msprof::cann
