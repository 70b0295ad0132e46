#include "analyze/compare/compare.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "analyze/compare/op_matcher.hpp"
#include "analyze/compare/side_profile.hpp"
#include "analyze/compare/warnings.hpp"

namespace msprof {

namespace {

// A ratio moved when it is another load, not the same one measured again.
constexpr double kRatioPart = 0.03;      // of the full scale
constexpr double kRatioRelative = 0.15;  // of itself
// A bound of 1 has two sides; below this it says "not bound" either way.
constexpr double kLeastBound = 0.2;

std::string unit_text(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::execution:
      return "one execution";
    case TimeUnit::picture:
      return "one picture";
    case TimeUnit::iteration:
      return "one iteration";
    case TimeUnit::whole_run:
      break;
  }
  return "the whole run";
}

// The operators of one side of a match.
struct Part {
  std::vector<std::string> names;
  std::string type;
  std::string unit;
  Measured time;
  std::int64_t count = 0;
};

Part part_of(const SideProfile& side, const std::vector<std::size_t>& places) {
  Part part;
  for (const std::size_t place : places) {
    const OpProfile& op = side.ops[place];
    part.names.push_back(op.name);
    part.type += (part.type.empty() ? "" : "+") + op.type;
    part.unit = op.unit;
    part.time.add_part(side.op_times[place]);
    // Parts of a fusion run as often as the whole.
    part.count = std::max(part.count, side.op_counts[place]);
  }
  return part;
}

class Comparer {
 public:
  Comparer(const std::vector<RunProfile>& base, const std::vector<RunProfile>& now)
      : base_(merge_runs(base)), now_(merge_runs(now)), floor_(base_.total, now_.total) {
    result_.warnings = comparison_warnings(base, now);
    result_.unit = unit_text(base.front().unit);
  }

  Comparison run() {
    result_.base = base_.facts;
    result_.now = now_.facts;
    result_.noise_basis = floor_.basis();
    result_.total = {base_.total.us(), now_.total.us(), 0};
    for (const OpMatch& match : match_ops(base_.ops, now_.ops)) add_op(match);
    judge_total();
    add_types();
    add_calls();
    sort(result_.ops);
    sort(result_.types);
    sort(result_.calls);
    return std::move(result_);
  }

 private:
  void judge_total() {
    const bool some_changed = std::any_of(result_.ops.begin(), result_.ops.end(),
                                          [](const OpChange& op) { return !op.time.is_noise(); });
    result_.total.noise_us = floor_.total_us(some_changed);
    if (!result_.total.is_noise())
      result_.verdict = result_.total.delta_us() < 0 ? Verdict::faster : Verdict::slower;
  }

  double share_of(const Change& change) const {
    const double whole = result_.total.delta_us();
    return whole == 0 ? 0 : 100 * change.delta_us() / whole;
  }

  void add_op(const OpMatch& match) {
    const Part ours = part_of(base_, match.base), theirs = part_of(now_, match.now);
    OpChange op;
    op.base_names = ours.names;
    op.new_names = theirs.names;
    op.base_type = ours.type;
    op.new_type = theirs.type;
    op.unit = theirs.unit.empty() ? ours.unit : theirs.unit;
    op.matched_by = match.by;
    if (!match.base.empty()) op.time.base_us = ours.time.us();
    if (!match.now.empty()) op.time.new_us = theirs.time.us();
    op.time.noise_us = floor_.op_us(ours.time, theirs.time, correspondence(match));
    op.base_count = ours.count;
    op.new_count = theirs.count;
    op.share = share_of(op.time);
    if (match.base.size() == 1 && match.now.size() == 1) add_ratios(match, op);
    count(match);
    result_.ops.push_back(std::move(op));
    matches_.push_back(match);
  }

  static Correspondence correspondence(const OpMatch& match) {
    const bool is_pair = match.base.size() == 1 && match.now.size() == 1;
    return is_pair ? Correspondence::pair : Correspondence::other;
  }

  void count(const OpMatch& match) {
    MatchCounts& counts = result_.matches;
    switch (match.by) {
      case MatchedBy::name:
        ++counts.by_name;
        break;
      case MatchedBy::shape:
        ++counts.by_shape;
        break;
      case MatchedBy::fusion:
        ++counts.by_fusion;
        break;
      case MatchedBy::unmatched:
        ++(match.base.empty() ? counts.only_new : counts.only_base);
        break;
    }
  }

  void add_ratios(const OpMatch& match, OpChange& op) const {
    // A ratio is a part of the time, and as uncertain.
    const double level = std::max(op.time.base_us.value_or(0), op.time.new_us.value_or(0));
    const double chance = level > 0 ? op.time.noise_us / level : 1;
    const double scale = std::max(base_.largest_ratio, now_.largest_ratio);
    const auto& theirs = now_.ops[match.now[0]].ratios;
    for (const auto& [name, base] : base_.ops[match.base[0]].ratios) {
      const auto found = theirs.find(name);
      if (found == theirs.end()) continue;
      const double now = found->second, most = std::max(base, now);
      const bool is_bound = name.ends_with("_bound");
      const double least = is_bound ? kLeastBound : kRatioPart * scale;
      if (is_bound ? most < least : std::abs(now - base) < least) continue;
      if (std::abs(now - base) <= std::max(kRatioRelative, chance) * most) continue;
      op.ratios.push_back({name, base, now});
    }
  }

  struct TypeSum {
    Measured base, now;
    double squared_noise = 0;
    std::int64_t base_ops = 0, new_ops = 0;
  };

  void add_types() {
    std::map<std::string, TypeSum> sums;
    for (std::size_t i = 0; i < matches_.size(); ++i) {
      std::set<std::string> types;
      for (const std::size_t place : matches_[i].base) {
        TypeSum& sum = sums[base_.ops[place].type];
        sum.base.add_part(base_.op_times[place]);
        ++sum.base_ops;
        types.insert(base_.ops[place].type);
      }
      for (const std::size_t place : matches_[i].now) {
        TypeSum& sum = sums[now_.ops[place].type];
        sum.now.add_part(now_.op_times[place]);
        ++sum.new_ops;
        types.insert(now_.ops[place].type);
      }
      const double noise = result_.ops[i].time.noise_us;
      for (const std::string& type : types) sums[type].squared_noise += noise * noise;
    }
    for (const auto& [type, sum] : sums) {
      TypeChange change;
      change.type = type;
      if (sum.base_ops > 0) change.time.base_us = sum.base.us();
      if (sum.new_ops > 0) change.time.new_us = sum.now.us();
      // Operators of a type drift together or apart. A type that came or went is no chance.
      const auto as = sum.base_ops == sum.new_ops ? Correspondence::pair : Correspondence::other;
      if (sum.base_ops > 0 && sum.new_ops > 0) {
        change.time.noise_us =
            std::max(floor_.op_us(sum.base, sum.now, as), std::sqrt(sum.squared_noise));
      }
      change.base_ops = sum.base_ops;
      change.new_ops = sum.new_ops;
      change.share = share_of(change.time);
      result_.types.push_back(std::move(change));
    }
  }

  static double per_execution(const SideProfile& side, const SideProfile::Call& call) {
    const auto executions = std::max<std::int64_t>(1, side.facts.executions);
    return static_cast<double>(call.count) / static_cast<double>(executions);
  }

  void add_calls() {
    std::set<std::string> names;
    for (const auto& one : base_.calls) names.insert(one.first);
    for (const auto& one : now_.calls) names.insert(one.first);
    for (const std::string& name : names) {
      const SideProfile::Call ours = call_of(base_, name), theirs = call_of(now_, name);
      CallChange change;
      change.name = name;
      if (ours.count > 0) change.time.base_us = ours.time.us();
      if (theirs.count > 0) change.time.new_us = theirs.time.us();
      const double rate = std::max(per_execution(base_, ours), per_execution(now_, theirs));
      change.time.noise_us = floor_.call_us(ours.time, theirs.time, rate);
      change.base_count = ours.count;
      change.new_count = theirs.count;
      result_.calls.push_back(std::move(change));
    }
  }

  static SideProfile::Call call_of(const SideProfile& side, const std::string& name) {
    const auto found = side.calls.find(name);
    return found == side.calls.end() ? SideProfile::Call() : found->second;
  }

  template <typename Changes>
  static void sort(Changes& changes) {
    std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) {
      return std::abs(a.time.delta_us()) > std::abs(b.time.delta_us());
    });
  }

  SideProfile base_;
  SideProfile now_;
  NoiseFloor floor_;
  std::vector<OpMatch> matches_;  // as result_.ops, until these are sorted
  Comparison result_;
};

}  // namespace

Comparison compare(const std::vector<RunProfile>& base, const std::vector<RunProfile>& now) {
  return Comparer(base, now).run();
}

}  // namespace msprof
