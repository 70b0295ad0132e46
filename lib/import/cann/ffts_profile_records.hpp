// Records of ffts_profile.data: the counters of tasks and of their blocks on STARS chips.
// For join_devices(). Sources: cann_device.md 6.1, 6.2.
#pragma once

#include "import/cann/join/device_log.hpp"
#include "import/cann/record_stream.hpp"

namespace msprof::cann {

RecordFormat ffts_profile_format();

struct FftsRecord {
  enum class What {
    task,
    block,        // of a MIX task, on its secondary cores
    other_block,  // any other: its counters are in those of the task
    unknown
  };
  What what = What::unknown;
  unsigned counter = 0;  // rolling, 4 bit
  bool overflowed = false;
  TaskCounters task;
  BlockCounters block;
};

// `expanded`: see stars_ids().
FftsRecord read_ffts_record(const StreamRecord& record, bool expanded);

}  // namespace msprof::cann
