// UserRanges: reads ranges and marks named by the application together with the marks that devices
// recorded for them. For the table msprof_tx and the layer msproftx.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "store/database.hpp"
#include "store/schema.hpp"

namespace msprof::cann {

class UserRanges {
 public:
  // `rest`: SQL after the columns, with user_range AS range and device_mark AS mark.
  UserRanges(const Database& db, std::string_view rest)
      : read_(db.prepare("SELECT range.*, mark.*" + std::string(rest))) {}

  bool next() {
    if (!read_.step()) return false;
    int column = 0;
    for (auto* cell = reinterpret_cast<std::int64_t*>(&range_); column < kMark; ++column)
      *cell++ = read_.maybe_integer(column).value_or(kNull);
    for (auto* cell = reinterpret_cast<std::int64_t*>(&mark_); column < kExtra; ++column)
      *cell++ = read_.maybe_integer(column).value_or(kNull);
    return true;
  }

  // The id of a missing row is kNull.
  const UserRangeRow& range() const { return range_; }
  const DeviceMarkRow& mark() const { return mark_; }
  // Returns the column of `rest` that follows those of the rows.
  std::int64_t extra() const { return read_.integer(kExtra); }

 private:
  static constexpr int kMark = sizeof(UserRangeRow) / sizeof(std::int64_t);
  static constexpr int kExtra = kMark + sizeof(DeviceMarkRow) / sizeof(std::int64_t);

  Statement read_;
  UserRangeRow range_;
  DeviceMarkRow mark_;
};

}  // namespace msprof::cann
