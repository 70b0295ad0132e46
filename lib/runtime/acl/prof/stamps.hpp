// Stamps and steps: annotations by the application, recorded with MSPROFTX. Used by acl_prof.h.
// Source: cann_host.md 1.8.16; codes: acl/api/README.md.
//
// Lock-free: stamps are allocated from a pool of atomics, pushed ones are on a stack of their
// thread, open ranges are in a table of atomics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/acl/include/acl/acl_prof.h"

namespace msprof::acl {

// Result for an internal failure; for null pointers it is ACL_ERROR_INVALID_PARAM.
inline constexpr aclError kTxFailure = -1;

// Maximum number of stamps, and of open ranges, at a time.
inline constexpr std::size_t kMaxStamps = 100;
inline constexpr std::size_t kMaxOpenRanges = 4096;

// Null if all are in use or if no recording includes stamps.
void* create_stamp();
void destroy_stamp(void* stamp);
aclError set_stamp_message(void* stamp, const char* message, std::size_t size);
aclError set_stamp_category(void* stamp, std::uint32_t category);
aclError set_stamp_payload(void* stamp, std::int32_t type, const void* value);

aclError mark(void* stamp);
aclError mark_on_stream(std::string_view message, void* stream);
aclError push(void* stamp);
aclError pop();
aclError start_range(void* stamp, std::uint32_t* id);
aclError stop_range(std::uint32_t id);

class Recording;
// Adds the texts with ids to the dictionary of a recording that starts.
void give_texts(Recording& recording);
// Called around a fork.
void lock_texts();
void unlock_texts();

// A forked child does not have its parent's stamps and ranges.
void forget_stamps();

}  // namespace msprof::acl
