// Records of an application's calls under CANN 5.0 and 5.1: AclModule.*, runtime.*,
// Msprof.msproftx, HCCL.*. Times are ns of the host's monotonic clock. Source: cann5_classic.md 7.
#pragma once

#include <cstdint>

#include "wire/old/framework_wire.hpp"

namespace msprof::old {

inline constexpr std::uint16_t kAclCallTag = 0;
inline constexpr std::uint16_t kRuntimeCallTag = 40;
inline constexpr std::uint16_t kTaskTrackTag = 41;
inline constexpr std::uint16_t kHcclTag = 80;
inline constexpr std::uint16_t kTxTag = 120;

struct __attribute__((packed)) AclCallWire {
  RecordHead head;
  std::uint32_t kind;  // 1 ACL_OP, 2 ACL_MODEL, 3 ACL_RTS, 4 ACL_OTHERS
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  std::uint32_t process;
  std::uint32_t thread;
  char name[64];
  std::uint8_t unused[32];
};
static_assert(sizeof(AclCallWire) == 128);

inline constexpr std::uint32_t kNoStream = 0xFFFFFFFF;
struct __attribute__((packed)) RuntimeCallWire {
  RecordHead head;
  std::uint32_t thread;
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  std::uint64_t bytes;
  char name[64];
  std::uint32_t result;
  std::uint32_t stream;  // kNoStream: no stream
  std::uint32_t task_count;
  std::uint16_t tasks[20];  // pairs of task and batch
  std::uint16_t direction;  // for a copy: 1 host to device
  std::uint8_t unused[106];
};
static_assert(sizeof(RuntimeCallWire) == 256);

struct __attribute__((packed)) OldTaskTrackWire {
  RecordHead head;
  std::uint32_t thread;
  std::uint64_t time_ns;
  char kind[32];  // for example "KERNEL_AICORE"
  std::uint16_t task;
  std::uint16_t batch;
  std::uint16_t stream;
  std::uint8_t unused[10];
};
static_assert(sizeof(OldTaskTrackWire) == 64);

struct __attribute__((packed)) OldTxWire {
  RecordHead head;
  std::uint32_t process;
  std::uint32_t thread;
  std::uint32_t category;
  std::uint32_t event;  // 0 marker, 1 push/pop, 2 start/end
  std::int32_t payload_type;
  std::uint64_t payload;
  std::uint64_t start_ns;
  std::uint64_t end_ns;
  std::int32_t message_type;
  char message[128];
  std::uint8_t unused[76];
};
static_assert(sizeof(OldTxWire) == 256);

// One task of a collective. The format of `rest` depends on the name of the task.
struct __attribute__((packed)) HcclWire {
  RecordHead head;
  std::uint32_t plane;
  std::uint32_t device;
  std::uint32_t stream;
  double time_us;
  char name[16];
  std::uint8_t rest[64];
};
static_assert(sizeof(HcclWire) == 104);

struct __attribute__((packed)) HcclNotifyWire {
  std::uint32_t task;
  std::uint64_t notify;
  std::uint32_t stage;
  std::uint32_t rank;
  std::uint32_t transport;
  std::uint32_t role;
  double estimated_us;
};
struct __attribute__((packed)) HcclReduceWire {
  std::uint32_t task;
  std::uint64_t source;
  std::uint64_t destination;
  std::uint64_t bytes;
  std::uint32_t operation;
  std::uint32_t data_type;
  std::uint32_t link;
  std::uint32_t rank;
  std::uint32_t transport;
  std::uint32_t role;
  double estimated_us;
};
struct __attribute__((packed)) HcclCopyWire {
  std::uint32_t task;
  std::uint64_t source;
  std::uint64_t destination;
  std::uint64_t bytes;
  std::uint64_t notify;
  std::uint32_t link;
  std::uint32_t rank;
  std::uint32_t transport;
  std::uint32_t role;
  double estimated_us;
};
struct __attribute__((packed)) HcclRdmaWire {
  std::uint32_t task;
  std::uint64_t source;
  std::uint64_t destination;
  std::uint64_t bytes;
  std::uint64_t notify;
  std::uint32_t link;
  std::uint32_t rank;
  std::uint32_t transport;
  std::uint32_t role;
  std::uint32_t type;
  double estimated_us;
};
static_assert(sizeof(HcclRdmaWire) <= sizeof(HcclWire::rest));

}  // namespace msprof::old
