#include "import/cann/device_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "import/cann/cann_import.hpp"

namespace msprof::cann {

namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint64_t bits(unsigned from, unsigned to) {
  return ((std::uint64_t{1} << (to - from + 1)) - 1) << from;
}
// Function types of known records that are not read (cann_device.md 5.1).
constexpr std::uint64_t kOtherFunctions = bits(2, 6) | bits(8, 33) | bits(36, 42);
// The same for V6 chips, including block logs (36, 37).
constexpr std::uint64_t kOtherFunctionsV6 =
    bits(2, 3) | bits(8, 15) | bits(18, 19) | bits(31, 31) | bits(36, 37) | bits(42, 42);

std::uint8_t function_type(std::uint16_t head) {
  return head & 0x3FU;
}
std::uint8_t record_counter(std::uint16_t head) {
  return (head >> 6U) & 0xFU;
}
DeviceLog::What unread(unsigned function, std::uint64_t others) {
  return (others >> function & 1) != 0 ? DeviceLog::What::other : DeviceLog::What::unknown;
}

template <std::size_t kCount>
bool are_zero(const std::uint8_t (&bytes)[kCount]) {
  return std::all_of(std::begin(bytes), std::end(bytes),
                     [](std::uint8_t byte) { return byte == 0; });
}

// Only STARS records always have the magic. Other records must have plausible fields, and the
// fields must be implausible if read one byte earlier.

bool is_stars_log(Bytes record) {
  return decode<StarsLogWire>(record).magic == kDeviceMagic;
}

bool is_stars_log_v6(Bytes record) {
  return decode<StarsLogV6Wire>(record).magic == kDeviceMagic;
}

bool is_hwts_log(Bytes record) {
  constexpr std::uint8_t kTypes = 32;  // more than exist; misread counters soon exceed it
  const auto wire = decode<HwtsWire>(record);
  if (wire.magic == kDeviceMagic) return true;
  return may_be_magic(wire.magic) && wire.task_type < kTypes && wire.syscnt != 0 &&
         wire.reserved == 0 && wire.stream_id <= UINT16_MAX && are_zero(wire.tail);
}

// Returns true if start and end form a plausible time span.
template <typename Wire>
bool has_span(const Wire& wire) {
  constexpr std::uint64_t kMaxLength = std::uint64_t{1} << 44;  // ticks
  return wire.start != 0 && wire.start <= wire.end && wire.end - wire.start < kMaxLength;
}

bool is_ffts_record(Bytes record) {
  const auto wire = decode<FftsWire>(record);
  if (wire.magic == kDeviceMagic) return true;
  const unsigned function = function_type(wire.head);
  return (function == kContextCounters || function == kBlockCounters) && has_span(wire);
}

bool is_pmu_v6(Bytes record) {
  const auto wire = decode<PmuV6Wire>(record);
  if (wire.magic == kDeviceMagic) return true;
  const unsigned function = function_type(wire.head);
  return (function == kV6Counters || function == kBlockCounters) && has_span(wire);
}

// Unused fields must be zero, and at least one counter must be non-zero.
bool is_aicore_record(Bytes record) {
  const auto wire = decode<AicoreWire>(record);
  if (wire.magic == kDeviceMagic) return true;
  std::uint64_t counted = wire.total_cycle;
  for (std::size_t slot = 0; slot < std::extent_v<decltype(wire.pmu)>; ++slot)
    counted |= wire.pmu[slot];
  return may_be_magic(wire.magic) && wire.reserved_1 == 0 && wire.reserved_4 == 0 &&
         wire.reserved_24 == 0 && wire.stream_id <= UINT16_MAX && are_zero(wire.reserved_8) &&
         are_zero(wire.tail) && counted != 0;
}

// Checks only the function type: logs of other functions are rejected.
template <unsigned... kFunctions>
bool has_function(Bytes record) {
  const unsigned function = function_type(decode<std::uint16_t>(record));
  return ((function == kFunctions) || ...);
}

std::uint64_t stars_time(Bytes record) {
  return decode<StarsLogWire>(record).syscnt;
}
std::uint64_t stars_v6_time(Bytes record) {
  return decode<StarsLogV6Wire>(record).syscnt;
}
std::uint64_t hwts_time(Bytes record) {
  return decode<HwtsWire>(record).syscnt;
}
std::uint64_t ffts_time(Bytes record) {
  return decode<FftsWire>(record).end;
}
std::uint64_t pmu_v6_time(Bytes record) {
  return decode<PmuV6Wire>(record).end;
}

constexpr RecordFormat kStarsSoc{"stars_soc",
                                 sizeof(StarsLogWire),
                                 is_stars_log,
                                 "bad magic",
                                 stars_time,
                                 true,
                                 has_function<kTaskStart, kTaskEnd, kThreadStart, kThreadEnd>};
constexpr RecordFormat kStarsSocV6{"stars_soc",
                                   sizeof(StarsLogV6Wire),
                                   is_stars_log_v6,
                                   "bad magic",
                                   stars_v6_time,
                                   true,
                                   has_function<kTaskStart, kTaskEnd, kFusionStart, kFusionEnd>};
constexpr RecordFormat kHwts{"hwts", sizeof(HwtsWire), is_hwts_log, "not a record", hwts_time};
constexpr RecordFormat kFftsProfile{"ffts_profile", sizeof(FftsWire), is_ffts_record,
                                    "not a record", ffts_time};
constexpr RecordFormat kFftsProfileV6{"ffts_profile", sizeof(PmuV6Wire), is_pmu_v6, "not a record",
                                      pmu_v6_time};
constexpr RecordFormat kAicore{"aicore", sizeof(AicoreWire), is_aicore_record, "not a record"};

struct DeviceStream {
  RecordFormat format;    // includes the name of the kind
  std::string_view stem;  // as in FileName
  ChipFamily family;
  bool is_counters;
  std::optional<RecordStream> DeviceInputs::*stream;
};

// All device streams, in the order in which their kinds run. To add one, define its record in
// device_wire.hpp, add a line here, and add its rule to join_devices().
constexpr DeviceStream kStreams[] = {
    {kStarsSoc, "stars_soc.data", ChipFamily::stars, false, &DeviceInputs::stars_soc},
    {kStarsSocV6, "stars_soc.data", ChipFamily::stars_v6, false, &DeviceInputs::stars_soc},
    {kHwts, "hwts.data", ChipFamily::hwts, false, &DeviceInputs::hwts},
    {kHwts, "hwts.aiv_data", ChipFamily::hwts, false, &DeviceInputs::hwts_vector},
    {kHwts, "hwts.data", ChipFamily::mini, false, &DeviceInputs::hwts},
    {kHwts, "hwts.aiv_data", ChipFamily::mini, false, &DeviceInputs::hwts_vector},
    {kFftsProfile, "ffts_profile.data", ChipFamily::stars, true, &DeviceInputs::ffts_profile},
    {kFftsProfileV6, "ffts_profile.data", ChipFamily::stars_v6, true, &DeviceInputs::ffts_profile},
    {kAicore, "aicore.data", ChipFamily::hwts, true, &DeviceInputs::aicore},
    {kAicore, "aiVectorCore.data", ChipFamily::hwts, true, &DeviceInputs::aicore_vector},
};

// Adds the files of one kind to their stream, which join_devices() reads.
class DeviceStreamKind : public RawKind {
 public:
  DeviceStreamKind(CannImport& import, std::string_view name) : import_(import), name_(name) {}

  std::string_view name() const override { return name_; }

  // Also accepts files of chips whose records are not read, in order to report them. Without a chip
  // the record format is unknown.
  bool owns(const RawFile& file) const override {
    if (!import_.session.chip() || import_.session.find_part(file).is_host()) return false;
    const DeviceStream* stream = find(file, [](const DeviceStream&) { return true; });
    return stream != nullptr && !(stream->is_counters && is_read_as_samples(file));
  }

  void import(const ImportContext& context, const RawFile& file) override {
    const CannPart& part = import_.session.find_part(file);
    const Chip& chip = *import_.session.chip();
    const DeviceStream* stream =
        find(file, [&](const DeviceStream& row) { return row.family == chip.family; });
    if (stream == nullptr) {
      report_other_chip(context, file, chip);
    } else {
      auto& records = import_.devices[*part.device].*(stream->stream);
      if (!records) records.emplace(stream->format);
      if (part.clock) records->limit_times(*part.clock);
      records->add(file, false);
    }
  }

 private:
  bool is_read_as_samples(const RawFile& file) const {
    return reads_tasks(import_.session.chip()->family) &&
           is_sampled_over_time(import_.session.find_part(file).info,
                                import_.session.parsed_name(file).stem);
  }

  // Returns the row of the table for a file; null if there is none.
  template <typename Fits>
  const DeviceStream* find(const RawFile& file, const Fits& fits) const {
    const std::string& stem = import_.session.parsed_name(file).stem;
    const auto* row =
        std::find_if(std::begin(kStreams), std::end(kStreams), [&](const DeviceStream& candidate) {
          return candidate.format.kind == name_ && candidate.stem == stem && fits(candidate);
        });
    return row == std::end(kStreams) ? nullptr : row;
  }

  void report_other_chip(const ImportContext& context, const RawFile& file,
                         const Chip& chip) const {
    const bool is_later = !reads_tasks(chip.family);
    context.report.add(
        is_later ? FindingId::unknown_chip_files : FindingId::other_chip_files, name_, file.name,
        "present, not read",
        fmt::format("Its records are not supported for platform {} ({}){}.", chip.platform,
                    chip.name, is_later ? " yet: tasks will be missing" : ""));
  }

  CannImport& import_;
  std::string_view name_;
};

constexpr unsigned kFftsPlus = 4;  // in `ffts`

CoreKind to_core_kind(unsigned ffts_type, unsigned subtask) {
  enum : unsigned { kAic = 0, kMixAic = 6, kMixAiv = 7 };
  if (ffts_type == 0) return CoreKind::aic;
  if (ffts_type != kFftsPlus) return CoreKind::aiv;
  if (subtask == kAic) return CoreKind::aic;
  if (subtask == kMixAic) return CoreKind::mix_aic;
  return subtask == kMixAiv ? CoreKind::mix_aiv : CoreKind::aiv;
}

template <typename Wire>
void fill(CoreCounters& values, const Wire& wire) {
  static_assert(sizeof(wire.pmu) <= sizeof(values.counters));
  values.total_cycles = wire.total_cycle;
  if constexpr (std::is_same_v<Wire, PmuV6Wire>)
    values.ticks = wire.end > wire.start ? wire.end - wire.start : 0;
  for (std::size_t slot = 0; slot < std::extent_v<decltype(wire.pmu)>; ++slot)
    values.counters[slot] = wire.pmu[slot];
}

template <typename Wire>
AicoreRecord read_counters(const Wire& wire) {
  AicoreRecord result;
  result.stream = static_cast<std::uint16_t>(wire.stream_id & kStreamMask);
  result.task_number = wire.task_id;
  fill(result.values, wire);
  return result;
}

// cann_device.md 4.1
constexpr std::string_view kStarsTypes[] = {
    "AI_CORE",          "AI_CPU",         "AIV_SQE",           "PLACE_HOLDER_SQE",
    "EVENT_RECORD_SQE", "EVENT_WAIT_SQE", "NOTIFY_RECORD_SQE", "NOTIFY_WAIT_SQE",
    "WRITE_VALUE_SQE",  "VQ6_SQE",        "TOF_SQE",           "SDMA_SQE",
    "VPC_SQE",          "JPEGE_SQE",      "JPEGD_SQE",         "DSA_SQE",
    "ROCCE_SQE",        "PCIE_DMA_SQE",   "HOST_CPU_SQE",      "CDQM_SQE",
    "C_CORE_SQE"};
constexpr std::string_view kHwtsTypes[] = {
    "AI_CORE",           "AI_CPU",           "AIV_SQE",
    "PLACE_HOLDER_SQE",  "EVENT_RECORD_SQE", "EVENT_WAIT_SQE",
    "NOTIFY_RECORD_SQE", "NOTIFY_WAIT_SQE",  "WRITE_VALUE_SQE",
    "SDMA_SQE",          "MAX_SQE"};
constexpr std::string_view kV6Types[] = {"AI_CORE",
                                         "AIV_SQE",
                                         "FUSION",
                                         "PLACE_HOLDER_SQE",
                                         "AICPU_H",
                                         "AICPU_D",
                                         "NOTIFY_RECORD_SQE",
                                         "NOTIFY_WAIT_SQE",
                                         "WRITE_VALUE_SQE",
                                         "UBDMA",
                                         "ASYNCDMA",
                                         "SDMA_SQE",
                                         "VPC_SQE",
                                         "JPEGE_SQE",
                                         "JPEGD_SQE",
                                         "CMO_SQE",
                                         "CCU_SQE",
                                         "",
                                         "",
                                         "",
                                         "CONDITION_SQE",
                                         "END_SQE"};
// cann_device.md 19: the runtime's own task types
constexpr std::string_view kMiniTypes[] = {
    "kernel AI core task", "kernel AI cpu task", "event record task", "stream wait event task",
    "fusion issue task",   "memory copy task",   "maintenance task"};
// cann_device.md 5.4
constexpr std::string_view kSubTaskTypes[] = {"AIC",
                                              "AIV",
                                              "",
                                              "Notify Wait",
                                              "Notify Record",
                                              "Write Value",
                                              "MIX_AIC",
                                              "MIX_AIV",
                                              "SDMA",
                                              "Data Context",
                                              "Invalidate Data Context",
                                              "Writeback Data Context",
                                              "AI_CPU",
                                              "Load Context",
                                              "",
                                              "DSA"};

template <std::size_t kCount>
std::string_view at(const std::string_view (&names)[kCount], unsigned number) {
  return number < kCount ? names[number] : std::string_view();
}

}  // namespace

DeviceLog read_stars_log(const StreamRecord& record, bool expanded) {
  const auto wire = decode<StarsLogWire>(record.bytes);
  DeviceLog log;
  log.function = function_type(wire.head);
  log.counter = record_counter(wire.head);
  log.type = static_cast<std::uint8_t>(wire.head >> 10U);
  const bool is_task = log.function == kTaskStart || log.function == kTaskEnd;
  log.is_sub_task = log.function == kThreadStart || log.function == kThreadEnd;
  if (!is_task && !log.is_sub_task) {
    log.what = unread(log.function, kOtherFunctions);
    return log;
  }
  const StarsIds ids = stars_ids(wire.stream_id, wire.task_id, log.type, expanded);
  log.place = {wire.syscnt, record.sequence};
  log.stream = ids.stream;
  log.task_number = ids.task_number;
  log.is_start = log.function == kTaskStart || log.function == kThreadStart;
  if (log.is_sub_task) {
    log.type = static_cast<std::uint8_t>(wire.subtask_type);
    log.context = wire.subtask_id;
    log.thread = wire.thread_id;
  }
  return log;
}

DeviceLog read_stars_log_v6(const StreamRecord& record) {
  const auto wire = decode<StarsLogV6Wire>(record.bytes);
  DeviceLog log;
  log.function = function_type(wire.head);
  log.counter = record_counter(wire.head);
  log.type = static_cast<std::uint8_t>(wire.head >> 10U);
  log.place = {wire.syscnt, record.sequence};
  log.task_number = wire.task_id;
  log.is_start = log.function == kTaskStart || log.function == kFusionStart;
  if (log.function == kFusionStart || log.function == kFusionEnd) {
    const auto part = decode<FusionLogWire>(record.bytes);
    log.what = DeviceLog::What::fusion;
    log.engine = part.engine;
    log.acc_id = part.acc_id;
  } else if (log.function != kTaskStart && log.function != kTaskEnd) {
    log.what = unread(log.function, kOtherFunctionsV6);
  }
  return log;
}

DeviceLog read_hwts_log(const StreamRecord& record) {
  const auto wire = decode<HwtsWire>(record.bytes);
  const unsigned tag = wire.cnt_tag & 0x7U;
  DeviceLog log;
  log.what = tag <= 1 ? DeviceLog::What::task : DeviceLog::What::other;
  log.counter = static_cast<std::uint8_t>(wire.cnt_tag >> 4U);
  log.type = wire.task_type;
  log.place = {wire.syscnt, record.sequence};
  log.stream = static_cast<std::uint16_t>(wire.stream_id & kStreamMask);
  log.task_number = wire.task_id;
  log.is_start = tag == 0;
  log.has_ordered_pmu = log.type == kSqeAiCore || log.type == kSqeVectorCore;
  log.core = log.type == kSqeVectorCore ? CoreKind::aiv : CoreKind::aic;
  return log;
}

TaskCounters read_ffts_record(const StreamRecord& record, bool expanded) {
  constexpr unsigned kOverflow = 1U << 10U;
  const auto wire = decode<FftsWire>(record.bytes);
  TaskCounters counters;
  counters.counter = record_counter(wire.head);
  const unsigned function = function_type(wire.head);
  if (function != kContextCounters && function != kBlockCounters) {
    counters.what = TaskCounters::What::unknown;
    return counters;
  }
  const StarsIds ids = stars_ids(wire.stream_id, wire.task_id, 0, expanded);
  counters.end = {wire.end, record.sequence};
  counters.stream = ids.stream;
  counters.task_number = ids.task_number;
  counters.kind = to_core_kind(wire.ffts >> 5U, wire.subtask & 0xFFU);
  fill(counters.values, wire);
  if (function == kContextCounters) {
    if (wire.ffts >> 5U == kFftsPlus) counters.context = wire.subtask_id;
    counters.has_overflowed = (wire.subtask & kOverflow) != 0;
    return counters;
  }
  counters.context = wire.subtask_id;
  const bool is_vector_core = (wire.core & 1U) != 0;
  const bool is_secondary = (counters.kind == CoreKind::mix_aic && is_vector_core) ||
                            (counters.kind == CoreKind::mix_aiv && !is_vector_core);
  counters.what = is_secondary ? TaskCounters::What::block : TaskCounters::What::other_block;
  return counters;
}

TaskCounters read_pmu_v6(const StreamRecord& record) {
  enum : unsigned { kMaster = 1, kMix = 2, kOverflow = 4 };
  const auto wire = decode<PmuV6Wire>(record.bytes);
  TaskCounters counters;
  counters.counter = record_counter(wire.head);
  counters.end = {wire.end, record.sequence};
  counters.task_number = wire.task_id;
  counters.core_id = wire.core_id;
  counters.is_vector = (wire.core_type & 1U) != 0;
  const unsigned function = function_type(wire.head);
  if (function == kBlockCounters) {
    counters.what = TaskCounters::What::block_run;
    counters.start_ticks = std::min<std::uint64_t>(wire.start, wire.end);
    return counters;
  }
  if (function != kV6Counters) {
    counters.what = TaskCounters::What::unknown;
    return counters;
  }
  const bool is_mix = (wire.flags & kMix) != 0;
  const bool is_other = is_mix && (wire.flags & kMaster) == 0;
  counters.has_overflowed = (wire.flags & kOverflow) != 0;
  if (is_other) counters.what = TaskCounters::What::other_core;
  if (is_mix) {
    counters.kind = counters.is_vector != is_other ? CoreKind::mix_aiv : CoreKind::mix_aic;
  } else {
    counters.kind = counters.is_vector ? CoreKind::aiv : CoreKind::aic;
  }
  fill(counters.values, wire);
  return counters;
}

AicoreRecord read_aicore_record(const StreamRecord& record) {
  const auto wire = decode<AicoreWire>(record.bytes);
  AicoreRecord result = read_counters(wire);
  result.counter = wire.cnt >> 4U;
  return result;
}

AicoreRecord read_event_count(std::span<const std::byte> record) {
  const auto wire = decode<EventCountWire>(record);
  AicoreRecord result = read_counters(wire);
  result.values.block_num = wire.block;
  return result;
}

std::string_view sqe_type_name(ChipFamily family, unsigned number) {
  if (family == ChipFamily::stars) return at(kStarsTypes, number);
  if (family == ChipFamily::stars_v6) return at(kV6Types, number);
  return at(kHwtsTypes, number);
}

std::string_view runtime_task_type_name(unsigned number) {
  return at(kMiniTypes, number);
}

std::string_view sub_task_type_name(unsigned number) {
  return at(kSubTaskTypes, number);
}

std::vector<std::unique_ptr<RawKind>> make_device_stream_kinds(CannImport& import) {
  std::vector<std::unique_ptr<RawKind>> kinds;
  for (const DeviceStream& row : kStreams) {
    if (kinds.empty() || kinds.back()->name() != row.format.kind)
      kinds.push_back(std::make_unique<DeviceStreamKind>(import, row.format.kind));
  }
  return kinds;
}

}  // namespace msprof::cann
