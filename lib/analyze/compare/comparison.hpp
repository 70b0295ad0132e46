// Comparison: what changed between two runs, or between several runs a side. Made by compare(),
// shown as text, JSON, CSV and HTML.
//
// All times are us of one execution of the model (svp: an execution, or a picture where batches
// differ; CANN: an iteration; where a capture has neither, of the whole run, and `unit` says so),
// so that runs of different length can be compared.
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

// A run, or several runs of the same thing.
struct ComparedSide {
  std::vector<std::string> captures;  // names of their folders
  std::vector<std::string> runs{};    // when, where and with what each was made, where it is known
  std::string chip;                   // empty: unknown
  std::optional<double> frequency_mhz;
  std::vector<std::string> models;    // names, each once
  std::vector<std::int64_t> batches;  // of its executions, each once, sorted; none: unknown
  std::int64_t devices = 0;
  std::int64_t executions = 0;                       // of all its runs
  std::optional<std::int64_t> pictures{};            // of all its executions
  UnitLoads unit_loads = UnitLoads::measured;        // modelled: in some run
  LayoutOrigin layout_origin = LayoutOrigin::known;  // the gravest of the runs
};

// A time on both sides, with what may be chance.
struct Change {
  std::optional<double> base_us;  // empty: not on this side
  std::optional<double> new_us;
  double noise_us = 0;  // a difference up to this is noise

  double delta_us() const { return new_us.value_or(0) - base_us.value_or(0); }
  // Of the base, in percent; empty where the base is 0 or not there.
  std::optional<double> percent() const;
  bool is_noise() const;
};

enum class MatchedBy {
  name,      // the same name (and number of the layer, where a name comes more than once)
  shape,     // the same type and shapes, in order
  fusion,    // several operators of one side are one on the other
  unmatched  // only on one side
};

// "shape", as every output calls it; "unmatched" is for programs, people are told which side has
// it.
std::string_view match_name(MatchedBy matched_by);

// A ratio or load of op_summary that moved: "mac_ppen_ratio", "memory_bound".
struct RatioChange {
  std::string name;
  double base = 0;
  double now = 0;
};

struct OpChange {
  std::vector<std::string> base_names;  // several, or none
  std::vector<std::string> new_names;
  std::string base_type;  // of several: joined by '+'
  std::string new_type;
  std::string unit;  // "AA_CORE"
  MatchedBy matched_by = MatchedBy::unmatched;
  Change time;
  std::int64_t base_count = 0;  // executions in all captures of the side
  std::int64_t new_count = 0;
  double share = 0;  // of the change of the total, in %; may be negative or above 100
  std::vector<RatioChange> ratios;

  // "conv1+conv1_bn+conv1_relu": what to call it.
  std::string name() const;
  // match_name(), or "only BASE", "only NEW".
  std::string_view match() const;
};

// All operators of one type together.
struct TypeChange {
  std::string type;
  Change time;
  std::int64_t base_ops = 0;  // operators, not executions
  std::int64_t new_ops = 0;
  double share = 0;  // as in OpChange
};

// Calls on the host of one name, or ranges that the application named, us of one of them.
struct CallChange {
  std::string name;
  Change time;
  std::int64_t base_count = 0;
  std::int64_t new_count = 0;
};

// A system counter that both sides have: its mean over the run, in its unit.
struct CounterChange {
  std::string device;  // "host", "device", "device 1"
  std::string kind;    // of its table: "hbm"
  std::string name;    // "HBM 0 Read"
  std::string unit;    // "MB/s"
  double base = 0;
  double now = 0;
  double noise = 0;  // a difference up to this is noise
  std::int64_t base_samples = 0;
  std::int64_t new_samples = 0;

  double delta() const { return now - base; }
  // Of the base, in percent; empty where the base is 0.
  std::optional<double> percent() const;
  bool is_noise() const;
};

struct MatchCounts {
  std::int64_t by_name = 0;
  std::int64_t by_shape = 0;
  std::int64_t by_fusion = 0;  // operators of the new side that take the place of several, or back
  std::int64_t only_base = 0;
  std::int64_t only_new = 0;

  // "2 matched by name, 1 by shape, …"
  std::string text() const;
};

// A reason why the two are hard to compare; with an id where scripts may want to know.
struct ComparisonWarning {
  std::string text;
  std::optional<FindingId> id{};

  // "... [batches_differ]"
  std::string shown() const;
};

enum class Verdict { faster, slower, noise };
// "faster", as JSON and the classes of the report call it.
std::string_view verdict_name(Verdict verdict);

// "per execution" for "one execution", "for the whole run".
std::string per_unit(const std::string& unit);
// Unit that runs are counted in: "execution" for times of one execution or picture, "iteration";
// empty where whole runs are compared.
std::string_view counted_unit(const std::string& unit);

// "mish → leaky_relu"; one of them where the other is empty or the same.
std::string text_of_both(const std::string& base, const std::string& now);

struct Comparison {
  ComparedSide base;
  ComparedSide now;
  // Reasons why the two are hard to compare, a sentence each; shown first.
  std::vector<ComparisonWarning> warnings;
  std::string unit;         // "one execution", "one picture", "one iteration", "the whole run"
  std::string noise_basis;  // how the noise floor came about, a sentence
  Change total;             // device time
  Verdict verdict = Verdict::noise;
  MatchCounts matches;
  // Both sorted by the size of their change, the largest first.
  std::vector<OpChange> ops;
  std::vector<TypeChange> types;
  std::vector<CallChange> calls;
  std::vector<CallChange> ranges;
  // What moved beyond noise first, the largest change of itself first.
  std::vector<CounterChange> counters;
};

}  // namespace msprof
