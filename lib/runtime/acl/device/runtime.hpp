// All state between aclInit and aclFinalize: devices, contexts, handles, memory, models.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/acl/device/device.hpp"
#include "runtime/acl/device/event.hpp"
#include "runtime/acl/device/handles.hpp"
#include "runtime/acl/device/loaded_model.hpp"
#include "runtime/acl/device/memory.hpp"
#include "runtime/acl/device/notify.hpp"
#include "runtime/acl/device/operation.hpp"
#include "runtime/acl/device/reports.hpp"
#include "runtime/acl/device/stream.hpp"

namespace msprof::acl {

// Functions throw Failure with the code that the interface returns.
class Runtime {
 public:
  // The runtime of this process. A forked child gets a new one, which is not initialized and in
  // which the parent's handles are invalid.
  static Runtime& instance();

  void initialise();
  // Closes all streams and models. Memory stays allocated until it is freed.
  void finalise();
  bool is_initialised() const { return state_.load() == State::initialised; }
  void require_initialised() const;

  std::uint32_t device_count() const { return static_cast<std::uint32_t>(devices_.size()); }

  void set_device(std::int32_t device);
  void reset_device(std::int32_t device, bool force);
  std::shared_ptr<Context> create_context(std::int32_t device);
  void destroy_context(const void* handle);
  void set_current_context(const void* handle);
  std::shared_ptr<Context> current_context();
  Device& find_device(const Context& context) const { return *devices_[context.device]; }

  std::shared_ptr<Stream> create_stream(std::uint32_t priority, std::uint32_t flags);
  void destroy_stream(const void* handle, bool force);
  // Resolves a stream handle for the calling thread; null means the default stream of its context.
  std::shared_ptr<Stream> stream(const void* handle);
  // All streams of the device of the calling thread's context.
  std::vector<std::shared_ptr<Stream>> current_device_streams();
  // All streams of these devices, including those of models.
  std::vector<std::shared_ptr<Stream>> find_streams(const std::vector<std::uint16_t>& devices);

  std::shared_ptr<LoadedModel> load(runtime::Model model);
  std::shared_ptr<LoadedModel> find_model(std::uint32_t id);
  void unload(std::uint32_t id);
  std::uint32_t next_request() { return ++requests_; }

  AclHandles<Event> events;
  AclHandles<Notify> notifies;
  AclHandles<Operation> operations;
  Memory memory;
  Reports reports;

 private:
  enum class State { fresh, initialised, finalised };

  Runtime();
  static void after_fork_in_child();
  std::shared_ptr<Device> device(std::int32_t number) const;
  std::shared_ptr<Context> make_context_locked(std::uint16_t device, bool is_default);
  void end_context(const std::shared_ptr<Context>& context);
  void end_streams(const std::vector<std::shared_ptr<Stream>>& streams);

  struct DefaultContext {
    std::shared_ptr<Context> context;
    std::uint32_t uses = 0;  // calls of aclrtSetDevice minus calls of aclrtResetDevice
  };

  std::atomic<State> state_{State::fresh};
  std::vector<std::shared_ptr<Device>> devices_;
  std::mutex mutex_;
  std::vector<DefaultContext> defaults_;  // one per device
  AclHandles<Context> contexts_;
  AclHandles<Stream> streams_;
  std::map<std::uint32_t, std::shared_ptr<LoadedModel>> models_;
  std::uint32_t last_model_ = 0;
  std::atomic<std::uint32_t> requests_{0};
  Runtime* next_parent_ = nullptr;  // links runtimes inherited by fork
};

}  // namespace msprof::acl
