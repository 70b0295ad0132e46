// Comparison holds the changes between two runs, or between several runs per side. It is created by
// compare() and printed as text, JSON, CSV and HTML.
//
// Times are in us per execution of the model, so that runs of different length can be compared:
// svp: per execution, or per picture if batches differ; CANN: per iteration. Captures with neither
// are compared as whole runs. `unit` names the unit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/findings.hpp"
#include "store/layout_origin.hpp"
#include "store/unit_loads.hpp"

namespace msprof {

// One run, or several runs of one program.
struct ComparedSide {
  std::vector<std::string> captures;  // folder names
  std::vector<std::string> runs{};    // when, where and how they were run, if known
  std::string chip;                   // empty: unknown
  std::optional<double> frequency_mhz;
  std::vector<std::string> models;    // names, without duplicates
  std::vector<std::int64_t> batches;  // of the executions, sorted, unique; empty: unknown
  std::int64_t devices = 0;
  std::int64_t executions = 0;                       // sum over all runs
  std::optional<std::int64_t> pictures{};            // sum over all executions
  UnitLoads unit_loads = UnitLoads::measured;        // modelled: in at least one run
  LayoutOrigin layout_origin = LayoutOrigin::known;  // least certain of all runs
};

// A value on both sides, and its noise. Times are in microseconds.
struct Change {
  std::optional<double> base;  // empty: not on this side
  std::optional<double> now;
  double noise = 0;  // smaller or equal differences are noise

  double delta() const { return now.value_or(0) - base.value_or(0); }
  // Returns percent of the base; empty if the base is 0 or missing.
  std::optional<double> percent() const;
  bool is_noise() const;
};

enum class MatchedBy {
  name,      // same name, and layer number if the name repeats
  shape,     // same type and shapes, in order
  fusion,    // several operators of one side are fused into one on the other
  unmatched  // only on one side
};

// Returns "shape", for all outputs. For people, "unmatched" is replaced; see OpChange::match().
std::string_view match_name(MatchedBy matched_by);

// A ratio or load in op_summary that changed: "mac_ppen_ratio", "memory_bound".
struct RatioChange {
  std::string name;
  double base = 0;
  double now = 0;
};

struct OpChange {
  std::vector<std::string> base_names;  // several for a fusion; empty: not on this side
  std::vector<std::string> new_names;
  std::string base_type;  // several types are joined by '+'
  std::string new_type;
  std::string unit;  // "AA_CORE"
  MatchedBy matched_by = MatchedBy::unmatched;
  Change time;
  std::int64_t base_count = 0;  // executions in all captures of the side
  std::int64_t new_count = 0;
  double share = 0;  // percentage of the total change; can be negative or above 100
  std::vector<RatioChange> ratios;

  // Returns the name for output: "conv1+conv1_bn+conv1_relu".
  std::string name() const;
  // Returns match_name(), "only BASE" or "only NEW".
  std::string_view match() const;
};

struct TypeChange {
  std::string type;
  Change time;
  std::int64_t base_ops = 0;  // number of operators, not executions
  std::int64_t new_ops = 0;
  double share = 0;  // as in OpChange
};

// Calls on the host with one name, or ranges named by the application; us per call or range.
struct CallChange {
  std::string name;
  Change time;
  std::int64_t base_count = 0;
  std::int64_t new_count = 0;
};

// A system counter of both sides: means over the runs.
struct CounterChange {
  std::string device;  // "host", "device", "device 1"
  std::string kind;    // kind of its table: "hbm"
  std::string name;    // "HBM 0 Read"
  std::string unit;    // "MB/s"
  Change mean;
  std::int64_t base_samples = 0;
  std::int64_t new_samples = 0;
};

struct MatchCounts {
  std::int64_t by_name = 0;
  std::int64_t by_shape = 0;
  std::int64_t by_fusion = 0;  // operators that replace several of the other side
  std::int64_t only_base = 0;
  std::int64_t only_new = 0;

  // "2 matched by name, 1 by shape, …"
  std::string text() const;
};

// A reason why the sides are hard to compare. Has an id if scripts may need to detect it.
struct ComparisonWarning {
  std::string text;
  std::optional<FindingId> id{};

  // "... [batches_differ]"
  std::string shown() const;
};

enum class Verdict { faster, slower, noise };
// Returns "faster" and so on, as in JSON and in CSS classes of the report.
std::string_view verdict_name(Verdict verdict);

// Returns "per execution" for "one execution", "for the whole run" for "the whole run".
std::string per_unit(const std::string& unit);
// Returns the unit in which runs are counted: "execution" for times per execution or picture,
// "iteration", or empty for whole runs.
std::string_view counted_unit(const std::string& unit);

// Returns "mish → leaky_relu"; only one of them if they are equal or the other is empty.
std::string join_both(const std::string& base, const std::string& now);

struct Comparison {
  ComparedSide base;
  ComparedSide now;
  // Sentences that explain why the sides are hard to compare; shown first.
  std::vector<ComparisonWarning> warnings;
  std::string unit;         // "one execution", "one picture", "one iteration", "the whole run"
  std::string noise_basis;  // a sentence that explains the noise limit
  Change total;             // device time
  Verdict verdict = Verdict::noise;
  MatchCounts matches;
  // Sorted by size of change, largest first.
  std::vector<OpChange> ops;
  std::vector<TypeChange> types;
  std::vector<CallChange> calls;
  std::vector<CallChange> ranges;
  // Changes beyond noise first, then by relative change, largest first.
  std::vector<CounterChange> counters;
};

}  // namespace msprof
