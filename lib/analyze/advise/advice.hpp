// Advice: findings of the rules in a capture. Made by advise(); `msprof advise` shows it.
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

// A number or a text that a finding rests on.
struct EvidenceValue {
  std::string name;  // "memory_bound"
  std::optional<double> number;
  std::string text;  // where it is no number
};

struct Evidence {
  std::string name;  // of the operator, call, device
  std::optional<std::int64_t> count;
  std::optional<double> time_us;  // of one, in the mean
  std::optional<double> share_percent;
  std::vector<EvidenceValue> values;
};

struct AdviceFinding {
  const Rule* rule = nullptr;
  Bilingual title;  // numbers filled in
  Bilingual advice;
  std::int64_t count = 0;               // matching rows of the table, sequences, rows of the SQL
  std::optional<double> time_us;        // at stake
  bool is_per_execution = false;        // the time is that of one execution, else of the capture
  std::optional<double> share_percent;  // of the time of all operators, or as the rule defines
  std::size_t evidence_count = 0;       // in all
  std::vector<Evidence> evidence;       // the gravest first, at most kMaxEvidence
};
inline constexpr std::size_t kMaxEvidence = 20;

struct RuleWithoutData {
  const Rule* rule = nullptr;
  Bilingual reason;
};

// A rule that rests on unit loads finds nothing in a capture whose unit loads are modelled: it is
// one without data.
struct Advice {
  UnitLoads unit_loads = UnitLoads::measured;
  LayoutOrigin layout_origin = LayoutOrigin::known;
  std::vector<AdviceFinding> findings;  // by severity, then by share of the time
  std::vector<const Rule*> not_met;
  std::vector<RuleWithoutData> without_data;
  std::size_t checked() const { return findings.size() + not_met.size() + without_data.size(); }
};

// Throws Error(usage), with file and rule, for a user's rule whose SQL is not understood; a rule of
// the product that the store cannot answer is one without data. The advice points into `rules`.
Advice advise(const TraceDb& store, const std::vector<Rule>& rules);
// The same for a cluster, by the rules about clusters; the others are for captures, and not
// counted.
Advice advise(const cluster::Part& part, const std::vector<Rule>& rules);

// "12.5": at most three decimals, no zeros at the end.
std::string number_text(double value);

}  // namespace msprof
