// RunProfile holds the data of one run that a comparison needs, read from the store in one go.
//
// Times are in us per execution. They are medians, because first executions and interruptions are
// outliers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyze/compare/batches.hpp"
#include "analyze/compare/counter_profile.hpp"
#include "store/layout_origin.hpp"
#include "store/trace_db.hpp"
#include "store/unit_loads.hpp"

namespace msprof {

// The unit of times. Runs with executions can also be read per picture, and any run as a whole.
enum class ProfileUnit { execution, picture, iteration, whole_run };

// Returns the median; 0 if empty.
double median(std::vector<double> values);
// Returns the median absolute deviation from `middle`.
double median_deviation(const std::vector<double>& values, double middle);

struct OpProfile {
  std::string model;  // empty: no model
  std::string name;
  std::string type;
  std::string unit;
  std::string shapes;                  // of inputs and outputs; empty: unknown
  std::vector<std::string> originals;  // layers fused into it; its own name if it was not fused
  double us = 0;                       // per execution of the model
  double mad_us = 0;
  double fastest_us = 0;
  std::int64_t count = 0;                // number of tasks
  std::map<std::string, double> ratios;  // from op_summary, time-weighted means
};

// Calls on the host with one name, or ranges named by the application.
struct CallProfile {
  std::string name;
  double us = 0;  // per call
  double mad_us = 0;
  double fastest_us = 0;
  std::int64_t count = 0;
};

struct RunProfile {
  std::string capture;  // folder name
  std::string run{};    // when, where and how; empty: unknown
  bool is_partial = false;
  std::string dialect;
  std::string chip;  // empty: unknown
  std::optional<double> frequency_mhz;
  std::vector<std::string> models;  // sorted, without duplicates
  Batches batches;                  // empty if not recorded
  std::int64_t devices = 0;         // devices with tasks

  ProfileUnit unit = ProfileUnit::whole_run;
  std::int64_t executions = 0;
  double total_us = 0;
  double mad_us = 0;
  // For executions: sum of the operators' fastest times, which a busy machine hardly affects.
  double fastest_us = 0;
  // Median time of the first and second half of the executions; empty if there are too few.
  std::optional<double> first_half_us;
  std::optional<double> second_half_us;
  double outside_share = 0;  // share of the operators' time outside of executions, 0 to 1

  std::vector<OpProfile> ops;  // in the order of the model, or of first tasks
  std::vector<CallProfile> calls;
  std::vector<CallProfile> ranges;
  std::vector<CounterProfile> counters;
  double largest_ratio = 0;  // 1 if ratios are fractions, 100 if percentages
  UnitLoads unit_loads = UnitLoads::measured;
  LayoutOrigin layout_origin = LayoutOrigin::known;
};

// Returns the unit that fits the run best.
ProfileUnit natural_unit(const TraceDb& store);

// Returns the share of the operators' time outside of all iterations, 0 to 1.
double outside_iterations(const TraceDb& store);

// Throws Error(nothing_to_do) if no operator has a time.
RunProfile read_run(const TraceDb& store, const std::string& capture, bool is_partial,
                    ProfileUnit unit);

}  // namespace msprof
