#include "runtime/acl/device/runtime.hpp"

#include <pthread.h>
#include <stdlib.h>

#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "acl/acl_base.h"
#include "runtime/acl/device/failure.hpp"
#include "runtime/engine/message.hpp"

namespace msprof::acl {
namespace {

constexpr std::uint32_t kDefaultDevices = 8, kMaxDevices = 64;

// The current context of a thread. Stored as a handle, so that a context destroyed by another
// thread is detected.
thread_local const void* current_context_handle = nullptr;

std::atomic<Runtime*> the_runtime{nullptr};
// Runtimes inherited from parent processes by fork. Kept reachable so that leak checkers do not
// report their memory.
Runtime* of_parents = nullptr;
std::mutex making;

std::uint32_t devices_wanted() {
  const char* text = getenv("MSPROF_HOST_DEVICES");
  if (text == nullptr || *text == '\0') return kDefaultDevices;
  const std::string_view wanted(text);
  std::uint32_t count = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), count);
  if (error == std::errc() && end == wanted.data() + wanted.size() && count >= 1 &&
      count <= kMaxDevices) {
    return count;
  }
  runtime::say("MSPROF_HOST_DEVICES must be 1 to " + std::to_string(kMaxDevices) + "; there are " +
               std::to_string(kDefaultDevices) + " devices");
  return kDefaultDevices;
}

// Destroying a stream waits for its tasks: a task that did so would wait for itself.
void refuse_inside_a_task() {
  if (Stream::is_on_any_worker()) {
    throw Failure(ACL_ERROR_RT_PARAM_INVALID,
                  "must not be called from a function that runs on a stream");
  }
}

}  // namespace

Runtime& Runtime::instance() {
  Runtime* runtime = the_runtime.load(std::memory_order_acquire);
  if (runtime != nullptr) return *runtime;
  const std::lock_guard lock(making);
  runtime = the_runtime.load(std::memory_order_acquire);
  if (runtime == nullptr) {
    static std::once_flag once;
    std::call_once(once, [] { pthread_atfork(nullptr, nullptr, after_fork_in_child); });
    // Never destroyed: threads may still be inside the interface while the process exits.
    runtime = new Runtime;
    the_runtime.store(runtime, std::memory_order_release);
  }
  return *runtime;
}

Runtime::Runtime() {
  const std::uint32_t count = devices_wanted();
  for (std::uint32_t id = 0; id < count; ++id) {
    devices_.push_back(std::make_shared<Device>(static_cast<std::uint16_t>(id)));
  }
  defaults_.resize(count);
}

void Runtime::after_fork_in_child() {
  // The threads of the parent's streams do not exist here, and one of them may hold a lock. The
  // parent's runtime is therefore left untouched; a new one is created on demand.
  Runtime* const parents = the_runtime.exchange(nullptr);
  if (parents != nullptr) {
    parents->next_parent_ = of_parents;
    of_parents = parents;
  }
  new (&making) std::mutex;
  current_context_handle = nullptr;
}

void Runtime::initialise() {
  State before = State::fresh;
  if (state_.compare_exchange_strong(before, State::initialised)) return;
  before = State::finalised;
  if (state_.compare_exchange_strong(before, State::initialised)) return;
  throw Failure(ACL_ERROR_REPEAT_INITIALIZE);
}

void Runtime::require_initialised() const {
  if (!is_initialised()) throw Failure(ACL_ERROR_UNINITIALIZE);
}

void Runtime::finalise() {
  refuse_inside_a_task();
  State before = State::initialised;
  if (!state_.compare_exchange_strong(before, State::finalised)) {
    throw Failure(before == State::finalised ? ACL_ERROR_REPEAT_FINALIZE : ACL_ERROR_UNINITIALIZE);
  }
  std::map<std::uint32_t, std::shared_ptr<LoadedModel>> models;
  {
    const std::lock_guard lock(mutex_);
    models.swap(models_);
    for (DefaultContext& entry : defaults_) entry = {};
  }
  end_streams(streams_.select([](const Stream&) { return true; }));
  for (const auto& context : contexts_.select([](const Context&) { return true; })) {
    contexts_.take(context.get());
  }
  for (const auto& event : events.select([](const Event&) { return true; })) {
    events.take(event.get());
  }
  for (const auto& [id, model] : models) model->close();
}

std::shared_ptr<Device> Runtime::device(std::int32_t number) const {
  if (number < 0 || static_cast<std::uint32_t>(number) >= device_count()) {
    throw Failure(ACL_ERROR_RT_INVALID_DEVICEID,
                  "no device " + std::to_string(number) + ", this host has " +
                      std::to_string(device_count()) + " (MSPROF_HOST_DEVICES)");
  }
  return devices_[static_cast<std::size_t>(number)];
}

std::shared_ptr<Context> Runtime::make_context_locked(std::uint16_t number, bool is_default) {
  auto context = std::make_shared<Context>();
  context->device = number;
  context->is_default = is_default;
  context->default_stream = std::make_shared<Stream>(devices_[number], context.get());
  streams_.add(context->default_stream);
  contexts_.add(context);
  return context;
}

void Runtime::set_device(std::int32_t number) {
  require_initialised();
  const std::shared_ptr<Device> wanted = device(number);
  const std::lock_guard lock(mutex_);
  DefaultContext& entry = defaults_[wanted->id()];
  if (!entry.context) entry.context = make_context_locked(wanted->id(), true);
  ++entry.uses;
  current_context_handle = entry.context.get();
}

void Runtime::reset_device(std::int32_t number, bool force) {
  require_initialised();
  refuse_inside_a_task();
  const std::shared_ptr<Device> wanted = device(number);
  std::shared_ptr<Context> ending;
  {
    const std::lock_guard lock(mutex_);
    DefaultContext& entry = defaults_[wanted->id()];
    if (!entry.context) throw Failure(ACL_ERROR_RT_CONTEXT_NULL);
    if (--entry.uses != 0 && !force) return;
    ending = std::move(entry.context);
    entry = {};
  }
  end_context(ending);
}

std::shared_ptr<Context> Runtime::create_context(std::int32_t number) {
  require_initialised();
  const std::shared_ptr<Device> wanted = device(number);
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Context> context = make_context_locked(wanted->id(), false);
  current_context_handle = context.get();
  return context;
}

void Runtime::destroy_context(const void* handle) {
  require_initialised();
  refuse_inside_a_task();
  const std::shared_ptr<Context> context = contexts_.find(handle);
  if (!context) throw Failure(ACL_ERROR_RT_INVALID_HANDLE);
  if (context->is_default) {
    throw Failure(ACL_ERROR_RT_PARAM_INVALID,
                  "a device's own context ends with aclrtResetDevice, not aclrtDestroyContext");
  }
  end_context(context);
}

void Runtime::end_context(const std::shared_ptr<Context>& context) {
  if (!contexts_.take(context.get())) return;
  if (current_context_handle == context.get()) current_context_handle = nullptr;
  end_streams(
      streams_.select([&](const Stream& stream) { return stream.context() == context.get(); }));
}

void Runtime::end_streams(const std::vector<std::shared_ptr<Stream>>& streams) {
  settle(streams);
  for (const auto& stream : streams) {
    if (!streams_.take(stream.get())) continue;
    reports.forget_stream(stream.get());
    stream->close(Closing::drain);
  }
}

void Runtime::set_current_context(const void* handle) {
  require_initialised();
  if (!contexts_.find(handle)) throw Failure(ACL_ERROR_RT_INVALID_HANDLE);
  current_context_handle = handle;
}

std::shared_ptr<Context> Runtime::current_context() {
  require_initialised();
  std::shared_ptr<Context> context =
      current_context_handle == nullptr ? nullptr : contexts_.find(current_context_handle);
  if (!context) throw Failure(ACL_ERROR_RT_CONTEXT_NULL);
  return context;
}

std::shared_ptr<Stream> Runtime::create_stream(std::uint32_t priority, std::uint32_t flags) {
  const std::shared_ptr<Context> context = current_context();
  auto stream = std::make_shared<Stream>(devices_[context->device], context.get());
  stream->priority = priority;
  stream->flags = flags;
  streams_.add(stream);
  return stream;
}

void Runtime::destroy_stream(const void* handle, bool force) {
  require_initialised();
  refuse_inside_a_task();
  const std::shared_ptr<Stream> stream = streams_.find(handle);
  if (!stream) throw Failure(ACL_ERROR_RT_INVALID_HANDLE);
  const std::shared_ptr<Context> context = contexts_.find(stream->context());
  if (context && context->default_stream == stream) {
    throw Failure(ACL_ERROR_RT_PARAM_INVALID, "the default stream of a context ends with it");
  }
  if (!streams_.take(handle)) throw Failure(ACL_ERROR_RT_INVALID_HANDLE);
  stream->close(force ? Closing::drop : Closing::finish);
  reports.forget_stream(stream.get());
}

std::shared_ptr<Stream> Runtime::stream(const void* handle) {
  const std::shared_ptr<Context> context = current_context();
  if (handle == nullptr) return context->default_stream;
  std::shared_ptr<Stream> found = streams_.find(handle);
  if (!found) throw Failure(ACL_ERROR_RT_INVALID_HANDLE);
  if (found->context() != context.get()) throw Failure(ACL_ERROR_RT_STREAM_CONTEXT);
  return found;
}

std::vector<std::shared_ptr<Stream>> Runtime::current_device_streams() {
  const std::shared_ptr<Context> context = current_context();
  return streams_.select(
      [&](const Stream& stream) { return stream.device_id() == context->device; });
}

std::vector<std::shared_ptr<Stream>> Runtime::find_streams(
    const std::vector<std::uint16_t>& devices) {
  const auto is_on_one = [&](std::uint16_t device) {
    return std::find(devices.begin(), devices.end(), device) != devices.end();
  };
  std::vector<std::shared_ptr<Stream>> streams =
      streams_.select([&](const Stream& stream) { return is_on_one(stream.device_id()); });
  const std::lock_guard lock(mutex_);
  for (const auto& [id, model] : models_) {
    if (is_on_one(model->device_id())) streams.push_back(model->own_stream());
  }
  return streams;
}

std::shared_ptr<LoadedModel> Runtime::load(runtime::Model model) {
  const std::shared_ptr<Context> context = current_context();
  std::uint32_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = ++last_model_;
  }
  auto loaded = std::make_shared<LoadedModel>(id, std::move(model), devices_[context->device]);
  const std::lock_guard lock(mutex_);
  if (!is_initialised()) throw Failure(ACL_ERROR_UNINITIALIZE);
  models_.emplace(id, loaded);
  return loaded;
}

std::shared_ptr<LoadedModel> Runtime::find_model(std::uint32_t id) {
  require_initialised();
  const std::lock_guard lock(mutex_);
  const auto it = models_.find(id);
  if (it == models_.end()) throw Failure(ACL_ERROR_INVALID_MODEL_ID);
  return it->second;
}

void Runtime::unload(std::uint32_t id) {
  require_initialised();
  refuse_inside_a_task();
  std::shared_ptr<LoadedModel> leaving;
  {
    const std::lock_guard lock(mutex_);
    const auto it = models_.find(id);
    if (it == models_.end()) throw Failure(ACL_ERROR_INVALID_MODEL_ID);
    leaving = std::move(it->second);
    models_.erase(it);
  }
  leaving->close();
}

}  // namespace msprof::acl
