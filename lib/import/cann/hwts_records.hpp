// Records of hwts.data and hwts.aiv_data: when chips 0 to 4 began and ended a task.
// For join_devices(). Sources: cann_device.md 4, cann_corrections.md A5.
#pragma once

#include "import/cann/join/device_log.hpp"
#include "import/cann/record_stream.hpp"

namespace msprof::cann {

RecordFormat hwts_format();

struct HwtsLog {
  bool is_task = false;  // else a record that says nothing about one
  unsigned counter = 0;  // rolling, 4 bit
  unsigned type = 0;     // SQE type
  DeviceLog log;         // without type_name_id
};

HwtsLog read_hwts_log(const StreamRecord& record);

}  // namespace msprof::cann
