// The reference layout of raw files: a 16-byte header, then records; little-endian throughout.
#pragma once

#include <bit>
#include <cstdint>

namespace msprof::runtime {

static_assert(std::endian::native == std::endian::little,
              "records are written as they lie in memory");

enum class RecordKind : uint32_t { kAicore = 1, kAicpu = 2, kAclApi = 3 };

#pragma pack(push, 1)

struct FileHeader {
  char magic[4] = {'M', 'S', 'V', 'P'};
  uint16_t version = 1;
  uint16_t record_bytes = 0;
  uint32_t kind = 0;
  uint32_t zero = 0;
};
static_assert(sizeof(FileHeader) == 16);

// One layer of one execution; cycles at 1000 MHz, so that a cycle is a nanosecond.
struct AicoreRecord {
  uint32_t layer_id = 0;
  uint32_t zero = 0;
  uint64_t start_ns = 0;
  uint64_t total_cycles = 0;
  uint64_t mac_busy = 0, mac_ppen = 0, vec_busy = 0, vec_ppen = 0;
  uint64_t dstr = 0, dtrans = 0, dld = 0, wld = 0;
  uint64_t ddr_read_bytes = 0, ddr_write_bytes = 0;
  uint64_t execution = 0;
};
static_assert(sizeof(AicoreRecord) == 112);

struct AicpuRecord {
  uint32_t layer_id = 0;
  uint32_t thread_id = 0;
  uint64_t start_ns = 0, end_ns = 0;
  uint64_t execution = 0;
};
static_assert(sizeof(AicpuRecord) == 32);

struct AclApiRecord {
  uint32_t api_id = 0;
  uint32_t thread_id = 0;
  uint64_t start_ns = 0, end_ns = 0;
  uint64_t zero = 0;
};
static_assert(sizeof(AclApiRecord) == 32);

#pragma pack(pop)

constexpr uint16_t record_bytes(RecordKind kind) {
  return kind == RecordKind::kAicore ? sizeof(AicoreRecord) : sizeof(AicpuRecord);
}

// Numbers of the calls in acl_api records.
enum class ApiId : uint32_t {
  kLoadFromMem = 1,
  kExecute = 3,
  kUnload = 5,
  kGetDesc = 6,
  kCreateDataset = 7,
  kDestroyDataset = 8,
  kSetDevice = 256,
  kResetDevice = 257,
  kCreateStream = 258,
  kDestroyStream = 259,
  kSynchronizeStream = 260,
  kMalloc = 261,
  kFree = 262,
  kCreateContext = 263,
  kDestroyContext = 264,
  kInit = 512,
  kFinalize = 513,
};

}  // namespace msprof::runtime
