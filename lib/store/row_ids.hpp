// Row ids as indexes into a vector. For readers of stores, which are untrusted: an id can be any
// number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/database.hpp"

namespace msprof {

// Returns the largest id of `table`, whose rows are numbered from 1 without gaps; 0 if it is empty.
// Throws the Error of a damaged store if the id exceeds the number of rows that fit in the file.
std::int64_t last_id(const Database& db, std::string_view table);

// Maps row ids of a table to Values. Uses four bytes per row of the table, plus one Value per id
// accessed.
template <typename Value>
class ById {
 public:
  // `db` must outlive this. Throws like last_id().
  ById(const Database& db, std::string_view table)
      : db_(&db), table_(table), last_id_(last_id(db, table)) {}

  // Returns false for an id that the table cannot have.
  bool can_have(std::int64_t id) const { return id >= 0 && id <= last_id_; }
  // Returns the Value of a row, default-constructed on first access; valid until the next call.
  // Throws the Error of a damaged store unless can_have(id).
  Value& operator[](std::int64_t id) {
    if (!can_have(id)) fail(id);
    const auto at = static_cast<std::size_t>(id);
    if (at >= places_.size()) places_.resize(at + 1);
    if (places_[at] == 0) {
      values_.emplace_back();
      places_[at] = static_cast<std::uint32_t>(values_.size());
    }
    return values_[places_[at] - 1];
  }
  // Returns null if the row has no Value.
  const Value* find(std::int64_t id) const {
    const auto at = static_cast<std::uint64_t>(id);
    return at < places_.size() && places_[at] != 0 ? &values_[places_[at] - 1] : nullptr;
  }

  // Calls take(id, value) in ascending order of ids.
  template <typename Take>
  void for_each(const Take& take) const {
    for (std::size_t at = 0; at < places_.size(); ++at) {
      if (places_[at] != 0) take(static_cast<std::int64_t>(at), values_[places_[at] - 1]);
    }
  }
  void clear() {
    places_.clear();
    values_.clear();
  }

 private:
  [[noreturn]] void fail(std::int64_t id) const;

  const Database* db_;
  std::string table_;
  std::int64_t last_id_;
  std::vector<std::uint32_t> places_;  // 1 + index into values_; 0: no value
  std::vector<Value> values_;
};

// Throws the Error of a store in which a row refers to row `id` of `table`, which does not exist.
[[noreturn]] void fail_without_row(const Database& db, std::string_view table, std::int64_t id);

template <typename Value>
void ById<Value>::fail(std::int64_t id) const {
  fail_without_row(*db_, table_, id);
}

}  // namespace msprof
