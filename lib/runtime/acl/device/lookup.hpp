// What the profiler asks of the devices; implemented by them. Every function may be called by any
// thread. Streams are aclrtStream; null stands for the default stream of the thread's context.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "runtime/acl/prof/recorder.hpp"

namespace msprof::acl {

// Between aclInit and aclFinalize.
bool acl_is_initialised();

// Devices of this host (MSPROF_HOST_DEVICES); known before aclInit too.
std::uint32_t device_count();

// Whether a model of this number is loaded, and on which device.
bool model_is_loaded(std::uint32_t model, std::uint16_t& device);

// Waits until what was launched on these devices before has run: at most 2 s, and not for events or
// callbacks. Returns at once inside a function that a stream runs.
void wait_for_launched(const std::vector<std::uint16_t>& devices);

// Sets the 2 s of wait_for_launched(), for tests.
void set_launch_patience(std::chrono::milliseconds patience);

// Puts a profiler-trace task on a stream, with the next task id of the stream in `ids`. When the
// device reaches it, it calls record_step(ids, index, model, tag, now) and nothing else: the host's
// records are the caller's. False for what is no stream of this process.
bool enqueue_step(void* stream, std::uint64_t index, std::uint64_t model, std::uint16_t tag,
                  TaskIds& ids);

}  // namespace msprof::acl
