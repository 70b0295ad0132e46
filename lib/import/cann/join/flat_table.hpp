// FlatTable: hash table from 64-bit keys to 32-bit numbers in one flat array, for a look-up per
// record. Erasing leaves no tombstones, so the size is proportional to the live keys. FlatMap: maps
// such keys to values that never move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace msprof {

class FlatTable {
 public:
  static constexpr std::uint32_t kNotFound = UINT32_MAX;

  std::size_t size() const { return size_; }

  std::uint32_t find(std::uint64_t key) const {
    if (size_ == 0) return kNotFound;
    for (std::size_t at = home(key);; at = next(at)) {
      if (cells_[at].value == kNotFound) return kNotFound;
      if (cells_[at].key == key) return cells_[at].value;
    }
  }

  // `value` must not be kNotFound.
  void set(std::uint64_t key, std::uint32_t value) {
    if (2 * (size_ + 1) > cells_.size()) grow();
    std::size_t at = home(key);
    while (cells_[at].value != kNotFound && cells_[at].key != key) at = next(at);
    if (cells_[at].value == kNotFound) ++size_;
    cells_[at] = {key, value};
  }

  void erase(std::uint64_t key) {
    if (size_ == 0) return;
    std::size_t at = home(key);
    while (cells_[at].key != key) {
      if (cells_[at].value == kNotFound) return;
      at = next(at);
    }
    if (cells_[at].value == kNotFound) return;
    --size_;
    close_gap(at);
  }

  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const Cell& cell : cells_)
      if (cell.value != kNotFound) visit(cell.key, cell.value);
  }

 private:
  struct Cell {
    std::uint64_t key = 0;
    std::uint32_t value = kNotFound;
  };

  std::size_t home(std::uint64_t key) const {
    // Fibonacci hashing: the high bits of the product are mixed best.
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15U) >> shift_);
  }
  std::size_t next(std::size_t at) const { return (at + 1) & (cells_.size() - 1); }

  // Moves the entries after the gap back to where a search expects them.
  void close_gap(std::size_t gap) {
    for (std::size_t at = next(gap); cells_[at].value != kNotFound; at = next(at)) {
      const std::size_t from_home = (at - home(cells_[at].key)) & (cells_.size() - 1);
      const std::size_t from_gap = (at - gap) & (cells_.size() - 1);
      if (from_home < from_gap) continue;
      cells_[gap] = cells_[at];
      gap = at;
    }
    cells_[gap].value = kNotFound;
  }

  void grow() {
    std::vector<Cell> old(cells_.empty() ? 64 : 2 * cells_.size());
    std::swap(old, cells_);
    shift_ = old.empty() ? 64 - 6 : shift_ - 1;
    for (const Cell& cell : old) {
      if (cell.value == kNotFound) continue;
      std::size_t at = home(cell.key);
      while (cells_[at].value != kNotFound) at = next(at);
      cells_[at] = cell;
    }
  }

  std::vector<Cell> cells_;
  std::size_t size_ = 0;
  unsigned shift_ = 64;
};

template <typename Value>
class FlatMap {
 public:
  // Null if the key is absent.
  Value* find(std::uint64_t key) {
    const std::uint32_t number = numbers_.find(key);
    return number == FlatTable::kNotFound ? nullptr : &values_[number];
  }
  // Returns the value of `key`, and whether it was inserted.
  std::pair<Value&, bool> try_emplace(std::uint64_t key) {
    if (Value* found = find(key)) return {*found, false};
    numbers_.set(key, static_cast<std::uint32_t>(values_.size()));
    return {values_.emplace_back(), true};
  }
  // All values in insertion order.
  std::deque<Value>& values() { return values_; }

 private:
  FlatTable numbers_;
  std::deque<Value> values_;
};

}  // namespace msprof
