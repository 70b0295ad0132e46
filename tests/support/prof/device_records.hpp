// The records of device_N/data of a PROF folder, byte by byte, by cann_device.md 3 to 10. Times are
// raw ticks. For ProfFolder and for tests that damage a field. No product code.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msprof::test::prof {

inline constexpr std::uint16_t kDeviceMagic = 0x6BD3;
using Counters = std::array<std::uint64_t, 8>;

// 64 bytes, STARS: start or end of a task.
struct AcsqLog {
  static constexpr std::string_view kStem = "stars_soc.data";
  bool is_end = false;
  std::uint8_t sqe_type = 0, count = 0;
  std::uint16_t stream = 0, task = 0;
  std::uint64_t time = 0;
};
std::string bytes(const AcsqLog& record);

// 64 bytes, STARS: start or end of work inside a task.
struct FftsLog {
  static constexpr std::string_view kStem = "stars_soc.data";
  bool is_end = false;
  std::uint8_t sqe_type = 0, count = 0;
  std::uint16_t stream = 0, task = 0;
  std::uint64_t time = 0;
  std::uint8_t subtask_type = 0;
  std::uint16_t context = 0;
  std::uint8_t ffts_type = 4;
  std::uint16_t thread = 0;
};
std::string bytes(const FftsLog& record);

// 128 bytes, STARS: counters of a task.
struct ContextPmu {
  static constexpr std::string_view kStem = "ffts_profile.data";
  std::uint8_t count = 0;
  std::uint16_t stream = 0, task = 0;
  std::uint8_t subtask_type = 0;
  std::uint16_t context = 0;
  std::uint8_t ffts_type = 0;
  std::uint64_t cycles = 0;
  Counters counters{};
  std::uint64_t start = 0, end = 0;
};
std::string bytes(const ContextPmu& record);

struct BlockPmu {
  static constexpr std::string_view kStem = "ffts_profile.data";
  std::uint8_t count = 0;
  std::uint16_t stream = 0, task = 0;
  std::uint8_t subtask_type = 6;
  std::uint16_t context = 0;
  bool is_aiv = true;
  std::uint8_t core = 0, ffts_type = 4;
  std::uint16_t sub_block = 0, block = 0;
  std::uint64_t cycles = 0;
  Counters counters{};
  std::uint64_t start = 0, end = 0;
};
std::string bytes(const BlockPmu& record);

// 32 bytes, chips 15 and 16: start or end of a task, or another record of this kind.
struct LogV6 {
  static constexpr std::string_view kStem = "stars_soc.data";
  bool is_end = false;
  std::uint8_t sqe_type = 0, count = 0;
  std::uint32_t task = 0;
  std::uint64_t time = 0;
  std::uint8_t function = 0;  // function number of a start; 36: block log, 22: fusion task
};
std::string bytes(const LogV6& record);

// 128 bytes, chips 15 and 16.
struct PmuV6 {
  static constexpr std::string_view kStem = "ffts_profile.data";
  std::uint8_t count = 0;
  std::uint32_t task = 0;
  bool is_aiv = false, is_mix = false, is_master = false, has_overflow = false;
  std::uint8_t core = 0;
  std::uint64_t cycles = 0;
  std::array<std::uint64_t, 10> counters{};
  std::uint64_t start = 0, end = 0;
};
std::string bytes(const PmuV6& record);

// 64 bytes, 910A and 310P: start or end of a task.
struct HwtsLog {
  static constexpr std::string_view kStem = "hwts.data";
  bool is_end = false;
  std::uint8_t sqe_type = 0, count = 0;
  std::uint16_t stream = 0, task = 0;
  std::uint64_t time = 0;
};
std::string bytes(const HwtsLog& record);

// 128 bytes, 910A and 310P: aicore.data or aiVectorCore.data.
struct CorePmu {
  static constexpr std::string_view kStem = "aicore.data";
  static constexpr std::string_view kVectorStem = "aiVectorCore.data";
  std::uint8_t count = 0;
  std::uint16_t stream = 0, task = 0;
  std::uint64_t cycles = 0;
  Counters counters{};
};
std::string bytes(const CorePmu& record);

// ts_track.data: 40 bytes per record.
struct StepTrace {
  static constexpr std::string_view kStem = "ts_track.data";
  std::uint64_t time = 0, index = 0, model = 0;
  std::uint16_t stream = 0, task = 0, tag = 0;
};
std::string bytes(const StepTrace& record);

// The form of chips 15 and 16.
struct StepTraceV6 {
  static constexpr std::string_view kStem = "ts_track.data";
  std::uint64_t time = 0, index = 0, model = 0;
  std::uint16_t tag = 0, stream = 0;
  std::uint32_t task = 0;
};
std::string bytes(const StepTraceV6& record);

struct TsMemcpy {
  static constexpr std::string_view kStem = "ts_track.data";
  std::uint64_t time = 0;
  std::uint16_t stream = 0, task = 0;
  std::uint8_t state = 0;
};
std::string bytes(const TsMemcpy& record);

struct TsTaskType {
  static constexpr std::string_view kStem = "ts_track.data";
  std::uint64_t time = 0;
  std::uint16_t stream = 0, task = 0, task_type = 1;
  std::uint8_t state = 0;
};
std::string bytes(const TsTaskType& record);

struct TsFlip {
  static constexpr std::string_view kStem = "ts_track.data";
  std::uint64_t time = 0;
  std::uint16_t stream = 0, number = 0, task = 0;
};
std::string bytes(const TsFlip& record);

struct TsBlocks {
  static constexpr std::string_view kStem = "ts_track.data";
  std::uint64_t time = 0;
  std::uint16_t stream = 0, task = 0, blocks = 0, mix_ratio = 0;
};
std::string bytes(const TsBlocks& record);

// 256 bytes: an operator on the AI CPU.
struct AicpuNode {
  static constexpr std::string_view kStem = "aicpu.data";
  std::uint16_t stream = 0, task = 0;
  std::uint64_t start = 0, end = 0;  // ticks
  std::uint64_t compute_start_us = 0, memcpy_start_us = 0, memcpy_end_us = 0;
  std::uint64_t submit = 0, after_run = 0;  // ticks
  std::uint32_t dispatch_us = 0;
};
std::string bytes(const AicpuNode& record);

// 128 bytes: the same in the older file.
struct OldAicpuNode {
  static constexpr std::string_view kStem = "DATA_PREPROCESS.AICPU";
  AicpuNode node;
};
std::string bytes(const OldAicpuNode& record);

// 128 bytes: an element taken from the data queue.
struct DataQueue {
  static constexpr std::string_view kStem = "DATA_PREPROCESS.DP";
  std::uint64_t time_us = 0, index = 0, size = 0;
  std::string action = "Last queue dequeue";
  std::string source;
};
std::string bytes(const DataQueue& record);

// 72 bytes.
struct L2Cache {
  static constexpr std::string_view kStem = "l2_cache.data";
  std::uint16_t task_type = 0, stream = 0, task = 0;
  Counters events{};
};
std::string bytes(const L2Cache& record);

// 888 bytes: ticks and MHz.
struct LpmFreq {
  static constexpr std::string_view kStem = "lpmFreqConv.data";
  std::vector<std::pair<std::uint64_t, std::uint32_t>> changes;  // at most 55; ticks and MHz
};
std::string bytes(const LpmFreq& record);

// LpmFreq with its type, as written by current collectors.
struct LpmInfo {
  static constexpr std::string_view kStem = "lpmInfoConv.data";
  std::uint32_t type = 0;  // 0 AI core frequency, 1 AI core voltage, 2 bus voltage
  std::vector<std::pair<std::uint64_t, std::uint32_t>> changes;
};
std::string bytes(const LpmInfo& record);

// 32 bytes: ts_track.data of a 310; each record contains its length.
struct TimeLine {
  static constexpr std::string_view kStem = "ts_track.data";
  std::uint16_t task_type = 0, state = 0, stream = 0, task = 0;
  std::uint64_t time = 0;
  std::uint32_t thread = 0, device = 0;
};
std::string bytes(const TimeLine& record);

// aicore.data of a 310: 112 bytes; later versions may append fields.
struct EventCount {
  static constexpr std::string_view kStem = "aicore.data";
  std::uint16_t task_type = 0, stream = 0, task = 0, overflow = 0;
  Counters counters{};
  std::uint64_t cycles = 0, time = 0;
  std::uint16_t blocks = 1;
  std::uint16_t length = 112;
};
std::string bytes(const EventCount& record);

}  // namespace msprof::test::prof
