// Handles of the C interfaces, for configurations that an application creates and destroys.
#pragma once

#include <pthread.h>

#include <mutex>
#include <optional>
#include <set>
#include <utility>

namespace msprof::runtime {

// The set of valid handles. Unknown and destroyed handles are rejected.
template <typename Handle>
class Handles {
 public:
  Handle* add(Handle&& made) {
    auto* const handle = new Handle(std::move(made));
    const std::lock_guard lock(mutex_);
    known_.insert(handle);
    return handle;
  }

  bool remove(const Handle* handle) {
    const std::lock_guard lock(mutex_);
    if (known_.erase(handle) == 0) return false;
    delete handle;
    return true;
  }

  // Called around a fork, so that the child does not inherit a lock held by another thread.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

  // Returns a copy of the object, since another thread may destroy it; empty for an invalid handle.
  std::optional<Handle> find(const Handle* handle) {
    const std::lock_guard lock(mutex_);
    return known_.count(handle) == 0 ? std::nullopt : std::optional<Handle>(*handle);
  }

 private:
  std::mutex mutex_;
  std::set<const Handle*> known_;
};

// The handles of one interface. Call instance() when the library is loaded: if another thread
// creates them during a fork, the child waits for that thread forever.
template <typename Config, typename SubscribeConfig>
struct ProfHandles {
  Handles<Config> configs;
  Handles<SubscribeConfig> subscribe_configs;

  // Never destroyed: other threads may still be inside the interface while the process exits.
  static ProfHandles& instance() {
    static ProfHandles* const made = [] {
      const auto unlock = [] {
        instance().configs.unlock();
        instance().subscribe_configs.unlock();
      };
      pthread_atfork(
          [] {
            instance().subscribe_configs.lock();
            instance().configs.lock();
          },
          unlock, unlock);
      return new ProfHandles;
    }();
    return *made;
  }
};

}  // namespace msprof::runtime
