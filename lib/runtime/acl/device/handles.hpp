// Maps handles of the application to objects. An unknown or destroyed handle is an error instead of
// a crash, and an object in use stays alive while another thread destroys it.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace msprof::acl {

template <typename T>
class AclHandles {
 public:
  // The handle is the object's address.
  void add(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    const void* handle = object.get();
    objects_.emplace(handle, std::move(object));
  }

  // Null if the handle is unknown.
  std::shared_ptr<T> find(const void* handle) const {
    const std::shared_lock lock(mutex_);
    const auto it = objects_.find(handle);
    return it == objects_.end() ? nullptr : it->second;
  }

  std::shared_ptr<T> take(const void* handle) {
    const std::lock_guard lock(mutex_);
    const auto it = objects_.find(handle);
    if (it == objects_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(it->second);
    objects_.erase(it);
    return object;
  }

  // Returns the objects for which `wanted(object)` is true, in no particular order.
  template <typename Predicate>
  std::vector<std::shared_ptr<T>> select(Predicate wanted) const {
    const std::shared_lock lock(mutex_);
    std::vector<std::shared_ptr<T>> found;
    for (const auto& [handle, object] : objects_) {
      if (wanted(*object)) found.push_back(object);
    }
    return found;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<T>> objects_;
};

}  // namespace msprof::acl
