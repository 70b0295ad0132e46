#include "analyze/compare/counter_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "analyze/compare/run_profile.hpp"
#include "analyze/compare/side_profile.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "export/scope/counter_samples.hpp"

namespace msprof {

namespace {

// An untrusted store may contain any number of counters, with long names.
constexpr std::size_t kMaxCounters = 10'000;
constexpr std::size_t kMaxText = 1000;
constexpr std::size_t kNotCompared = SIZE_MAX;
// Kinds that are not a time series: one value per operator, call, task or CPU sample.
constexpr std::array<std::string_view, 7> kTimeless = {
    "static_op_mem", "host_syscall", "host_pthreadcall", "soc_pmu", "ctrl_cpu", "ai_cpu", "ts_cpu"};
// Minimum change, relative to the largest counter of the same kind and unit.
constexpr double kLeastPart = 0.02;

// Time-weighted values in at most kStretches consecutive groups with equal numbers of values.
class WeightedStretches {
 public:
  void add(double value, double seconds) {
    if (!std::isfinite(value) || !(seconds > 0)) return;
    if (stretches_.empty() || stretches_.back().values == most_values_) {
      if (stretches_.size() == kStretches) merge();
      stretches_.emplace_back();
    }
    Stretch& last = stretches_.back();
    last.sum += value * seconds;
    last.seconds += seconds;
    ++last.values;
  }

  double mean() const {
    Stretch all;
    for (const Stretch& one : stretches_) {
      all.sum += one.sum;
      all.seconds += one.seconds;
    }
    return all.mean();
  }
  double deviation() const {
    std::vector<double> means;
    means.reserve(stretches_.size());
    for (const Stretch& one : stretches_) means.push_back(one.mean());
    return median_deviation(means, median(means));
  }

 private:
  static constexpr std::size_t kStretches = 16;
  struct Stretch {
    double sum = 0;
    double seconds = 0;
    std::size_t values = 0;
    double mean() const { return seconds > 0 ? sum / seconds : 0; }
  };

  void merge() {
    for (std::size_t i = 0; i < kStretches / 2; ++i) {
      Stretch both = stretches_[2 * i];
      both.sum += stretches_[2 * i + 1].sum;
      both.seconds += stretches_[2 * i + 1].seconds;
      both.values += stretches_[2 * i + 1].values;
      stretches_[i] = both;
    }
    stretches_.resize(kStretches / 2);
    most_values_ *= 2;
  }

  std::vector<Stretch> stretches_;
  std::size_t most_values_ = 1;
};

double duration_seconds(std::int64_t begin_ns, std::int64_t end_ns) {
  return static_cast<double>(saturating_subtract(end_ns, begin_ns)) / 1e9;
}

// Counters that are totals since some start, which differs between runs; their rates are compared.
struct TotalUnit {
  std::string_view kind;
  std::string_view unit;
};
constexpr std::array kTotals = {TotalUnit{"nic", "packets"},
                                TotalUnit{"nic", "B"},
                                TotalUnit{"roce", "packets"},
                                TotalUnit{"roce", "B"},
                                TotalUnit{"dvpp", "us"},
                                TotalUnit{"dvpp", "frames"},
                                TotalUnit{"process_cpu_usage", "s"}};

bool is_total(const CounterTrack& track) {
  return std::any_of(kTotals.begin(), kTotals.end(), [&](const TotalUnit& total) {
    return total.kind == track.kind && total.unit == track.unit;
  });
}

class CounterReader {
 public:
  void add(const CounterSample& sample) {
    ++samples_;
    if (sample.begin_ns) return add_held(sample.shown(), *sample.begin_ns, sample.time_ns);
    is_total_ = is_total(*sample.track);
    if (last_) {
      const auto [time_ns, value] = *last_;
      const double seconds = duration_seconds(time_ns, sample.time_ns);
      const double shown = is_total_ ? std::max(sample.shown() - value, 0.0) / seconds : value;
      add_held(shown, time_ns, sample.time_ns);
    }
    last_ = {sample.time_ns, sample.shown()};
  }

  // Returns empty if no value applied for any length of time.
  std::optional<CounterProfile> profile(const CounterTrack& track) const {
    CounterProfile profile;
    profile.samples = samples_;
    profile.kind = track.kind;
    profile.unit = is_total_ ? track.unit + "/s" : track.unit;
    profile.mean = values_.mean();
    profile.deviation = values_.deviation();
    if (!has_time_) return std::nullopt;
    return profile;
  }

 private:
  void add_held(double value, std::int64_t begin_ns, std::int64_t end_ns) {
    const double seconds = duration_seconds(begin_ns, end_ns);
    has_time_ = has_time_ || seconds > 0;
    values_.add(value, seconds);
  }

  WeightedStretches values_;
  std::optional<std::pair<std::int64_t, double>> last_;
  std::int64_t samples_ = 0;
  bool is_total_ = false;
  bool has_time_ = false;
};

bool is_compared(const CounterTrack& track) {
  return std::find(kTimeless.begin(), kTimeless.end(), track.kind) == kTimeless.end();
}

std::string short_text(std::string_view text) {
  return valid_utf8(text.substr(0, kMaxText));
}

// Returns "HBM 0 Read". Omits the subject if the counter's name already contains it, and process
// ids, which differ between runs.
std::string counter_label(const CounterTrack& track) {
  const bool is_process = track.kind.starts_with("process_") && !track.detail.empty();
  const std::string& subject = is_process ? track.detail : track.subject;
  if (subject.empty() || track.counter.starts_with(subject)) return track.counter;
  return subject + ' ' + track.counter;
}

// Device ids differ between machines, so devices are numbered from 0.
std::string device_label(const CounterTrack& track, const std::set<std::int64_t>& devices) {
  if (!track.device) return "host";
  if (devices.size() == 1) return "device";
  return fmt::format("device {}", std::distance(devices.begin(), devices.find(*track.device)));
}

using CounterKey = std::tuple<std::string, std::string, std::string, std::string>;

CounterKey make_key(const CounterProfile& counter) {
  return {counter.device, counter.kind, counter.name, counter.unit};
}

struct MeasuredCounter {
  Measured means;
  std::int64_t samples = 0;
};

using CounterSide = std::map<CounterKey, MeasuredCounter>;

// Counters with the same name, such as those of two processes of a program, cannot be matched and
// are left out.
CounterSide merge_counters(const std::vector<const std::vector<CounterProfile>*>& runs) {
  CounterSide side;
  for (const auto* run : runs) {
    std::map<CounterKey, int> times;
    for (const CounterProfile& counter : *run) ++times[make_key(counter)];
    for (const CounterProfile& counter : *run) {
      if (times[make_key(counter)] > 1) continue;
      MeasuredCounter& one = side[make_key(counter)];
      one.means.add_run(counter.mean, counter.deviation, counter.mean);
      one.samples += counter.samples;
    }
  }
  return side;
}

}  // namespace

std::vector<CounterProfile> read_counters(const Database& db) {
  const ExportScope everything;
  CounterSamples samples(db, {}, everything);
  const auto& tracks = samples.tracks();
  std::vector<std::size_t> places(tracks.size(), kNotCompared);  // index in `readers`, by track
  std::size_t count = 0;
  for (const CounterTrack& track : tracks) {
    if (is_compared(track)) places[track.index] = count++;
  }
  if (count > kMaxCounters) return {};
  std::vector<CounterReader> readers(count);
  while (samples.next()) {
    const std::size_t place = places[samples->track->index];
    if (place != kNotCompared) readers[place].add(*samples);
  }
  std::set<std::int64_t> devices;
  for (const CounterTrack& track : tracks) {
    if (track.device) devices.insert(*track.device);
  }
  std::vector<CounterProfile> counters;
  for (const CounterTrack& track : tracks) {
    const std::size_t place = places[track.index];
    auto profile = place == kNotCompared ? std::nullopt : readers[place].profile(track);
    if (!profile) continue;
    profile->device = device_label(track, devices);
    profile->name = short_text(counter_label(track));
    profile->kind = short_text(profile->kind);
    profile->unit = short_text(profile->unit);
    counters.push_back(std::move(*profile));
  }
  return counters;
}

std::vector<CounterChange> compare_counters(
    const std::vector<const std::vector<CounterProfile>*>& base,
    const std::vector<const std::vector<CounterProfile>*>& now) {
  const CounterSide ours = merge_counters(base), theirs = merge_counters(now);
  std::map<std::pair<std::string, std::string>, double> largest;  // by kind and unit
  for (const CounterSide* side : {&ours, &theirs}) {
    for (const auto& [key, counter] : *side) {
      double& most = largest[{std::get<1>(key), std::get<3>(key)}];
      most = std::max(most, std::abs(counter.means.us()));
    }
  }
  std::vector<CounterChange> changes;
  for (const auto& [key, counter] : ours) {
    const auto other = theirs.find(key);
    if (other == theirs.end()) continue;
    CounterChange change;
    std::tie(change.device, change.kind, change.name, change.unit) = key;
    change.mean.base = counter.means.us();
    change.mean.now = other->second.means.us();
    change.base_samples = counter.samples;
    change.new_samples = other->second.samples;
    change.mean.noise = counter_noise(counter.means, other->second.means,
                                      kLeastPart * largest[{change.kind, change.unit}]);
    changes.push_back(std::move(change));
  }
  // Sorts by relative change, because units differ; changes within noise come last.
  const auto rank = [](const CounterChange& counter) {
    const Change& mean = counter.mean;
    const double level = std::max(std::abs(*mean.base), std::abs(*mean.now));
    const double part = level > 0 ? std::abs(mean.delta()) / level : 0;
    return std::pair(mean.is_noise(), -part);
  };
  std::stable_sort(
      changes.begin(), changes.end(),
      [&](const CounterChange& a, const CounterChange& b) { return rank(a) < rank(b); });
  return changes;
}

}  // namespace msprof
