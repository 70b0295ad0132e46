// RecentMap: cache of at most `kMost` computed values that keeps the recently used. Values are in
// two generations: when the newer one is full it replaces the older one, whose entries are dropped
// unless they were used in the meantime.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <unordered_map>
#include <utility>

namespace msprof {

template <typename Key, typename Value, std::size_t kMost, typename Hash = std::hash<Key>>
class RecentMap {
 public:
  RecentMap() = default;
  RecentMap(const RecentMap&) = delete;
  RecentMap& operator=(const RecentMap&) = delete;

  // Returns the value of `key`, calling make(key) if it is not cached. The reference stays valid
  // for the next kMost / 2 - 1 calls.
  template <typename Make>
  Value& get(const Key& key, const Make& make) {
    Node*& near = near_[Hash()(key) % kNear];
    if (near == nullptr || !(near->first == key)) near = &find(key, make);
    return near->second;
  }

 private:
  using Node = std::pair<const Key, Value>;
  // Size of the direct-mapped cache, indexed by hash, that is searched before the maps.
  static constexpr std::size_t kNear = std::min<std::size_t>(kMost / 2, 16'384);

  template <typename Make>
  Node& find(const Key& key, const Make& make) {
    if (const auto known = newer_.find(key); known != newer_.end()) return *known;
    if (auto known = older_.extract(key)) {
      make_room();
      return *newer_.insert(std::move(known)).position;
    }
    Value made = make(key);
    make_room();
    return *newer_.emplace(key, std::move(made)).first;
  }

  void make_room() {
    if (newer_.size() < kMost / 2) return;
    near_.fill(nullptr);
    older_ = std::exchange(newer_, {});
  }

  std::array<Node*, kNear> near_{};
  std::unordered_map<Key, Value, Hash> newer_;
  std::unordered_map<Key, Value, Hash> older_;
};

}  // namespace msprof
