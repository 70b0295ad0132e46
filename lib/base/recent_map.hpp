// RecentMap: what was made for keys, at most `kMost` of them. What was asked for lately stays: the
// values are in two generations, and when the newer one is full the older one goes, less what was
// asked for meanwhile.
#pragma once

#include <cstddef>
#include <functional>
#include <unordered_map>
#include <utility>

namespace msprof {

template <typename Key, typename Value, std::size_t kMost, typename Hash = std::hash<Key>>
class RecentMap {
 public:
  // The value of `key`, from make(key) if it is not known. Valid for the next kMost / 2 - 1 calls.
  template <typename Make>
  Value& get(const Key& key, const Make& make) {
    if (const auto known = newer_.find(key); known != newer_.end()) return known->second;
    if (auto known = older_.extract(key)) {
      make_room();
      return newer_.insert(std::move(known)).position->second;
    }
    Value made = make(key);
    make_room();
    return newer_.emplace(key, std::move(made)).first->second;
  }

 private:
  void make_room() {
    if (newer_.size() < kMost / 2) return;
    older_ = std::exchange(newer_, {});
  }

  std::unordered_map<Key, Value, Hash> newer_;
  std::unordered_map<Key, Value, Hash> older_;
};

}  // namespace msprof
