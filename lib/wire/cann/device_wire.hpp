// Records in a device's files from which tasks are built: stars_soc.data, hwts.data,
// ffts_profile.data, aicore.data. Also the stream and task ids in all device records. Source:
// cann_device.md 4 (hwts), 5 (stars_soc), 6 (ffts_profile), 7 (aicore). Numbers in parentheses are
// its sections.
#pragma once

#include <cstddef>
#include <cstdint>

namespace msprof::cann {

// Magic number of these records (4, 5.1, 6.1, 7.1).
inline constexpr std::uint16_t kDeviceMagic = 0x6BD3;

// Weak test for records that may have another value in place of the magic. Rejects values with
// exactly one zero byte, which are typical of other fields.
inline bool may_be_magic(std::uint16_t value) {
  return value == 0 || ((value & 0xFF) != 0 && (value >> 8) != 0);
}

// Chips 5, 7, 8 and 11: start or end of a task, or of a thread of a sub task (5.3, 5.4). For a
// task, the fields after `syscnt` are not needed.
struct __attribute__((packed)) StarsLogWire {
  std::uint16_t head;  // function type (6 bit), counter (4), SQE type (6)
  std::uint16_t magic;
  std::uint16_t stream_id;
  std::uint16_t task_id;
  std::uint64_t syscnt;
  std::uint16_t subtask_type;
  std::uint16_t subtask_id;
  std::uint16_t ffts_type;
  std::uint16_t thread_id;
  std::uint8_t reserved[40];
};
static_assert(sizeof(StarsLogWire) == 64);

// Chips 15 and 16: a start or end in 32 bytes, with a 32-bit task id and no stream (5.3).
struct __attribute__((packed)) StarsLogV6Wire {
  std::uint16_t head;
  std::uint16_t magic;
  std::uint32_t task_id;
  std::uint64_t syscnt;
  std::uint8_t reserved[16];
};
static_assert(sizeof(StarsLogV6Wire) == 32);

// V6 chips: start or end of a part of a fused task (cann_new_kinds.md 4.2).
struct __attribute__((packed)) FusionLogWire {
  std::uint16_t head;
  std::uint16_t magic;
  std::uint32_t task_id;
  std::uint64_t syscnt;
  std::uint16_t engine;  // the engine in bits 0 to 4; higher bits: the mission
  std::uint16_t acc_id;
};
static_assert(sizeof(FusionLogWire) == 20);

// Chips 0 to 4: start or end of a task (4).
struct __attribute__((packed)) HwtsWire {
  std::uint8_t cnt_tag;  // low 3 bits: event (0 start, 1 end); high 4 bits: counter
  std::uint8_t task_type;
  std::uint16_t magic;
  std::uint16_t reserved;
  std::uint16_t task_id;
  std::uint64_t syscnt;
  std::uint32_t stream_id;
  std::uint8_t tail[44];
};
static_assert(sizeof(HwtsWire) == 64);

// STARS chips: the counters of a task and of its blocks (6.1, 6.2). The two kinds differ at offset
// 20 and at offsets 24 to 31. Bits 5 to 7 of `ffts` contain the type.
struct __attribute__((packed)) FftsWire {
  std::uint16_t head;  // function type (6 bit), counter (4)
  std::uint16_t magic;
  std::uint16_t stream_id;
  std::uint16_t task_id;
  std::uint64_t reserved;
  std::uint16_t subtask;
  std::uint16_t subtask_id;
  std::uint8_t core;  // blocks: bit 0 is 1 for a vector core
  std::uint8_t ffts;
  std::uint8_t middle[10];
  std::uint64_t total_cycle;
  std::uint64_t reserved_40;
  std::uint64_t pmu[8];
  std::uint64_t start;
  std::uint64_t end;
};
static_assert(sizeof(FftsWire) == 128);

// Chips 15 and 16: the counters of a task on one kind of core (6.3).
inline constexpr std::size_t kV6PmuSlots = 10;
struct __attribute__((packed)) PmuV6Wire {
  std::uint16_t head;
  std::uint16_t magic;
  std::uint32_t task_id;
  std::uint64_t total_cycle;
  std::uint8_t ctx_type;
  std::uint8_t flags;  // bit 0 "mst", bit 1 "mix", bit 2 overflow
  std::uint16_t reserved_18;
  std::uint8_t core_type;  // bit 0 is 1 for a vector core
  std::uint8_t core_id;
  std::uint8_t reserved_22[10];
  std::uint64_t pmu[kV6PmuSlots];
  std::uint64_t start;
  std::uint64_t end;
};
static_assert(sizeof(PmuV6Wire) == 128);

// Chips 1 to 4: the counters of a task (7.1).
struct __attribute__((packed)) AicoreWire {
  std::uint8_t cnt;  // high 4 bits: counter
  std::uint8_t reserved_1;
  std::uint16_t magic;
  std::uint16_t reserved_4;
  std::uint16_t task_id;
  std::uint8_t reserved_8[8];
  std::uint64_t total_cycle;
  std::uint64_t reserved_24;
  std::uint64_t pmu[8];
  std::uint32_t stream_id;
  std::uint8_t tail[28];
};
static_assert(sizeof(AicoreWire) == 128);

// Chip 0: the counters of a task (7.3). A record may be longer than this struct; `bufsize` is its
// size.
struct __attribute__((packed)) EventCountWire {
  std::uint8_t mode;
  std::uint8_t tag;  // kEventCountTag
  std::uint16_t bufsize;
  std::uint32_t reserved;
  std::uint16_t task_type;
  std::uint16_t stream_id;
  std::uint16_t task_id;
  std::uint16_t overflow;  // 0: the counters are valid
  std::uint64_t overflow_cycle;
  std::uint64_t pmu[8];
  std::uint64_t total_cycle;
  std::uint64_t timestamp;
  std::uint16_t block;
  std::uint8_t tail[6];
};
static_assert(sizeof(EventCountWire) == 112);
inline constexpr std::uint8_t kEventCountTag = 4;

// l2_cache.data: events of the L2 cache, one record per task. Source: cann_device.md 9.1.
inline constexpr std::size_t kL2CacheEvents = 8;
struct __attribute__((packed)) L2CacheWire {
  std::uint16_t task_type;
  std::uint16_t stream;
  std::uint16_t task;
  std::uint16_t reserved;
  std::uint64_t events[kL2CacheEvents];
};
static_assert(sizeof(L2CacheWire) == 72);

// Function types of StarsLogWire and FftsWire (5.1, 6.1).
enum StarsFunction : unsigned {
  kTaskStart = 0,
  kTaskEnd = 1,
  kFusionStart = 22,
  kFusionEnd = 23,
  kThreadStart = 34,
  kThreadEnd = 35,
  kBlockStart = 36,
  kBlockEnd = 37,
  kContextCounters = 40,
  kBlockCounters = 41,
  kV6Counters = 42
};

// SQE types (4.1) that are treated specially.
enum SqeType : unsigned { kSqeAiCore = 0, kSqeAiCpu = 1, kSqeVectorCore = 2 };
inline constexpr unsigned kSqeCcuV6 = 16;  // CCU tasks on V6 chips

// A stream id has 11 bits; on STARS chips the bits above are flags.
inline constexpr std::uint16_t kMaxStreams = 2048;
inline constexpr std::uint16_t kStreamMask = kMaxStreams - 1;

// Stream and task ids as the runtime uses them.
struct StarsIds {
  std::uint16_t stream = 0;
  std::uint16_t task_number = 0;
};

// Returns the task id on chips 15 and 16, from the fields that contain stream and task number on
// other chips (5.2).
inline std::uint32_t unique_task_id(std::uint16_t low, std::uint16_t high) {
  return static_cast<std::uint32_t>(high) << 16 | low;
}
// Stream id, on chips 15 and 16, of tasks that the host did not launch (5.2).
inline constexpr std::uint16_t kUnknownStream = 65535;

// Converts ids as written by the hardware of STARS chips (5.2). `sqe_type` is 0 for PMU records.
// `expanded`: the capture has more than 2048 streams (expand_stream_spec).
inline StarsIds stars_ids(std::uint16_t stream, std::uint16_t task, unsigned sqe_type,
                          bool expanded) {
  const auto of = [](unsigned s, unsigned t) {
    return StarsIds{static_cast<std::uint16_t>(s), static_cast<std::uint16_t>(t)};
  };
  const unsigned s = stream;
  const unsigned t = task;
  if (expanded) {
    constexpr unsigned kPlaceHolder = 3;
    constexpr unsigned kEventRecord = 4;
    const bool plain = sqe_type == kPlaceHolder || sqe_type == kEventRecord;
    if (!plain && (s & 0x8000) != 0) return of(t & 0x7FFF, (t & 0x8000) | (s & 0x7FFF));
    return of(s & 0x7FFF, t);
  }
  if ((s & 0x1000) != 0) return of(s % kMaxStreams, (t & 0x1FFF) | (s & 0xE000));
  if ((s & 0x2000) != 0) return of((t & 0x0FFF) % kMaxStreams, (s & 0x0FFF) | (t & 0xF000));
  return of(s % kMaxStreams, t);
}

}  // namespace msprof::cann
