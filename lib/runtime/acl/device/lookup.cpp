#include "runtime/acl/device/lookup.hpp"

#include <atomic>
#include <chrono>
#include <exception>

#include "acl/acl_base.h"
#include "runtime/acl/device/failure.hpp"
#include "runtime/acl/device/runtime.hpp"

namespace msprof::acl {

bool acl_is_initialised() {
  return Runtime::instance().initialised();
}

std::uint32_t device_count() {
  return Runtime::instance().device_count();
}

bool model_is_loaded(std::uint32_t model, std::uint16_t& device) {
  try {
    device = Runtime::instance().find_model(model)->device_id();
    return true;
  } catch (const Failure&) {
    return false;
  }
}

namespace {

std::atomic<std::chrono::milliseconds> launch_patience{std::chrono::seconds(2)};

}  // namespace

void set_launch_patience(std::chrono::milliseconds patience) {
  launch_patience.store(patience);
}

void wait_for_launched(const std::vector<std::uint16_t>& devices) {
  if (devices.empty() || Stream::on_any_worker()) return;
  settle_launched(Runtime::instance().streams_of(devices),
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
