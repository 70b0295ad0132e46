// Parts that the tables of captures of CANN 5 and older share: times on the clocks that the tools
// of that time showed, iterations, names of models.
// Source: cann5_classic.md 3, 9, 10.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "export/scoped_rows.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof::old {

// A value of a unit, as a fraction of whole numbers.
struct Exact {
  int128 numerator = 0;
  int128 denominator = 1;

  // In a unit that is `parts` as large: "26.822917", "4".
  std::string digits(int decimals, std::int64_t parts = 1) const {
    return cann::trimmed(numerator, denominator * parts, decimals);
  }
};
// The times of a store, which are wall-clock ns, on the clocks of that time. A tick of a device is
// longer than a ns: its number is found again from the ns, and so the time without a loss.
class Times {
 public:
  explicit Times(const Database& db);

  // ns of the host's monotonic clock, of a time of the host.
  std::int64_t host_ns(std::int64_t wall_ns) const;
  // The same of a moment of a device; ticks of its counter; the length of a span in ns.
  Exact device_ns(std::int64_t device, std::int64_t wall_ns) const;
  std::int64_t ticks(std::int64_t device, std::int64_t wall_ns) const;
  Exact span_ns(std::int64_t device, std::int64_t duration_ns) const;
  // The length of a run as the difference of its ends as doubles, which is how the tools of that
  // time had it: of two runs of as many ticks the order in their tables depends on it.
  double shown_ns(std::int64_t device, std::int64_t start_wall_ns, std::int64_t duration_ns) const;
  // The length of a span in ticks of the device.
  std::int64_t span_ticks(std::int64_t device, std::int64_t duration_ns) const;
  // Ticks, or a part of them, as us and ms with their digits; without a clock a tick is a ns.
  std::string us_of_ticks(std::int64_t device, int128 ticks, std::int64_t parts = 1) const;
  std::string ms_of_ticks(std::int64_t device, int128 ticks) const;
  double shown_us(std::int64_t device, double ticks) const;

 private:
  struct Clock {
    std::int64_t frequency_hz = 0;
    std::int64_t ticks = 0;
    std::int64_t monotonic_ns = 0;
    std::int64_t wall_offset_ns = 0;
  };
  const Clock& clock_of(std::int64_t device) const;
  std::int64_t ticks_of_second(std::int64_t device) const;

  std::int64_t wall_offset_ns_ = 0;
  std::map<std::int64_t, Clock> clocks_;
  Clock none_;
};

// The iterations of all devices: which one a task belongs to, by its end.
class Iterations {
 public:
  struct Iteration {
    std::int64_t model = kNull;
    std::int64_t number = 0;
    std::int64_t begin_ns = 0;  // of the one before, of any model
    std::int64_t end_ns = 0;
  };

  explicit Iterations(const Database& db);
  bool empty() const { return by_device_.empty(); }
  // Null: behind the last.
  const Iteration* of(std::int64_t device, std::int64_t end_ns) const;

 private:
  std::map<std::int64_t, std::vector<Iteration>> by_device_;  // by their ends
};

// Names of models by their numbers.
class ModelNames {
 public:
  explicit ModelNames(const Database& db);
  // N/A where none is known.
  void write(RowSink& out, std::int64_t model) const;

 private:
  std::map<std::int64_t, std::string> names_;
};

// Numbers that calls of the runtime and executions of models say beside their times; captures of
// today have none.
class CallDetails {
 public:
  explicit CallDetails(const Database& db);
  // Calls come in the order of their ids.
  bool find(std::int64_t api_id);
  std::int64_t stream() const { return read_.maybe_integer(1).value_or(kNull); }
  std::int64_t request() const { return read_.maybe_integer(2).value_or(kNull); }
  std::int64_t size_bytes() const { return read_.maybe_integer(3).value_or(kNull); }
  std::int64_t direction() const { return read_.maybe_integer(4).value_or(kNull); }

 private:
  Statement read_;
  bool more_;
};

// The calls of a level, with their durations, that a table is about, in the order of their begins.
// Those of CANN 5 and older are of the whole capture, from its first record on.
template <typename Take>
void for_each_call(const Database& db, const TableInfo& table, const ExportScope& scope,
                   std::int64_t level, Take&& take) {
  const bool is_today = table.age == ProductAge::today;
  cann::CallCursor calls(db, is_today ? scope : ExportScope{},
                         {&ApiCallRow::id, &ApiCallRow::process_id, &ApiCallRow::type_name_id,
                          &ApiCallRow::item_name_id, &ApiCallRow::level},
                         {}, is_today ? cann::CallWindow(db) : cann::CallWindow::any());
  while (calls.next()) {
    if (calls->level == level) take(*calls, calls.duration_ns());
  }
}

// Of a table of that time, of the whole capture beside each iteration.
TableInfo info_of(ProductAge age, int place, std::string_view name, std::string_view title,
                  std::string_view help, std::string_view exists);

// True if a device is an Ascend 310, whose tables have columns of their own.
bool is_310(const Database& db);
// True if the graph engine described the operators.
bool has_operators(const Database& db);
// True if the device recorded steps; else operators ran one by one.
bool has_steps(const Database& db);

}  // namespace msprof::old
