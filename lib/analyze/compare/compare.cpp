#include "analyze/compare/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <tuple>
#include <vector>

#include "analyze/compare/comparison.hpp"
#include "analyze/compare/counter_profile.hpp"
#include "analyze/compare/op_matcher.hpp"
#include "analyze/compare/run_profile.hpp"
#include "analyze/compare/side_profile.hpp"
#include "base/parallel.hpp"
#include "base/words.hpp"

namespace msprof {

namespace {

// Warnings about sides that are hard to compare.

using Runs = std::vector<RunProfile>;

constexpr std::int64_t kFewExecutions = 5;
constexpr std::int64_t kOtherNumber = 3;  // ratio of the numbers of executions
constexpr double kTrend = 0.1;            // relative difference between the halves of a run
constexpr double kMaxOutside = 0.02;

class Warnings {
 public:
  Warnings(const Runs& base, const Runs& now) : base_(base), now_(now) {}

  std::vector<ComparisonWarning> list() {
    same_capture();
    partial();
    describe_sides();
    several_runs();
    executions();
    counters();
    for (const Runs* side : {&base_, &now_})
      for (const RunProfile& run : *side) trend(run);
    return std::move(list_);
  }

 private:
  using Fact = std::function<std::string(const RunProfile&)>;

  template <typename... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    list_.push_back({fmt::format(format, std::forward<Args>(args)...)});
  }

  void same_capture() {
    for (const RunProfile& run : base_) {
      const auto same = std::find_if(now_.begin(), now_.end(), [&](const RunProfile& other) {
        return other.capture == run.capture;
      });
      if (same != now_.end())
        say("{} is in both BASE and NEW: a capture does not differ from itself", run.capture);
    }
  }

  void partial() {
    for (const Runs* side : {&base_, &now_})
      for (const RunProfile& run : *side)
        if (run.is_partial)
          say("{} is PARTIAL: missing records change the times; `msprof import` reports what is "
              "missing",
              run.capture);
  }

  static std::string join_facts(const Runs& side, const Fact& fact) {
    std::set<std::string> values;
    for (const RunProfile& run : side) values.insert(fact(run));
    return fmt::format("{}", fmt::join(values, ", "));
  }

  // Warns if a fact is not the same on both sides.
  void differ(std::string_view what, const Fact& fact, std::string_view meaning) {
    const std::string ours = join_facts(base_, fact), theirs = join_facts(now_, fact);
    if (ours != theirs) say("{} differ: {} and {}{}", what, ours, theirs, meaning);
  }

  static std::string known(const std::string& text) { return text.empty() ? "unknown" : text; }
  static std::string number(std::optional<double> value, std::string_view unit) {
    return value ? fmt::format("{:g}{}", *value, unit) : "unknown";
  }

  void describe_sides() {
    differ(
        "the kinds of capture", [](const RunProfile& run) { return run.dialect; },
        "; names and units of operators do not match");
    differ(
        "chips", [](const RunProfile& run) { return known(run.chip); }, ": this affects all times");
    differ(
        "frequencies", [](const RunProfile& run) { return number(run.frequency_mhz, " MHz"); },
        ": this affects all times");
    batches();
    differ(
        "numbers of devices", [](const RunProfile& run) { return std::to_string(run.devices); },
        "");
    differ(
        "models",
        [](const RunProfile& run) {
          return known(fmt::format("{}", fmt::join(run.models, " + ")));
        },
        "");
  }

  static std::string join_batches(const Runs& side) {
    Batches all;
    for (const RunProfile& run : side) all.add(run.batches);
    return batch_text(all.values());
  }

  void batches() {
    const std::string ours = join_batches(base_), theirs = join_batches(now_);
    if (base_.front().unit == ProfileUnit::picture) {
      const std::string which =
          ours == theirs ? fmt::format("BASE and NEW have several batch sizes ({})", ours)
                         : fmt::format("batch sizes differ: {} and {}", ours, theirs);
      list_.push_back(
          {which + "; times are per picture, call times per call", FindingId::batches_differ});
    } else if (ours != theirs && base_.front().unit == ProfileUnit::whole_run) {
      list_.push_back(
          {fmt::format("batch sizes differ: {} and {}, but whole runs are compared", ours, theirs),
           FindingId::batches_differ});
    }
  }

  void several_runs() {
    for (const auto& [side, name] : {std::pair{&base_, "BASE"}, std::pair{&now_, "NEW"}}) {
      const Fact fact = [](const RunProfile& run) {
        return fmt::format("{} {} batch {}", known(run.chip), fmt::join(run.models, " + "),
                           batch_text(run.batches.values()));
      };
      const bool same = std::all_of(side->begin(), side->end(), [&, runs = side](const auto& run) {
        return fact(run) == fact(runs->front());
      });
      if (!same)
        say("the runs of {} differ in chip, model or batch size: {}", name,
            join_facts(*side, fact));
    }
  }

  static std::int64_t mean_executions(const Runs& side) {
    std::int64_t sum = 0;
    for (const RunProfile& run : side) sum += run.executions;
    return sum / static_cast<std::int64_t>(std::max<std::size_t>(1, side.size()));
  }

  static std::string count_phrase(std::int64_t count, std::string_view what) {
    return counted(static_cast<std::uint64_t>(std::max<std::int64_t>(0, count)), what);
  }

  void executions() {
    if (base_.front().unit == ProfileUnit::whole_run) return whole_runs();
    const bool iterates = base_.front().unit == ProfileUnit::iteration;
    const std::string_view what = iterates ? "iteration" : "execution";
    const std::int64_t ours = mean_executions(base_), theirs = mean_executions(now_);
    if (std::max(ours, theirs) >= kOtherNumber * std::min(ours, theirs)) {
      say("BASE has {} per run and NEW {}: with few, the slower first ones have more weight",
          count_phrase(ours, what), theirs);
    }
    for (const auto& [count, name] : {std::pair{ours, "BASE"}, std::pair{theirs, "NEW"}}) {
      if (count < kFewExecutions)
        say("{} has only {} per run: {}", name, count_phrase(count, what),
            count == 1 ? "the first one is slower than later ones"
                       : "the slower first ones affect the result");
    }
    for (const Runs* side : {&base_, &now_})
      for (const RunProfile& run : *side)
        if (run.outside_share > kMaxOutside)
          say("{}: {:.0f} % of the operator time is outside all {}s and is not compared",
              run.capture, 100 * run.outside_share, what);
  }

  static double mean_tasks(const Runs& side) {
    double sum = 0;
    for (const RunProfile& run : side)
      for (const OpProfile& op : run.ops) sum += static_cast<double>(op.count);
    return sum / static_cast<double>(side.size());
  }

  // From total times alone, a longer run cannot be distinguished from a slower one.
  void whole_runs() {
    const double ours = mean_tasks(base_), theirs = mean_tasks(now_);
    if (std::abs(ours - theirs) <= kTrend * ours) return;
    say("the runs have no iterations, and BASE ran {:.0f} operator tasks and NEW {:.0f}: the runs "
        "also differ in the work that they did",
        ours, theirs);
  }

  static bool has_ratios(const Runs& side) {
    return std::any_of(side.begin(), side.end(), [](const RunProfile& run) {
      return std::any_of(run.ops.begin(), run.ops.end(),
                         [](const OpProfile& op) { return !op.ratios.empty(); });
    });
  }

  static bool any_is_modelled(const Runs& side) {
    return std::any_of(side.begin(), side.end(),
                       [](const RunProfile& run) { return run.unit_loads == UnitLoads::modelled; });
  }

  void counters() {
    const bool ours = has_ratios(base_), theirs = has_ratios(now_);
    if (ours != theirs)
      say("{} has no core counters: ratios are not compared", ours ? "NEW" : "BASE");
    if (!ours || !theirs) return;
    const bool base_modelled = any_is_modelled(base_);
    if (base_modelled != any_is_modelled(now_))
      say("the unit loads of {} are modelled, those of {} measured: ratios are not compared",
          base_modelled ? "BASE" : "NEW", base_modelled ? "NEW" : "BASE");
  }

  void trend(const RunProfile& run) {
    if (!run.first_half_us || !run.second_half_us || *run.first_half_us <= 0) return;
    const double change = *run.second_half_us / *run.first_half_us - 1;
    if (std::abs(change) <= kTrend) return;
    say("{} was not steady: {:.3f} ms in the first half, {:.3f} ms in the second; was the machine "
        "busy?",
        run.capture, *run.first_half_us / 1000, *run.second_half_us / 1000);
  }

  const Runs& base_;
  const Runs& now_;
  std::vector<ComparisonWarning> list_;
};

// Returns the most important warnings first.
std::vector<ComparisonWarning> comparison_warnings(const Runs& base, const Runs& now) {
  return Warnings(base, now).list();
}

// Minimum change of a ratio; smaller changes are measurement noise.
constexpr double kRatioPart = 0.03;      // of full scale
constexpr double kRatioRelative = 0.15;  // of the ratio
// Changes of a "…_bound" ratio are ignored if it is below this on both sides; above 1 is bound.
constexpr double kMinBound = 0.2;

std::string unit_text(ProfileUnit unit) {
  switch (unit) {
    case ProfileUnit::execution:
      return "one execution";
    case ProfileUnit::picture:
      return "one picture";
    case ProfileUnit::iteration:
      return "one iteration";
    case ProfileUnit::whole_run:
      break;
  }
  return "the whole run";
}

// The operators of one side of a match, combined.
struct CombinedOps {
  std::vector<std::string> names;
  std::string type;
  std::string unit;
  Measured time;
  std::int64_t count = 0;
};

CombinedOps sum_ops(const SideProfile& side, const std::vector<std::size_t>& places) {
  CombinedOps part;
  for (const std::size_t place : places) {
    const OpProfile& op = side.ops[place];
    part.names.push_back(op.name);
    part.type += (part.type.empty() ? "" : "+") + op.type;
    part.unit = op.unit;
    part.time.add_part(side.op_times[place]);
    // Fused operators all have the same number of executions.
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
    result_.counters = compare_counters(list_counters(base), list_counters(now));
  }

  Comparison run() {
    result_.base = base_.info;
    result_.now = now_.info;
    result_.noise_basis = floor_.basis();
    result_.total = {base_.total.us(), now_.total.us(), 0};
    for (const OpMatch& match : match_ops(base_.ops, now_.ops)) add_op(match);
    judge_total();
    add_types();
    add_calls(base_.calls, now_.calls, &NoiseFloor::call_us, result_.calls);
    add_calls(base_.ranges, now_.ranges, &NoiseFloor::range_us, result_.ranges);
    sort(result_.ops);
    sort(result_.types);
    sort(result_.calls);
    sort(result_.ranges);
    return std::move(result_);
  }

 private:
  static std::vector<const std::vector<CounterProfile>*> list_counters(
      const std::vector<RunProfile>& runs) {
    std::vector<const std::vector<CounterProfile>*> lists;
    for (const RunProfile& run : runs) lists.push_back(&run.counters);
    return lists;
  }

  void judge_total() {
    const bool some_changed = std::any_of(result_.ops.begin(), result_.ops.end(),
                                          [](const OpChange& op) { return !op.time.is_noise(); });
    result_.total.noise = floor_.total_us(some_changed);
    if (!result_.total.is_noise())
      result_.verdict = result_.total.delta() < 0 ? Verdict::faster : Verdict::slower;
  }

  double delta_share(const Change& change) const {
    const double whole = result_.total.delta();
    return whole == 0 ? 0 : 100 * change.delta() / whole;
  }

  void add_op(const OpMatch& match) {
    const CombinedOps ours = sum_ops(base_, match.base), theirs = sum_ops(now_, match.now);
    OpChange op;
    op.base_names = ours.names;
    op.new_names = theirs.names;
    op.base_type = ours.type;
    op.new_type = theirs.type;
    op.unit = theirs.unit.empty() ? ours.unit : theirs.unit;
    op.matched_by = match.by;
    if (!match.base.empty()) op.time.base = ours.time.us();
    if (!match.now.empty()) op.time.now = theirs.time.us();
    op.time.noise = floor_.op_us(ours.time, theirs.time, correspondence(match));
    op.base_count = ours.count;
    op.new_count = theirs.count;
    op.share = delta_share(op.time);
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
    // Measured and modelled ratios are not comparable.
    if (base_.info.unit_loads != now_.info.unit_loads) return;
    // A ratio is as uncertain as the time it refers to.
    const double level = std::max(op.time.base.value_or(0), op.time.now.value_or(0));
    const double chance = level > 0 ? op.time.noise / level : 1;
    const double scale = std::max(base_.largest_ratio, now_.largest_ratio);
    const auto& theirs = now_.ops[match.now[0]].ratios;
    for (const auto& [name, base] : base_.ops[match.base[0]].ratios) {
      const auto found = theirs.find(name);
      if (found == theirs.end()) continue;
      const double now = found->second, most = std::max(base, now);
      const bool is_bound = name.ends_with("_bound");
      const double least = is_bound ? kMinBound : kRatioPart * scale;
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
      const double noise = result_.ops[i].time.noise;
      for (const std::string& type : types) sums[type].squared_noise += noise * noise;
    }
    for (const auto& [type, sum] : sums) {
      TypeChange change;
      change.type = type;
      if (sum.base_ops > 0) change.time.base = sum.base.us();
      if (sum.new_ops > 0) change.time.now = sum.now.us();
      // A type on only one side is a real change, not noise. Otherwise operators of the type may
      // drift together (op_us) or independently (sum of squares).
      const auto as = sum.base_ops == sum.new_ops ? Correspondence::pair : Correspondence::other;
      if (sum.base_ops > 0 && sum.new_ops > 0) {
        change.time.noise =
            std::max(floor_.op_us(sum.base, sum.now, as), std::sqrt(sum.squared_noise));
      }
      change.base_ops = sum.base_ops;
      change.new_ops = sum.new_ops;
      change.share = delta_share(change.time);
      result_.types.push_back(std::move(change));
    }
  }

  static double per_execution(const SideProfile& side, const SideProfile::Call& call) {
    const auto executions = std::max<std::int64_t>(1, side.info.executions);
    return static_cast<double>(call.count) / static_cast<double>(executions);
  }

  using Calls = std::map<std::string, SideProfile::Call>;

  using CallNoise = double (NoiseFloor::*)(const Measured&, const Measured&, double) const;

  void add_calls(const Calls& base, const Calls& now, CallNoise noise_us,
                 std::vector<CallChange>& changes) {
    std::set<std::string> names;
    for (const auto& one : base) names.insert(one.first);
    for (const auto& one : now) names.insert(one.first);
    for (const std::string& name : names) {
      const SideProfile::Call ours = find_call(base, name), theirs = find_call(now, name);
      CallChange change;
      change.name = name;
      if (ours.count > 0) change.time.base = ours.time.us();
      if (theirs.count > 0) change.time.now = theirs.time.us();
      const double rate = std::max(per_execution(base_, ours), per_execution(now_, theirs));
      change.time.noise = (floor_.*noise_us)(ours.time, theirs.time, rate);
      change.base_count = ours.count;
      change.new_count = theirs.count;
      changes.push_back(std::move(change));
    }
  }

  static SideProfile::Call find_call(const Calls& calls, const std::string& name) {
    const auto found = calls.find(name);
    return found == calls.end() ? SideProfile::Call() : found->second;
  }

  template <typename Changes>
  static void sort(Changes& changes) {
    std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) {
      return std::abs(a.time.delta()) > std::abs(b.time.delta());
    });
  }

  SideProfile base_;
  SideProfile now_;
  NoiseFloor floor_;
  std::vector<OpMatch> matches_;  // in the order of result_.ops until those are sorted
  Comparison result_;
};

// Above this share of operator time outside of iterations, they do not represent the run.
constexpr double kMaxOutsideIterations = 0.5;

using Stores = std::vector<ComparedRun>;

using Units = std::vector<ProfileUnit>;

Units natural_units(const Stores& runs) {
  Units units;
  for (const ComparedRun& run : runs) units.push_back(natural_unit(run.store));
  return units;
}

bool any_is_whole(const Units& units) {
  return std::find(units.begin(), units.end(), ProfileUnit::whole_run) != units.end();
}

// Returns why whole runs are compared although a side has iterations; else empty.
std::string why_whole(const Stores& base, const Stores& now, const Units& base_units,
                      const Units& new_units) {
  const bool base_whole = any_is_whole(base_units), new_whole = any_is_whole(new_units);
  if (base_whole && new_whole) return "";
  if (base_whole || new_whole) {
    return fmt::format("only {} has executions or iterations: whole runs are compared",
                       base_whole ? "NEW" : "BASE");
  }
  for (const auto& [runs, units] : {std::tie(base, base_units), std::tie(now, new_units)}) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (units[i] != ProfileUnit::iteration) continue;
      const ComparedRun& run = runs[i];
      const double outside = outside_iterations(run.store);
      if (outside <= kMaxOutsideIterations) continue;
      return fmt::format(
          "in {}, {:.0f} % of the operator time is outside all iterations: whole runs are compared",
          run.capture, 100 * outside);
    }
  }
  return "";
}

// Executions with different batches do different work, so times per picture are compared.
void split_batches(const Stores& base, const Stores& now, Units& base_units, Units& new_units) {
  std::vector<Batches> batches;
  for (const auto& [runs, units] : {std::tie(base, base_units), std::tie(now, new_units)}) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (units[i] != ProfileUnit::execution) return;
      batches.push_back(read_batches(QueryDb(runs[i].store)));
    }
  }
  const bool alike = std::all_of(batches.begin(), batches.end(), [&](const Batches& one) {
    return execute_alike(batches.front(), one);
  });
  if (alike) return;
  base_units.assign(base.size(), ProfileUnit::picture);
  new_units.assign(now.size(), ProfileUnit::picture);
}

std::vector<RunProfile> read_runs(const Stores& runs, const Units& units) {
  std::vector<RunProfile> profiles;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    profiles.push_back(read_run(runs[i].store, runs[i].capture, runs[i].is_partial, units[i]));
    profiles.back().run = runs[i].run;
  }
  return profiles;
}

}  // namespace

Comparison compare(const std::vector<RunProfile>& base, const std::vector<RunProfile>& now) {
  return Comparer(base, now).run();
}

Comparison compare_stores(const Stores& base, const Stores& now) {
  Units base_units = natural_units(base), new_units = natural_units(now);
  const std::string reason = why_whole(base, now, base_units, new_units);
  const bool as_whole = any_is_whole(base_units) || any_is_whole(new_units) || !reason.empty();
  if (as_whole) {
    base_units.assign(base.size(), ProfileUnit::whole_run);
    new_units.assign(now.size(), ProfileUnit::whole_run);
  }
  split_batches(base, now, base_units, new_units);
  // Read both sides in parallel, because a large capture takes seconds.
  std::vector<RunProfile> base_runs, new_runs;
  in_parallel([&] { base_runs = read_runs(base, base_units); },
              [&] { new_runs = read_runs(now, new_units); });
  Comparison result = compare(base_runs, new_runs);
  if (!reason.empty()) result.warnings.push_back({reason});
  return result;
}

}  // namespace msprof
