// Ids of the rows of a table as indexes of a vector. For readers of stores, which can come from
// elsewhere: an id is a number that anybody wrote there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/database.hpp"

namespace msprof {

// The largest id of `table`, whose rows are numbered from 1 without gaps; 0 for an empty one.
// Throws the Error of a damaged store for an id that is larger than the rows the file has room for.
std::int64_t last_id(const Database& db, std::string_view table);

// A Value for each of some rows of a table. It takes four bytes for each row of the table, and a
// Value for those that were asked for.
template <typename Value>
class ById {
 public:
  // `db` outlives this. Throws as last_id().
  ById(const Database& db, std::string_view table)
      : db_(&db), table_(table), last_id_(last_id(db, table)) {}

  // The Value of a row, a new one at first; valid until the next call. Throws the Error of a
  // damaged store for an id that the table cannot have.
  Value& operator[](std::int64_t id) {
    if (id < 0 || id > last_id_) fail(id);
    const auto at = static_cast<std::size_t>(id);
    if (at >= places_.size()) places_.resize(at + 1);
    if (places_[at] == 0) {
      values_.emplace_back();
      places_[at] = static_cast<std::uint32_t>(values_.size());
    }
    return values_[places_[at] - 1];
  }
  // Null for a row that has none.
  const Value* find(std::int64_t id) const {
    const auto at = static_cast<std::uint64_t>(id);
    return at < places_.size() && places_[at] != 0 ? &values_[places_[at] - 1] : nullptr;
  }

  // Calls take(id, value) in the order of the ids.
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
  std::vector<std::uint32_t> places_;  // 1 + index of the value; 0: none
  std::vector<Value> values_;
};

// Throws the Error of a store in which a row names the row `id` of `table`.
[[noreturn]] void fail_without_row(const Database& db, std::string_view table, std::int64_t id);

template <typename Value>
void ById<Value>::fail(std::int64_t id) const {
  fail_without_row(*db_, table_, id);
}

}  // namespace msprof
