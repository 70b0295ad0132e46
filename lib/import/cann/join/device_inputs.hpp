// DeviceInputs: the records that the tasks of one device are made of. For CannImport.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "import/cann/record_stream.hpp"
#include "import/cann/ts_track_records.hpp"

namespace msprof::cann {

struct DeviceInputs {
  // What tasks and their counters are read from; empty: no such file, or not of this chip.
  std::optional<RecordStream> stars_soc;
  std::optional<RecordStream> hwts;
  std::optional<RecordStream> hwts_vector;  // hwts.aiv_data
  std::optional<RecordStream> ffts_profile;
  std::optional<RecordStream> aicore;
  std::optional<RecordStream> aicore_vector;  // aiVectorCore.data
  TsTrackRecords ts_track;
  // Frequency changes of the AI cores (lpmFreqConv.data, lpmInfoConv.data): ticks and MHz, by
  // ticks; empty: the frequency of info.json holds throughout (cann_device.md 10).
  std::vector<std::pair<std::uint64_t, std::uint32_t>> frequencies;
  // What the AI CPUs said about their nodes, in file order; the rows want op_name_id and an id.
  std::vector<AicpuNodeRow> aicpu_nodes;
};

}  // namespace msprof::cann
