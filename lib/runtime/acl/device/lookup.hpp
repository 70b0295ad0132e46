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

// Whether there is a model of this number, and on which device: one that is loaded, or one of a
// graph whose device the program has set.
bool find_model_device(std::uint32_t model, std::uint16_t& device);

// Sets and forgets the device of a model of a graph. False for a model that has another device, and
// for one that has none to forget.
bool set_graph_model_device(std::uint32_t model, std::uint32_t device);
bool unset_graph_model_device(std::uint32_t model, std::uint32_t device);

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
