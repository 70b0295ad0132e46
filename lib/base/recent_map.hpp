// RecentMap: what was made for keys, at most `kMost` of them. What was asked for lately stays: the
// values are in two generations, and when the newer one is full the older one goes, less what was
// asked for meanwhile.
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

  // The value of `key`, from make(key) if it is not known. Valid for the next kMost / 2 - 1 calls.
  template <typename Make>
  Value& get(const Key& key, const Make& make) {
    Node*& near = near_[Hash()(key) % kNear];
    if (near == nullptr || !(near->first == key)) near = &find(key, make);
    return near->second;
  }

 private:
  using Node = std::pair<const Key, Value>;
  // The last key of each of so many hashes is found at once.
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
