#include "analyze/compare/warnings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/counted.hpp"

namespace msprof {

namespace {

using Runs = std::vector<RunProfile>;

constexpr std::int64_t kFewExecutions = 5;
constexpr std::int64_t kOtherNumber = 3;  // times as many executions
constexpr double kTrend = 0.1;            // between the halves of a run
constexpr double kMostOutside = 0.02;

class Warnings {
 public:
  Warnings(const Runs& base, const Runs& now) : base_(base), now_(now) {}

  std::vector<ComparisonWarning> list() {
    same_capture();
    partial();
    facts();
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
        say("{} is on both sides: a capture does not differ from itself", run.capture);
    }
  }

  void partial() {
    for (const Runs* side : {&base_, &now_})
      for (const RunProfile& run : *side)
        if (run.is_partial)
          say("{} is PARTIAL: `msprof import` says what is missing; missing records change times",
              run.capture);
  }

  static std::string text_of(const Runs& side, const Fact& fact) {
    std::set<std::string> values;
    for (const RunProfile& run : side) values.insert(fact(run));
    return fmt::format("{}", fmt::join(values, ", "));
  }

  // Of both sides, where they differ.
  void differ(std::string_view what, const Fact& fact, std::string_view meaning) {
    const std::string ours = text_of(base_, fact), theirs = text_of(now_, fact);
    if (ours != theirs) say("{} differ: {} and {}{}", what, ours, theirs, meaning);
  }

  static std::string known(const std::string& text) { return text.empty() ? "unknown" : text; }
  static std::string number(std::optional<double> value, std::string_view unit) {
    return value ? fmt::format("{:g}{}", *value, unit) : "unknown";
  }

  void facts() {
    differ(
        "the kinds of capture", [](const RunProfile& run) { return run.dialect; },
        "; names and units of operators do not correspond");
    differ(
        "chips", [](const RunProfile& run) { return known(run.chip); }, ": times change with them");
    differ(
        "frequencies", [](const RunProfile& run) { return number(run.frequency_mhz, " MHz"); },
        ": times change with them");
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

  static std::string batches_of(const Runs& side) {
    Batches all;
    for (const RunProfile& run : side) all.add(run.batches);
    return batch_text(all.values());
  }

  void batches() {
    const std::string ours = batches_of(base_), theirs = batches_of(now_);
    if (base_.front().unit == TimeUnit::picture) {
      const std::string which = ours == theirs
                                    ? fmt::format("both sides have several batches ({})", ours)
                                    : fmt::format("batches differ: {} and {}", ours, theirs);
      list_.push_back({which + "; times are of one picture, those of calls of one call",
                       FindingId::batches_differ});
    } else if (ours != theirs && base_.front().unit == TimeUnit::whole_run) {
      list_.push_back(
          {fmt::format("batches differ: {} and {}, and whole runs are compared", ours, theirs),
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
        say("the runs of {} are not runs of the same thing: {}", name, text_of(*side, fact));
    }
  }

  static std::int64_t executions_of(const Runs& side) {
    std::int64_t sum = 0;
    for (const RunProfile& run : side) sum += run.executions;
    return sum / static_cast<std::int64_t>(std::max<std::size_t>(1, side.size()));
  }

  static std::string counted_of(std::int64_t count, std::string_view what) {
    return counted(static_cast<std::uint64_t>(std::max<std::int64_t>(0, count)), what);
  }

  void executions() {
    if (base_.front().unit == TimeUnit::whole_run) return whole_runs();
    const bool iterates = base_.front().unit == TimeUnit::iteration;
    const std::string_view what = iterates ? "iteration" : "execution";
    const std::int64_t ours = executions_of(base_), theirs = executions_of(now_);
    if (std::max(ours, theirs) >= kOtherNumber * std::min(ours, theirs)) {
      say("BASE has {} a run and NEW {}: of few, the first ones, which are slower, weigh more",
          counted_of(ours, what), theirs);
    }
    for (const auto& [count, name] : {std::pair{ours, "BASE"}, std::pair{theirs, "NEW"}}) {
      if (count < kFewExecutions)
        say("{} has only {} a run: {}", name, counted_of(count, what),
            count == 1 ? "the first one is slower than others"
                       : "the first ones, which are slower, weigh in");
    }
    for (const Runs* side : {&base_, &now_})
      for (const RunProfile& run : *side)
        if (run.outside_share > kMostOutside)
          say("{}: {:.0f} % of the operators' time is outside of all {}s and not compared",
              run.capture, 100 * run.outside_share, what);
  }

  static double tasks_of(const Runs& side) {
    double sum = 0;
    for (const RunProfile& run : side)
      for (const OpProfile& op : run.ops) sum += static_cast<double>(op.count);
    return sum / static_cast<double>(side.size());
  }

  // Whole runs of different length cannot be told from slower ones by their time.
  void whole_runs() {
    const double ours = tasks_of(base_), theirs = tasks_of(now_);
    if (std::abs(ours - theirs) <= kTrend * ours) return;
    say("the runs have no iterations, and BASE ran {:.0f} tasks of operators and NEW {:.0f}:"
        " as a whole they differ by what they did, too",
        ours, theirs);
  }

  static bool has_ratios(const Runs& side) {
    return std::any_of(side.begin(), side.end(), [](const RunProfile& run) {
      return std::any_of(run.ops.begin(), run.ops.end(),
                         [](const OpProfile& op) { return !op.ratios.empty(); });
    });
  }

  void counters() {
    const bool ours = has_ratios(base_), theirs = has_ratios(now_);
    if (ours != theirs)
      say("{} has no counters of the cores: ratios are not compared", ours ? "NEW" : "BASE");
  }

  void trend(const RunProfile& run) {
    if (!run.first_half_us || !run.second_half_us || *run.first_half_us <= 0) return;
    const double change = *run.second_half_us / *run.first_half_us - 1;
    if (std::abs(change) <= kTrend) return;
    say("{} was not steady: {:.3f} ms in its first half, {:.3f} ms in its second; was the machine"
        " busy?",
        run.capture, *run.first_half_us / 1000, *run.second_half_us / 1000);
  }

  const Runs& base_;
  const Runs& now_;
  std::vector<ComparisonWarning> list_;
};

}  // namespace

std::vector<ComparisonWarning> comparison_warnings(const Runs& base, const Runs& now) {
  return Warnings(base, now).list();
}

}  // namespace msprof
