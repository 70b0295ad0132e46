// Records of aicore.data and aiVectorCore.data: the counters of tasks on chips 0 to 4.
// For join_devices(). Sources: cann_device.md 7.1, 7.4.
#pragma once

#include "import/cann/join/device_log.hpp"
#include "import/cann/record_stream.hpp"

namespace msprof::cann {

RecordFormat aicore_format();       // chips 1 to 4
RecordFormat event_count_format();  // chip 0

struct AicoreRecord {
  unsigned counter = 0;  // rolling, 4 bit
  std::uint16_t stream = 0;
  std::uint16_t task_number = 0;
  CoreCounters values;
};

AicoreRecord read_aicore_record(const StreamRecord& record);
AicoreRecord read_event_count(const StreamRecord& record);

}  // namespace msprof::cann
