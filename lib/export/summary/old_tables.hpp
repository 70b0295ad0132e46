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
};
// With at most `decimals` digits after the point and no zeros at the end: "26.822917", "4".
std::string digits_of(const Exact& value, int decimals);
// A share with six digits: small ones of long captures are still something.
std::string percent_of(int128 part, int128 whole);

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
  std::int64_t frequency_hz(std::int64_t device) const;

 private:
  struct Clock {
    std::int64_t frequency_hz = 0;
    std::int64_t ticks = 0;
    std::int64_t monotonic_ns = 0;
    std::int64_t wall_offset_ns = 0;
  };
  const Clock& clock_of(std::int64_t device) const;

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

// True if the graph engine described the operators.
bool has_operators(const Database& db);
// True if the device recorded steps; else operators ran one by one.
bool has_steps(const Database& db);

inline void write_id(RowSink& out, std::int64_t id) {
  id == kNull ? out.missing() : out.number(id);
}

}  // namespace msprof::old
