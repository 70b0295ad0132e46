// RunProfile: what a comparison needs of one run, read from its store once. For compare().
//
// Times are us of one execution. Medians, because the first executions and hiccups are outliers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyze/compare/counter_profile.hpp"
#include "query/query_db.hpp"
#include "store/layout_origin.hpp"
#include "store/trace_db.hpp"
#include "store/unit_loads.hpp"

namespace msprof {

// How many pictures the executions of a run took at once, as its captures say. What the model was
// built for says nothing of a run.
struct Batches {
  // Model ► batch ► executions of that batch.
  std::map<std::string, std::map<std::int64_t, std::int64_t>> executions;

  void add(const Batches& other);
  std::vector<std::int64_t> values() const;  // each once, sorted
  std::int64_t pictures() const;             // of all executions
};

Batches read_batches(const QueryDb& db);

// Returns whether an execution of one run does the same work as one of the other: most executions
// of each model have one batch, and the same one.
bool execute_alike(const Batches& a, const Batches& b);

// "1", "1 and 4"; "unknown" where no capture says it.
std::string batch_text(const std::vector<std::int64_t>& batches);

// Unit that times are of. Executions can be read picture by picture, too, and any run as a whole.
enum class TimeUnit { execution, picture, iteration, whole_run };

// Middle of `values`, of an even number the mean of the middle two; 0 where there are none.
double median_of(std::vector<double> values);
// Median absolute deviation from `middle`: the usual distance of a value.
double deviation_of(const std::vector<double>& values, double middle);

struct OpProfile {
  std::string model;  // empty: of none
  std::string name;
  std::string type;
  std::string unit;
  std::string shapes;                  // of inputs and outputs; empty: unknown
  std::vector<std::string> originals;  // layers that were fused into it; itself where it is one
  double us = 0;                       // of one execution of the model
  double mad_us = 0;
  double fastest_us = 0;
  std::int64_t count = 0;                // its tasks
  std::map<std::string, double> ratios;  // of op_summary, weighted by time
};

// Calls on the host of one name, or ranges that the application named.
struct CallProfile {
  std::string name;
  double us = 0;  // of one call
  double mad_us = 0;
  double fastest_us = 0;
  std::int64_t count = 0;
};

struct RunProfile {
  std::string capture;  // name of its folder
  std::string run{};    // when, where and with what; empty: unknown
  bool is_partial = false;
  std::string dialect;
  std::string chip;  // empty: unknown
  std::optional<double> frequency_mhz;
  std::vector<std::string> models;  // names, each once, sorted
  Batches batches;                  // none where its captures do not say them
  std::int64_t devices = 0;         // with tasks

  TimeUnit unit = TimeUnit::whole_run;
  std::int64_t executions = 0;
  double total_us = 0;
  double mad_us = 0;
  // Of executions: each operator at its fastest, which a busy machine hardly changes.
  double fastest_us = 0;
  // Of the first and of the second half of the executions, where there are enough of them.
  std::optional<double> first_half_us;
  std::optional<double> second_half_us;
  double outside_share = 0;  // part of the operators' time that lies in no execution, 0 to 1

  std::vector<OpProfile> ops;  // in the order of the model, or of their first tasks
  std::vector<CallProfile> calls;
  std::vector<CallProfile> ranges;
  std::vector<CounterProfile> counters;
  double largest_ratio = 0;  // 1 where ratios are fractions, 100 where they are percentages
  UnitLoads unit_loads = UnitLoads::measured;
  LayoutOrigin layout_origin = LayoutOrigin::known;
};

// Unit that the run's own times are of.
TimeUnit natural_unit(const TraceDb& store);

// The part of the operators' time that lies outside of all iterations, 0 to 1.
double outside_iterations(const TraceDb& store);

// Throws Error(nothing_to_do) where no operator has a time.
RunProfile read_run(const TraceDb& store, const std::string& capture, bool is_partial,
                    TimeUnit unit);

}  // namespace msprof
