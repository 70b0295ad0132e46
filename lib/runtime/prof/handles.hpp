// Handles of the C interfaces: configurations that an application makes and destroys.
#pragma once

#include <pthread.h>

#include <mutex>
#include <set>
#include <utility>

namespace msprof::runtime {

// Handles that the application has; one that was destroyed, or never was, is refused.
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

  // Around a fork, so that a child finds no lock of a thread that it does not have.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

  // A copy, since another thread may destroy it.
  bool copy(const Handle* handle, Handle& out) {
    const std::lock_guard lock(mutex_);
    if (known_.count(handle) == 0) return false;
    out = *handle;
    return true;
  }

 private:
  std::mutex mutex_;
  std::set<const Handle*> known_;
};

// Those of one interface. Make them when the library is loaded: a child that is forked while a
// thread of its parent makes them would wait for that thread for ever.
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
