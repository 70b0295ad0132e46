// ProductRow writes rows of databases that the vendor's tools read.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cluster/products/communication_items.hpp"
#include "store/database.hpp"

namespace msprof::cluster {

// Converts a value to the double that parsing the text files yields.
inline double to_real(std::int64_t value, double unit) {
  return static_cast<double>(value) / unit;
}
inline double real_ratio(std::int64_t numerator, int128 denominator) {
  std::string digits;
  append_ratio(digits, numerator, denominator);
  return std::strtod(digits.c_str(), nullptr);
}

class ProductRow {
 public:
  explicit ProductRow(Statement& statement) : statement_(&statement) {}
  ProductRow& operator<<(std::string_view text) { return bound(statement_->bind(++place_, text)); }
  ProductRow& operator<<(double value) { return bound(statement_->bind(++place_, value)); }
  ProductRow& operator<<(std::int64_t value) {
    if (value == kNull) return none();
    return bound(statement_->bind(++place_, value));
  }
  ProductRow& none() { return bound(statement_->bind_null(++place_)); }
  void run() { statement_->run(); }

 private:
  ProductRow& bound(Statement&) { return *this; }
  Statement* statement_;
  int place_ = 0;
};

}  // namespace msprof::cluster
