// Helpers shared by the tables of counters: means of samples, number formats, the device cell.
// Source of the formats: cann_system.md 1.4.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "export/scope/counter_samples.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof::cann {

// Adds values in order, as the vendor's tool does, so that sums are identical.
class Mean {
 public:
  void add(double value) {
    ++count_;
    sum_ += value;
    largest_ = std::max(largest_, value);
    smallest_ = std::min(smallest_, value);
  }
  std::int64_t count() const { return count_; }
  double sum() const { return sum_; }
  double value() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
  double largest() const { return largest_; }
  double smallest() const { return smallest_; }

 private:
  std::int64_t count_ = 0;
  double sum_ = 0;
  double largest_ = -std::numeric_limits<double>::infinity();
  double smallest_ = std::numeric_limits<double>::infinity();
};

// Writes the device number, or "host".
void device_cell(RowBuilder& out, const CounterTrack& track);

// Returns the value of a sample rounded to three decimals, halves to even.
double rounded3(const CounterSample& sample);
// "10119.140": always three decimals.
std::string fixed3(double value);
// Python's round(value, 3) as Python prints it: "10119.14", "0.0".
void python_rounded3(RowBuilder& out, double value);
// SQLite's round(value, 3).
void sqlite_rounded3(RowBuilder& out, double value);
// The mean in the form of python_rounded3(); N/A if there are no values.
void rounded3_or_missing(RowBuilder& out, const Mean& mean);

}  // namespace msprof::cann
