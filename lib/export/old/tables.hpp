// Helpers shared by the tables of captures of CANN 5 and older: times on the clocks that the tools
// of that time used, iterations, names of models. Source: cann5_classic.md 3, 9, 10.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "export/old/registry.hpp"
#include "export/scope/scoped_rows.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof::old {

// An exact fraction; the function that returns it defines the unit.
struct Exact {
  int128 numerator = 0;
  int128 denominator = 1;

  // Formats the value in a unit `parts` times as large: "26.822917", "4".
  std::string digits(int decimals, std::int64_t parts = 1) const {
    return cann::trimmed(numerator, denominator * parts, decimals);
  }
};
// Converts times of a store, which are wall-clock ns, to the clocks of that time. A device tick is
// longer than a ns, so the tick count is recovered from the ns, and no precision is lost.
class OldTimes {
 public:
  explicit OldTimes(const Database& db);

  // Converts a host time to ns of the host's monotonic clock.
  std::int64_t host_ns(std::int64_t wall_ns) const;
  // Convert a device time to ns of the host's monotonic clock, or to ticks; convert a duration to
  // exact ns.
  Exact device_ns(std::int64_t device, std::int64_t wall_ns) const;
  std::int64_t ticks(std::int64_t device, std::int64_t wall_ns) const;
  Exact span_ns(std::int64_t device, std::int64_t duration_ns) const;
  // Duration as the difference of its two ends as doubles, as the tools of that time computed it.
  // It decides the order of rows with equal numbers of ticks.
  double shown_ns(std::int64_t device, std::int64_t start_wall_ns, std::int64_t duration_ns) const;
  std::int64_t span_ticks(std::int64_t device, std::int64_t duration_ns) const;
  // Convert ticks, or a fraction of them, to us and ms. Without a known clock one tick is one ns.
  std::string ticks_to_us(std::int64_t device, int128 ticks, std::int64_t parts = 1) const;
  std::string ticks_to_ms(std::int64_t device, int128 ticks) const;
  double shown_us(std::int64_t device, double ticks) const;

 private:
  struct Clock {
    std::int64_t frequency_hz = 0;
    std::int64_t ticks = 0;
    std::int64_t monotonic_ns = 0;
    std::int64_t wall_offset_ns = 0;
  };
  const Clock& find_clock(std::int64_t device) const;
  std::int64_t ticks_per_second(std::int64_t device) const;

  std::int64_t wall_offset_ns_ = 0;
  std::map<std::int64_t, Clock> clocks_;
  Clock none_;
};

// Finds the iteration of a task by its end, on all devices.
class OldIterations {
 public:
  struct Iteration {
    std::int64_t model = kNull;
    std::int64_t number = 0;
    std::int64_t begin_ns = 0;  // end of the previous iteration, of any model
    std::int64_t end_ns = 0;
  };

  explicit OldIterations(const Database& db);
  bool empty() const { return by_device_.empty(); }
  // Returns null after the last iteration.
  const Iteration* find(std::int64_t device, std::int64_t end_ns) const;

 private:
  std::map<std::int64_t, std::vector<Iteration>> by_device_;  // sorted by end
};

class ModelNames {
 public:
  explicit ModelNames(const Database& db);
  // Writes N/A if the name is unknown.
  void write(RowBuilder& out, std::int64_t model) const;

 private:
  std::map<std::int64_t, std::string> names_;
};

// Reads what runtime calls and model executions recorded besides times; current captures have no
// such details.
class CallDetails {
 public:
  explicit CallDetails(const Database& db);
  // Calls must be queried in ascending order of ids.
  bool find(std::int64_t api_id);
  std::int64_t stream() const { return read_.maybe_integer(1).value_or(kNull); }
  std::int64_t request() const { return read_.maybe_integer(2).value_or(kNull); }
  std::int64_t size_bytes() const { return read_.maybe_integer(3).value_or(kNull); }
  std::int64_t direction() const { return read_.maybe_integer(4).value_or(kNull); }

 private:
  Statement read_;
  bool has_more_;
};

// Visits the calls of one level, by start, with their durations. For captures of CANN 5 and older,
// ignores `scope` and includes calls from before the collection.
template <typename Take>
void for_each_call(const Database& db, Age age, const ExportScope& scope, std::int64_t level,
                   Take&& take) {
  const bool is_current = age == Age::current;
  cann::CallCursor calls(db, is_current ? scope : ExportScope{},
                         {&ApiCallRow::id, &ApiCallRow::process_id, &ApiCallRow::type_name_id,
                          &ApiCallRow::item_name_id, &ApiCallRow::level},
                         {}, is_current ? cann::CallWindow(db) : cann::CallWindow::any());
  while (calls.next()) {
    if (calls->level == level) take(*calls, calls.duration_ns());
  }
}

// Returns true if a device is an Ascend 310, whose tables have different columns.
bool is_310(const Database& db);
// Returns true if the graph engine described the operators.
bool has_operators(const Database& db);
// Returns true if the device recorded steps; else operators ran one by one.
bool has_steps(const Database& db);

}  // namespace msprof::old
