#include "runtime/acl/device/lookup.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>

#include "acl/acl_base.h"
#include "runtime/acl/device/failure.hpp"
#include "runtime/acl/device/runtime.hpp"

namespace msprof::acl {

bool acl_is_initialised() {
  return Runtime::instance().is_initialised();
}

std::uint32_t device_count() {
  return Runtime::instance().device_count();
}

namespace {

// Devices of graph models, which run without a call of aclmdlLoad….
struct GraphModels {
  std::mutex mutex;
  std::map<std::uint32_t, std::uint32_t> find_device;
};

// Never destroyed: other threads may still be inside the interface while the process exits.
GraphModels& graph_models() {
  static auto* const made = new GraphModels;
  return *made;
}

bool find_loaded_model(std::uint32_t model, std::uint16_t& device) {
  try {
    device = Runtime::instance().find_model(model)->device_id();
    return true;
  } catch (const Failure&) {
    return false;
  }
}

std::atomic<std::chrono::milliseconds> launch_patience{std::chrono::seconds(2)};

}  // namespace

bool find_model_device(std::uint32_t model, std::uint16_t& device) {
  if (find_loaded_model(model, device)) return true;
  const std::lock_guard lock(graph_models().mutex);
  const auto found = graph_models().find_device.find(model);
  if (found == graph_models().find_device.end()) return false;
  device = static_cast<std::uint16_t>(found->second);
  return true;
}

bool set_graph_model_device(std::uint32_t model, std::uint32_t device) {
  std::uint16_t loaded_on = 0;
  if (device >= device_count() || (find_loaded_model(model, loaded_on) && loaded_on != device))
    return false;
  const std::lock_guard lock(graph_models().mutex);
  return graph_models().find_device.try_emplace(model, device).first->second == device;
}

bool unset_graph_model_device(std::uint32_t model, std::uint32_t device) {
  const std::lock_guard lock(graph_models().mutex);
  const auto found = graph_models().find_device.find(model);
  if (found == graph_models().find_device.end() || found->second != device) return false;
  graph_models().find_device.erase(found);
  return true;
}

void set_launch_patience(std::chrono::milliseconds patience) {
  launch_patience.store(patience);
}

void wait_for_launched(const std::vector<std::uint16_t>& devices) {
  if (devices.empty() || Stream::is_on_any_worker()) return;
  settle_launched(Runtime::instance().find_streams(devices),
                  std::chrono::steady_clock::now() + launch_patience.load());
}

bool enqueue_step(void* stream, std::uint64_t index, std::uint64_t model, std::uint16_t tag,
                  TaskIds& ids) {
  try {
    const std::shared_ptr<Stream> found = Runtime::instance().stream(stream);
    Stream::Launching launching(*found);
    const TaskIds mine = launching.reserve(1);
    ids = mine;
    return launching.push(make_task([=](Stream&) {
      RanTask task;
      task.ids = mine;
      task.kind = TaskKind::step;
      task.begin_ns = runtime::monotonic_ns();
      record_step(mine, index, model, tag, task.begin_ns);
      task.end_ns = runtime::monotonic_ns();
      record_task(task);
      return ACL_SUCCESS;
    }));
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace msprof::acl
