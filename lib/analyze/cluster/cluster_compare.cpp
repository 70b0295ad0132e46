#include "analyze/cluster/cluster_compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "base/words.hpp"
#include "store/row_cursor.hpp"

namespace msprof {

namespace {

using cluster::ClusterView;

constexpr double kNsPerComparedUs = 1000;
// Noise to assume if there are too few steps to measure it, and the minimum noise.
constexpr double kUnknownNoisePercent = 5;
constexpr double kLeastNoisePercent = 1;
constexpr std::size_t kLeastStepsForNoise = 4;
// Minimum noise of a collective, as a share of the step.
constexpr double kStepShare = 0.001;
constexpr std::size_t kLeastToDeviate = 8;
// Ratio of the standard deviation to the median deviation of a normal distribution.
constexpr double kDeviationsOfMedian = 1.4826;

double quantile(std::vector<double> values, double place) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = place * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (values[high] - values[low]) * (at - static_cast<double>(low));
}

double mean_value(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// One cluster, reduced to the values to compare.
struct Profile {
  ClusterSummary summary;
  // In us, by component (kStepParts), then step; means over ranks, except the step time.
  std::vector<std::vector<double>> steps;
};

struct StepMeasure {
  std::string_view name;
  int128 StepSum::*sum;  // null: time of the slowest rank
};
constexpr std::array<StepMeasure, 5> kStepParts = {{{"step time", nullptr},
                                                    {"of one rank", &StepSum::duration_ns},
                                                    {"computing", &StepSum::computing_ns},
                                                    {"not overlapped", &StepSum::not_overlapped_ns},
                                                    {"free", &StepSum::free_ns}}};

Profile make_profile(const ClusterView& view) {
  Profile profile{cluster_summary(view), std::vector<std::vector<double>>(kStepParts.size())};
  for (const StepSummary& step : profile.summary.steps) {
    for (std::size_t i = 0; i < kStepParts.size(); ++i) {
      const double ns = kStepParts[i].sum == nullptr
                            ? static_cast<double>(step.longest_ns)
                            : static_cast<double>(step.sum.*kStepParts[i].sum) /
                                  static_cast<double>(std::max<std::int64_t>(step.sum.count, 1));
      profile.steps[i].push_back(ns / kNsPerComparedUs);
    }
  }
  return profile;
}

// Returns half of the interquartile range of the step times, in percent of their median.
std::optional<double> spread_percent(const std::vector<double>& steps) {
  const double median = quantile(steps, 0.5);
  if (steps.size() < kLeastStepsForNoise || median <= 0) return std::nullopt;
  return 50 * (quantile(steps, 0.75) - quantile(steps, 0.25)) / median;
}

class ClusterComparer {
 public:
  ClusterComparer(const ClusterSide& base, const ClusterSide& now)
      : base_side_(base),
        now_side_(now),
        base_(make_profile(*base.view)),
        now_(make_profile(*now.view)) {}

  ClusterComparison compare() {
    result_.base = side(base_side_.name, base_);
    result_.now = side(now_side_.name, now_);
    const bool has_steps = base_.summary.has_steps && now_.summary.has_steps;
    result_.unit = has_steps ? "step" : "run";
    find_noise();
    result_.total = change(quantile(base_.steps[0], 0.5), quantile(now_.steps[0], 0.5));
    if (!result_.total.is_noise())
      result_.verdict = result_.total.delta() < 0 ? Verdict::faster : Verdict::slower;
    warn();
    result_.sections = {{"steps", "Steps", "Part", steps()},
                        {"ranks", "Ranks, computing and free time per step", "Rank", ranks()},
                        {"collectives", "Collectives, mean per rank", "Collective", collectives()},
                        {"operators", "Operators, mean per execution", "Operator", operators()}};
    return std::move(result_);
  }

 private:
  static ComparedCluster side(const std::string& name, const Profile& profile) {
    return {name, cluster_line(profile.summary), lacking_lines(profile.summary)};
  }

  void find_noise() {
    const auto base = spread_percent(base_.steps[0]);
    const auto now = spread_percent(now_.steps[0]);
    if (!base || !now) {
      result_.noise_percent = kUnknownNoisePercent;
      result_.noise_basis = fmt::format("{} %: BASE or NEW has fewer than {} steps to estimate it",
                                        kUnknownNoisePercent, kLeastStepsForNoise);
      return;
    }
    result_.noise_percent = std::max({*base, *now, kLeastNoisePercent});
    result_.noise_basis = fmt::format(
        "{:.1f} % of each time: half the interquartile range of the step times, at least {} %; for "
        "ranks and operators also three standard deviations of their changes, for collectives at "
        "least 5 % and 0.1 % of a step",
        result_.noise_percent, kLeastNoisePercent);
  }

  Change change(std::optional<double> base, std::optional<double> now) const {
    Change result{base, now, 0};
    if (base && now) result.noise = *base * result_.noise_percent / 100;
    return result;
  }

  void warn() {
    const auto differ = [this](std::string_view what, std::int64_t base, std::int64_t now) {
      if (base != now)
        result_.warnings.push_back(fmt::format("{} differ: {} and {}", what, base, now));
    };
    differ("numbers of ranks", base_.summary.captures, now_.summary.captures);
    differ("numbers of hosts", base_.summary.ranks.hosts, now_.summary.ranks.hosts);
    if (base_.summary.has_steps != now_.summary.has_steps)
      result_.warnings.push_back("only one cluster has steps: whole runs are compared with steps");
    for (const auto* one : {&result_.base, &result_.now}) {
      for (const std::string& line : one->lacking)
        result_.warnings.push_back(fmt::format("{}: {}", one->name, line));
    }
  }

  std::vector<ClusterChange> steps() const {
    std::vector<ClusterChange> rows;
    for (std::size_t i = 0; i < kStepParts.size(); ++i) {
      const auto& base = base_.steps[i];
      const auto& now = now_.steps[i];
      ClusterChange row{std::string(kStepParts[i].name), change(mean_value(base), mean_value(now))};
      row.median = change(quantile(base, 0.5), quantile(now, 0.5));
      row.p95 = change(quantile(base, 0.95), quantile(now, 0.95));
      row.base_count = static_cast<std::int64_t>(base.size());
      row.new_count = static_cast<std::int64_t>(now.size());
      rows.push_back(std::move(row));
    }
    return rows;
  }

  // Rows of similar items each vary between runs. Raises their noise to at least three standard
  // deviations of their changes, estimated from the median deviation.
  static void widen_noise(std::vector<ClusterChange>& rows) {
    std::vector<double> percents;
    for (const ClusterChange& row : rows) {
      if (row.mean.base && row.mean.now && row.mean.percent())
        percents.push_back(*row.mean.percent());
    }
    if (percents.size() < kLeastToDeviate) return;
    const double median = quantile(percents, 0.5);
    for (double& percent : percents) percent = std::abs(percent - median);
    const double noise = 3 * kDeviationsOfMedian * quantile(percents, 0.5);
    const auto widen = [noise](Change& change) {
      if (change.base) change.noise = std::max(change.noise, *change.base * noise / 100);
    };
    for (ClusterChange& row : rows) {
      widen(row.mean);
      if (row.median) widen(*row.median);
      if (row.p95) widen(*row.p95);
    }
  }

  // Sorts by change of the total time, largest first; rows on one side only come last.
  static void sort_by_weight(std::vector<ClusterChange>& rows) {
    const auto weight = [](const ClusterChange& row) {
      if (!row.mean.base || !row.mean.now) return 0.0;
      return std::abs(row.mean.delta()) *
             static_cast<double>(std::max(row.base_count, row.new_count));
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const auto& a, const auto& b) { return weight(a) > weight(b); });
  }

  // Compares the rank's own time (computing and free), because its waiting depends on other ranks.
  std::vector<ClusterChange> ranks() const {
    std::map<std::int64_t, std::pair<const StepSum*, const StepSum*>> pairs;
    const auto gather = [&pairs](const ClusterView& view, const Profile& profile, bool is_base) {
      for (const auto& member : view.members()) {
        const StepSum& sum = profile.summary.by_member[static_cast<std::size_t>(member.id - 1)];
        if (sum.count == 0) continue;
        auto& pair = pairs[view.product_rank(member.id)];
        (is_base ? pair.first : pair.second) = &sum;
      }
    };
    gather(*base_side_.view, base_, true);
    gather(*now_side_.view, now_, false);
    const auto own_us = [](const StepSum* sum) -> std::optional<double> {
      if (sum == nullptr) return std::nullopt;
      return static_cast<double>(sum->computing_ns + sum->free_ns) /
             static_cast<double>(sum->count) / kNsPerComparedUs;
    };
    std::vector<ClusterChange> rows;
    for (const auto& [rank, pair] : pairs) {
      ClusterChange row{std::to_string(rank), change(own_us(pair.first), own_us(pair.second))};
      row.base_count = pair.first == nullptr ? 0 : pair.first->count;
      row.new_count = pair.second == nullptr ? 0 : pair.second->count;
      rows.push_back(std::move(row));
    }
    widen_noise(rows);
    sort_by_weight(rows);
    return rows;
  }

  std::vector<ClusterChange> collectives() const {
    using PairKey = std::pair<std::string, std::int64_t>;
    std::map<PairKey, std::pair<CollectiveSummary, CollectiveSummary>> pairs;
    const auto gather = [&pairs](const Profile& profile, bool is_base) {
      for (const CollectiveSummary& one : profile.summary.collectives) {
        auto& pair = pairs[{one.operation, one.group_ranks}];
        CollectiveSummary& sum = is_base ? pair.first : pair.second;
        sum.count = saturating_add(sum.count, one.count);
        sum.duration_ns = saturating_add(sum.duration_ns, one.duration_ns);
        sum.wait_ns = saturating_add(sum.wait_ns, one.wait_ns);
        sum.transit_ns = saturating_add(sum.transit_ns, one.transit_ns);
      }
    };
    gather(base_, true);
    gather(now_, false);
    std::vector<ClusterChange> rows;
    for (const auto& entry : pairs) {
      const PairKey& key = entry.first;
      const auto& pair = entry.second;
      const auto add = [&](std::string_view what, std::int64_t CollectiveSummary::*part) {
        const auto mean_us = [part](const CollectiveSummary& sum) -> std::optional<double> {
          if (sum.count == 0) return std::nullopt;
          return static_cast<double>(sum.*part) / static_cast<double>(sum.count) / kNsPerComparedUs;
        };
        ClusterChange row{
            fmt::format(
                "{} of {}{}", key.first,
                counted(static_cast<std::uint64_t>(std::max<std::int64_t>(key.second, 0)), "rank"),
                what),
            change(mean_us(pair.first), mean_us(pair.second))};
        if (row.mean.base) {
          row.mean.noise = std::max({row.mean.noise, *row.mean.base * kUnknownNoisePercent / 100,
                                     result_.total.base.value_or(0) * kStepShare});
        }
        row.base_count = pair.first.count;
        row.new_count = pair.second.count;
        rows.push_back(std::move(row));
      };
      add("", &CollectiveSummary::duration_ns);
      add(", waiting", &CollectiveSummary::wait_ns);
      add(", in transit", &CollectiveSummary::transit_ns);
    }
    sort_by_weight(rows);
    return rows;
  }

  std::vector<ClusterChange> operators() const {
    using PairKey = std::tuple<std::string_view, std::string_view, std::string_view>;
    std::map<PairKey, std::pair<const OpSummary*, const OpSummary*>> pairs;
    for (const OpSummary& op : base_.summary.ops) pairs[{op.name, op.type, op.unit}].first = &op;
    for (const OpSummary& op : now_.summary.ops) pairs[{op.name, op.type, op.unit}].second = &op;
    std::vector<ClusterChange> rows;
    for (const auto& entry : pairs) {
      const auto& pair = entry.second;
      const auto of = [&pair](auto&& us) {
        const auto value = [&us](const OpSummary* op) -> std::optional<double> {
          if (op == nullptr) return std::nullopt;
          return static_cast<double>(us(*op)) / kNsPerComparedUs;
        };
        return std::pair(value(pair.first), value(pair.second));
      };
      const auto mean = of([](const OpSummary& op) { return op.mean_ns(); });
      const auto median =
          of([](const OpSummary& op) { return std::max<std::int64_t>(op.median_ns, 0); });
      const auto p95 = of([](const OpSummary& op) { return std::max<std::int64_t>(op.p95_ns, 0); });
      ClusterChange row{std::string(std::get<0>(entry.first)), change(mean.first, mean.second)};
      row.median = change(median.first, median.second);
      row.p95 = change(p95.first, p95.second);
      row.base_count = pair.first == nullptr ? 0 : pair.first->count;
      row.new_count = pair.second == nullptr ? 0 : pair.second->count;
      rows.push_back(std::move(row));
    }
    widen_noise(rows);
    sort_by_weight(rows);
    return rows;
  }

  ClusterSide base_side_;
  ClusterSide now_side_;
  Profile base_;
  Profile now_;
  ClusterComparison result_;
};

}  // namespace

ClusterComparison compare_clusters(const ClusterSide& base, const ClusterSide& now) {
  return ClusterComparer(base, now).compare();
}

}  // namespace msprof
