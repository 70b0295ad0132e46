// Streams of device records from which tasks are built: collects their files and decodes their
// records. The table of streams is in device_streams.cpp, the record structs in device_wire.hpp.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "import/cann/device_log.hpp"
#include "import/cann/record_stream.hpp"
#include "session/cann_info.hpp"
#include "wire/cann/device_wire.hpp"

namespace msprof::cann {

// Wraparound of the task ids of a stream (tag 14).
struct StreamFlip {
  std::uint64_t ticks = 0;
  std::uint16_t stream = 0;
  std::uint16_t flip_number = 0;  // 65535: the stream was destroyed
  std::uint16_t task_number = 0;
};

// Number of blocks of a task, if known only at launch (tag 15).
struct TaskBlocks {
  std::uint64_t ticks = 0;
  // Raw hardware ids; convert with stars_ids() or unique_task_id().
  std::uint16_t stream = 0;
  std::uint16_t task_number = 0;
  std::uint16_t block_num = 0;
  std::uint16_t mix_ratio = 0;
};

// State of a task reported by the task scheduler (tag 12; chip 310: tag 3).
struct TaskState {
  std::uint64_t ticks = 0;
  std::uint16_t stream = 0;
  std::uint16_t task_number = 0;
  std::uint16_t task_type = 0;
  std::uint16_t state =
      0;  // tag 12: 0 received, 1 start, 2 end; tag 3: 1 waiting, 2 running, 3 complete, 4 pending
};

// State of an asynchronous copy reported by the scheduler of a 910 (tag 11, CANN 5).
struct CopyState {
  std::uint64_t ticks = 0;
  std::uint16_t stream = 0;
  std::uint16_t task_number = 0;
  std::uint8_t state = 0;  // 0 received, 1 start, 2 end
};

// Records of ts_track.data about tasks (cann_device.md 3); few compared with the tasks.
struct TsTrackRecords {
  std::vector<StreamFlip> flips;
  std::vector<TaskBlocks> blocks;
  std::vector<TaskState> states;
  std::vector<CopyState> copies;
};

// A record of aicore.data or aiVectorCore.data.
struct AicoreRecord {
  unsigned counter = 0;  // rolling, 4 bit
  std::uint16_t stream = 0;
  std::uint16_t task_number = 0;
  CoreCounters values;
};

// The records from which the tasks of one device are built.
struct DeviceInputs {
  // Task streams and counters; empty if the file is absent or belongs to another chip.
  std::optional<RecordStream> stars_soc;
  std::optional<RecordStream> hwts;
  std::optional<RecordStream> hwts_vector;  // hwts.aiv_data
  std::optional<RecordStream> ffts_profile;
  std::optional<RecordStream> aicore;
  std::optional<RecordStream> aicore_vector;  // aiVectorCore.data
  std::vector<AicoreRecord> event_counts;     // chip 310 only, in file order
  TsTrackRecords ts_track;
  // Streams of CCU tasks by task number, if task numbers are unique; filled by the join.
  std::map<std::uint32_t, std::uint32_t> ccu_streams;
  // Frequency changes of the AI cores (lpmFreqConv.data, lpmInfoConv.data) as ticks and MHz, sorted
  // by ticks. If empty, the frequency of info.json always applies (cann_device.md 10).
  std::vector<std::pair<std::uint64_t, std::uint32_t>> frequencies;
  // Records of the AI CPUs about their nodes, in file order; op_name_id and id are not set.
  std::vector<AicpuNodeRow> aicpu_nodes;
};

// Returns true if the counters in files with this stem are sampled periodically instead of per
// task. core_samples.cpp reads those files.
bool is_sampled_over_time(const Info& info, std::string_view stem);

// Decode a record of stars_soc or hwts; type_name_id is not set. `expanded`: see stars_ids().
DeviceLog read_stars_log(const StreamRecord& record, bool expanded);
DeviceLog read_stars_log_v6(const StreamRecord& record);
DeviceLog read_hwts_log(const StreamRecord& record);

// Decode a record of ffts_profile.
TaskCounters read_ffts_record(const StreamRecord& record, bool expanded);
TaskCounters read_pmu_v6(const StreamRecord& record);

AicoreRecord read_aicore_record(const StreamRecord& record);  // chips 1 to 4
// Decodes one record of chip 0.
AicoreRecord read_event_count(std::span<const std::byte> record);

// Return names of device task types; empty if a number has no name.
std::string_view sqe_type_name(ChipFamily family, unsigned number);
std::string_view sub_task_type_name(unsigned number);
// Returns the name of a task type of a 310's scheduler, as in its timeline.
std::string_view runtime_task_type_name(unsigned number);

}  // namespace msprof::cann
