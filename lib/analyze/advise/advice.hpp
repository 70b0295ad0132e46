// Advice holds the findings of the rules in a capture. `msprof advise` prints it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/advise/rule.hpp"
#include "cluster/part.hpp"
#include "store/layout_origin.hpp"
#include "store/trace_db.hpp"
#include "store/unit_loads.hpp"

namespace msprof {

// A number or text that supports a finding.
struct EvidenceValue {
  std::string name;  // "memory_bound"
  std::optional<double> number;
  std::string text;  // if it is not a number
};

struct Evidence {
  std::string name;  // operator, call or device
  std::optional<std::int64_t> count;
  std::optional<double> time_us;  // mean of one execution
  std::optional<double> share_percent;
  std::vector<EvidenceValue> values;
};

struct AdviceFinding {
  const Rule* rule = nullptr;
  Bilingual title;  // with numbers filled in
  Bilingual advice;
  std::int64_t count = 0;         // matching table rows, sequences or SQL rows
  std::optional<double> time_us;  // total time affected
  bool is_per_execution = false;  // true: time_us is per execution; false: for the whole capture
  std::optional<double> share_percent;  // of the time of all operators, unless the rule defines it
  std::size_t evidence_count = 0;       // before limiting to kMaxEvidence
  std::vector<Evidence> evidence;       // most important first, at most kMaxEvidence
};
inline constexpr std::size_t kMaxEvidence = 20;

struct RuleWithoutData {
  const Rule* rule = nullptr;
  Bilingual reason;
};

// Rules that depend on unit loads have no data in a capture with modelled unit loads.
struct Advice {
  UnitLoads unit_loads = UnitLoads::measured;
  LayoutOrigin layout_origin = LayoutOrigin::known;
  std::vector<AdviceFinding> findings;  // by severity, then by share of the time
  std::vector<const Rule*> not_met;
  std::vector<RuleWithoutData> without_data;
  std::size_t checked() const { return findings.size() + not_met.size() + without_data.size(); }
};

// Applies `rules` to a capture. Throws Error(usage) with file and rule if the SQL of a user's rule
// is invalid; a built-in rule that fails on this store is listed in without_data. The result points
// into `rules`.
Advice advise(const TraceDb& store, const std::vector<Rule>& rules);
// Applies the cluster rules to a cluster; rules for captures are ignored.
Advice advise(const cluster::Part& part, const std::vector<Rule>& rules);

// Returns "12.5": at most three decimals, without trailing zeros.
std::string number_text(double value);

}  // namespace msprof
