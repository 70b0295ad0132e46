// Rows about memory and copies, from calls of the runtime. Part of store/schema.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "store/cells.hpp"

namespace msprof {

// An allocation or release by the runtime (memmng_info), ordered by time.
struct RuntimeMemoryRow {
  // What the address refers to: memory, a handle of physical memory, or the start of a reserved
  // address range without memory.
  enum class Space : std::int64_t { memory = 0, handle = 1, reserved = 2 };

  std::int64_t id = 0;
  std::int64_t time_ns = kNull;
  std::int64_t thread_id = kNull;
  std::int64_t device_id = kNull;  // device of the thread, also for host memory
  std::int64_t kind = 0;           // 0 unknown, 1 host, 2 device, 3 managed
  std::int64_t space = 0;          // Space
  std::int64_t is_free = 0;
  std::int64_t address = kNull;
  std::int64_t size_bytes = 0;           // requested size; 0 for a release
  std::int64_t runtime_call_id = kNull;  // api_call
  std::int64_t acl_call_id = kNull;      // enclosing api_call

  static constexpr const char* kTable = "runtime_memory";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "time_ns",
                                          "thread_id",
                                          "device_id",
                                          "kind",
                                          "space",
                                          "is_free",
                                          "address",
                                          "size_bytes",
                                          "runtime_call_id",
                                          "acl_call_id"};
};

// An allocation of the runtime with its end; derived, in the order of the allocations. A release of
// an unknown allocation has a row without an allocation.
struct RuntimeBlockRow {
  enum class End : std::int64_t {
    held = 0,  // not released until the end of the capture
    released = 1,
    replaced = 2,  // its addresses were reallocated: the release was not recorded
    unknown = 3    // released, but allocated before the collection or not recorded
  };

  std::int64_t id = 0;
  std::int64_t allocation_id = kNull;  // row of runtime_memory
  std::int64_t release_id = kNull;     // the same; if `replaced`: of the new allocation
  std::int64_t end_kind = 0;           // End
  std::int64_t end_ns = kNull;         // null: still held

  static constexpr const char* kTable = "runtime_block";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "allocation_id", "release_id",
                                          "end_kind", "end_ns"};
};

// A copy or memset by a call of the runtime (memcpy_ext_info, memset_info), ordered by time.
struct RuntimeCopyRow {
  std::int64_t id = 0;
  std::int64_t time_ns = kNull;
  std::int64_t thread_id = kNull;
  std::int64_t device_id = kNull;
  std::int64_t direction_name_id = kNull;  // "host to device", "set"
  std::int64_t value = kNull;              // fill value of a memset; null: a copy
  std::int64_t size_bytes = 0;
  std::int64_t stream_id = kNull;  // null: synchronous
  std::int64_t runtime_call_id = kNull;
  std::int64_t acl_call_id = kNull;

  static constexpr const char* kTable = "runtime_copy";
  static constexpr std::array kColumns = {
      "id INTEGER PRIMARY KEY", "time_ns",    "thread_id",  "device_id",
      "direction_name_id",      "value",      "size_bytes", "stream_id",
      "runtime_call_id",        "acl_call_id"};
};

}  // namespace msprof
