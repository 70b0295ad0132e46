// Streams of device records that tasks are made of: the collection of their files, and the contents
// of a decoded record. device_streams.cpp has the table of them; device_wire.hpp the records. For
// CannImport, ts_track, lpm_freq, the AI CPU kinds and join_devices().
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "import/cann/join/device_log.hpp"
#include "import/cann/record_stream.hpp"
#include "session/cann_info.hpp"
#include "wire/cann/device_wire.hpp"

namespace msprof::cann {

// The task ids of a stream began again (tag 14).
struct StreamFlip {
  std::uint64_t ticks = 0;
  std::uint16_t stream = 0;
  std::uint16_t flip_number = 0;  // 65535: the stream was destroyed
  std::uint16_t task_number = 0;
};

// Blocks of a task known at launch only (tag 15).
struct TaskBlocks {
  std::uint64_t ticks = 0;
  // As the hardware writes them: stars_ids() or unique_task_id() is the reader's.
  std::uint16_t stream = 0;
  std::uint16_t task_number = 0;
  std::uint16_t block_num = 0;
  std::uint16_t mix_ratio = 0;
};

// A state of a task as the task scheduler saw it (tag 12; chip 310: tag 3).
struct TaskState {
  std::uint64_t ticks = 0;
  std::uint16_t stream = 0;
  std::uint16_t task_number = 0;
  std::uint16_t task_type = 0;
  std::uint16_t state =
      0;  // tag 12: 0 received, 1 start, 2 end; tag 3: 1 waiting, 2 running, 3 complete, 4 pending
};

// An asynchronous copy as the scheduler of a 910 saw it (tag 11, CANN 5).
struct CopyState {
  std::uint64_t ticks = 0;
  std::uint16_t stream = 0;
  std::uint16_t task_number = 0;
  std::uint8_t state = 0;  // 0 received, 1 start, 2 end
};

// Records of ts_track.data about tasks (cann_device.md 3), small beside the tasks themselves.
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

// The records that the tasks of one device are made of.
struct DeviceInputs {
  // Streams of tasks and their counters; empty: no such file, or not of this chip.
  std::optional<RecordStream> stars_soc;
  std::optional<RecordStream> hwts;
  std::optional<RecordStream> hwts_vector;  // hwts.aiv_data
  std::optional<RecordStream> ffts_profile;
  std::optional<RecordStream> aicore;
  std::optional<RecordStream> aicore_vector;  // aiVectorCore.data
  std::vector<AicoreRecord> event_counts;     // of a 310, in the order of the file
  TsTrackRecords ts_track;
  // Streams of CCU tasks by number, where the numbers are unique; filled by the join.
  std::map<std::uint32_t, std::uint32_t> ccu_streams;
  // Frequency changes of the AI cores (lpmFreqConv.data, lpmInfoConv.data): ticks and MHz, by
  // ticks; empty: the frequency of info.json holds throughout (cann_device.md 10).
  std::vector<std::pair<std::uint64_t, std::uint32_t>> frequencies;
  // Records of the AI CPUs about their nodes, in file order; the rows lack op_name_id and an id.
  std::vector<AicpuNodeRow> aicpu_nodes;
};

// Whether the counters in the files of a stem are sampled over time, not taken task by task: then
// they are no stream of tasks, and core_samples.cpp reads them.
bool is_sampled_over_time(const Info& info, std::string_view stem);

// A part of a fused task of V6 chips starts or ends on an engine.
struct FusionLog {
  std::uint64_t ticks = 0;
  std::uint32_t task_number = 0;
  std::uint16_t engine = 0;  // FusionPartRow::engine, and above 5 bits the mission
  std::uint16_t acc_id = 0;
  bool is_start = false;
};

// A record of stars_soc or hwts.
struct LogRecord {
  enum class What { task, fusion, other, unknown };
  What what = What::unknown;
  unsigned function = 0;  // stars_soc: StarsFunction or another of cann_device.md 5.1
  unsigned counter = 0;   // rolling, 4 bit
  unsigned type = 0;      // SQE type or sub task type
  bool is_sub_task = false;
  DeviceLog log;     // of a task; without type_name_id
  FusionLog fusion;  // of a part of a fused task
};

// `expanded`: see stars_ids().
LogRecord read_stars_log(const StreamRecord& record, bool expanded);
LogRecord read_stars_log_v6(const StreamRecord& record);
LogRecord read_hwts_log(const StreamRecord& record);

// A record of ffts_profile.
struct FftsRecord {
  enum class What {
    task,
    block,        // of a MIX task, on its secondary cores
    other_block,  // any other: its counters are in those of the task
    other_core,   // of a MIX task of V6 chips, not of its main cores
    block_run,    // one block of a task of V6 chips
    unknown
  };
  What what = What::unknown;
  unsigned counter = 0;  // rolling, 4 bit
  bool overflowed = false;
  TaskCounters task;
  BlockCounters block;  // of other_core, too
  BlockRun run;
};

FftsRecord read_ffts_record(const StreamRecord& record, bool expanded);
FftsRecord read_pmu_v6(const StreamRecord& record);

AicoreRecord read_aicore_record(const StreamRecord& record);  // chips 1 to 4
// Chip 0; the bytes of one record.
AicoreRecord read_event_count(std::span<const std::byte> record);

// Names of what a device ran; empty for a number without a name.
std::string_view sqe_type_name(ChipFamily family, unsigned number);
std::string_view sub_task_type_name(unsigned number);
// What the scheduler of a 310 calls its tasks in its time line.
std::string_view runtime_task_type_name(unsigned number);

}  // namespace msprof::cann
