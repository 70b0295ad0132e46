// Functions that the profiler calls and the devices implement. All are thread-safe. Streams are
// aclrtStream; null means the default stream of the thread's context.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "runtime/acl/prof/recorder.hpp"

namespace msprof::acl {

// True between aclInit and aclFinalize.
bool acl_is_initialised();

// Number of devices of this host (MSPROF_HOST_DEVICES); available before aclInit.
std::uint32_t device_count();

// Finds the device of a model: a loaded one, or a graph model whose device the program has set.
// Returns false if there is no such model.
bool find_model_device(std::uint32_t model, std::uint16_t& device);

// Set and clear the device of a graph model. Return false if the model has another device, or no
// device to clear.
bool set_graph_model_device(std::uint32_t model, std::uint32_t device);
bool unset_graph_model_device(std::uint32_t model, std::uint32_t device);

// Waits until all tasks launched on these devices before the call have run, for at most 2 s. Does
// not wait for events or callbacks. Returns at once inside a function that a stream runs.
void wait_for_launched(const std::vector<std::uint16_t>& devices);

// Changes the time limit of wait_for_launched(), for tests.
void set_launch_patience(std::chrono::milliseconds patience);

// Queues a profiler-trace task on a stream and sets `ids` to its task id. When the device reaches
// the task, it only calls record_step(ids, index, model, tag, now); the caller writes the host
// records. Returns false if `stream` is not a stream of this process.
bool enqueue_step(void* stream, std::uint64_t index, std::uint64_t model, std::uint16_t tag,
                  TaskIds& ids);

}  // namespace msprof::acl
