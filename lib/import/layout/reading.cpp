#include "import/layout/reading.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace msprof::layout {

namespace {

constexpr std::size_t kMostTimes = 24;
constexpr double kTimeBits = 16;

// Cycles per unit of time, from cycles per tick of a fast clock to cycles per us.
constexpr double kLeastRate = 0.2, kMostRate = 2500;

// Steps from one record to the next of its file and group, in units of the start.
struct Step {
  std::size_t from = 0, to = 0;  // places
  double room = 0;
  bool is_pause = false;  // the layers start again
};

class Search {
 public:
  explicit Search(const RecordColumns& columns)
      : places_(columns.places),
        ends_(columns.ends == nullptr ? columns.places : *columns.ends),
        is_pair_(columns.ends != nullptr),
        record_bytes_(columns.record_bytes),
        layer_(columns.layer),
        has_cycles_(columns.has_cycles) {
    static const std::vector<int> kNoLayers;
    sequence_ =
        make_sequence(places_, layer_ == nullptr ? kNoLayers : layer_->layers, columns.groups);
  }

  std::vector<Reading> run() {
    // Calls of several threads are written when they end.
    auto times = find_time_columns(places_, record_bytes_, sequence_, layer_ == nullptr);
    if (layer_ != nullptr) {
      std::erase_if(times, [&](const TimeColumn& time) {
        return time.offset < layer_->offset + layer_->width &&
               layer_->offset < time.offset + time.width;
      });
    }
    is_time_.assign(record_bytes_, false);
    for (const TimeColumn& time : times) is_time_[time.offset] = true;
    keep_whole_numbers(times);
    std::size_t end_of_last = 0;
    for (const TimeColumn& time : times) {
      if (time.offset >= end_of_last) ++times_, end_of_last = time.offset + time.width;
    }
    if (times.size() > kMostTimes) times.resize(kMostTimes);
    std::vector<Reading> all;
    for (const TimeColumn& start : times) {
      const auto steps = steps_of(start);
      if (steps.empty()) continue;
      all.push_back(reading_of(start));
      if (is_pair_) {
        add_end(start, start, steps, all);
        continue;
      }
      for (const TimeColumn& end : times) {
        if (add_end(start, end, steps, all) || (start.width == 4 && end.width == 4)) continue;
        // 32 bits, of which some are followed by a number that does not change.
        const TimeColumn narrow_start = narrowed(start);
        add_end(narrow_start, narrowed(end), steps_of(narrow_start), all);
      }
      add_values(start, steps, all);
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Reading& a, const Reading& b) { return a.bits > b.bits; });
    constexpr std::size_t kMostReadings = 16;
    if (all.size() > kMostReadings) all.resize(kMostReadings);
    return all;
  }

 private:
  // Of the record that has the counters.
  std::uint64_t value(std::size_t place, std::size_t offset, std::size_t width) const {
    return number_at(ends_[place], offset, width);
  }

  // Parts of a time rise, too, and so does a time with the byte before it. Of columns that overlap,
  // keeps the aligned one, or the first ones whose lowest byte has many values.
  void keep_whole_numbers(std::vector<TimeColumn>& times) const {
    const auto is_half = [&](const TimeColumn& time) {
      return time.width == 4 && std::any_of(times.begin(), times.end(), [&](const TimeColumn& one) {
               return one.width == 8 && one.offset == time.offset;
             });
    };
    std::vector<TimeColumn> whole, kept;
    for (const TimeColumn& time : times)
      if (!is_half(time)) whole.push_back(time);
    for (std::size_t i = 0; i < whole.size();) {
      std::size_t end = i + 1;
      while (end < whole.size() && whole[end].offset <= whole[end - 1].offset + 1) ++end;
      constexpr std::size_t kMostOfOne = 3;
      std::size_t count = 0;
      bool is_aligned = false;
      for (; i < end; ++i) {
        const TimeColumn& time = whole[i];
        const bool aligned = record_bytes_ % 4 == 0 && time.offset % 4 == 0;
        if (!has_many_values(time.offset) && !(aligned && count == 0)) continue;
        if (is_aligned || (count >= kMostOfOne && !aligned)) continue;
        if (aligned && count == 0) is_aligned = true;
        kept.push_back(time);
        ++count;
      }
    }
    times = std::move(kept);
  }

  bool has_many_values(std::size_t offset) const {
    std::array<bool, 256> seen{};
    std::size_t count = 0;
    for (const Place& place : places_) {
      bool& known = seen[static_cast<std::size_t>(number_at(place, offset, 1))];
      count += known ? 0u : 1u;
      known = true;
    }
    return count >= std::min<std::size_t>(24, places_.size() / 3);
  }

  Reading reading_of(const TimeColumn& start) const {
    Reading one;
    if (layer_ != nullptr) {
      one.layer = *layer_;
    } else {
      one.layer.width = 0;
    }
    one.start = start;
    one.is_pair = is_pair_;
    one.records = places_.size();
    one.times = times_;
    one.bits = (layer_ == nullptr ? 0 : layer_->bits) + kTimeBits;
    return one;
  }

  // Compilers align fields to their size, except in packed records.
  void set_aligned_bits(Reading& one) const {
    constexpr double kPacked = -2;
    one.aligned_bits = 0;
    const auto add = [&](std::size_t offset, std::size_t width) {
      if (one.aligned_bits < 0) return;
      const std::size_t least = std::min<std::size_t>(width, 4);
      if (record_bytes_ % width == 0 && offset % width == 0) {
        one.aligned_bits += std::log2(static_cast<double>(width));
      } else if (record_bytes_ % least != 0 || offset % least != 0) {
        one.aligned_bits = kPacked;
      }
    };
    add(one.start.offset, one.start.width);
    if (one.layer.width == 2 || one.layer.width == 1) add(one.layer.offset, one.layer.width);
    if (one.layer.width == 4) add(one.layer.offset, one.layer.offset % 4 == 2 ? 2 : 4);
    if (one.end) add(one.end->offset, one.end->width);
    if (one.duration) add(one.duration->offset, 4);
    if (one.total) add(one.total->offset, 4);
  }

  static double difference(const Place& a, const TimeColumn& from, const Place& b,
                           const TimeColumn& to) {
    const std::uint64_t first = number_at(a, from.offset, from.width);
    const std::uint64_t second = number_at(b, to.offset, to.width);
    if (from.width == 4 || to.width == 4) {
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(second) -
                                       static_cast<std::uint32_t>(first));
    }
    return static_cast<double>(static_cast<std::int64_t>(second - first));
  }

  std::vector<Step> steps_of(const TimeColumn& start) const {
    std::vector<Step> steps;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const std::size_t before = sequence_.previous[i];
      if (before == Sequence::none()) continue;
      Step step;
      step.from = before;
      step.to = i;
      step.room = difference(places_[before], start, places_[i], start);
      step.is_pause = sequence_.restarts[i];
      if (start.is_relative && step.room < 0) continue;
      steps.push_back(step);
    }
    return steps;
  }

  static constexpr double kImpossible = -1e9;

  // Bits saved per record if a record lasts `factor` * `values`: the next one starts soon after.
  // kImpossible if records would end after the next start. `most_late`: share of those that may.
  static double saved_bits(const std::vector<Step>& steps, const std::vector<double>& values,
                           double factor, double most_late = 0.002) {
    double bits = 0;
    std::size_t count = 0, late = 0;
    const auto most = static_cast<std::size_t>(most_late * static_cast<double>(steps.size()));
    for (const Step& step : steps) {
      const double lasts = factor * values[step.from];
      const double slack = step.room - lasts;
      if (slack < -1.5 - 1e-6 * lasts) {
        if (++late > most) return kImpossible;
        bits -= 1;
        ++count;
        continue;
      }
      if (step.is_pause) continue;
      bits += std::log2(1 + step.room) - std::log2(1 + std::max(0.0, slack));
      ++count;
    }
    return count == 0 ? 0 : bits / static_cast<double>(count);
  }

  // Calls of several threads may overlap, but do not end before the previous one starts.
  static bool cannot_be_threads(const std::vector<Step>& steps, const std::vector<double>& lasts) {
    if (std::any_of(steps.begin(), steps.end(),
                    [&](const Step& step) { return lasts[step.to] < -1 - step.room; }))
      return true;
    constexpr double kMostThreads = 8;
    double time = 0, busy = 0;
    for (const Step& step : steps) {
      time += step.room;
      busy += lasts[step.from];
    }
    return busy > kMostThreads * time;
  }

  static TimeColumn narrowed(TimeColumn time) {
    time.width = 4;
    return time;
  }

  // Returns false if these cannot be start and end.
  bool add_end(const TimeColumn& start, const TimeColumn& end, const std::vector<Step>& steps,
               std::vector<Reading>& all) {
    if (end.width != start.width || end.is_relative != start.is_relative) return false;
    if (!is_pair_ && end.offset < start.offset + start.width &&
        start.offset < end.offset + end.width)
      return false;
    std::vector<double> lasts(places_.size());
    bool differs = false;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      lasts[i] = difference(places_[i], start, ends_[i], end);
      if (lasts[i] < 0) return false;
      differs = differs || lasts[i] != lasts.front();
    }
    if (!differs) return false;
    if (layer_ == nullptr && cannot_be_threads(steps, lasts)) return false;
    const double bits = saved_bits(steps, lasts, 1, layer_ == nullptr ? 1 : 0.002);
    if (bits == kImpossible) return false;
    Reading one = reading_of(start);
    if (!is_pair_) one.end = end;
    one.gap_bits = bits;
    one.bits += kTimeBits + bits;
    set_spread(lasts, one);
    if (has_cycles_) add_total(lasts, one);
    set_aligned_bits(one);
    all.push_back(std::move(one));
    return true;
  }

  static void set_spread(const std::vector<double>& lasts, Reading& one) {
    const auto [least, most] = std::minmax_element(lasts.begin(), lasts.end());
    one.spread = *most / std::max(*least, 1.0);
  }

  bool is_free(std::size_t offset, std::size_t width, const Reading& one) const {
    const auto meets = [&](std::size_t at, std::size_t bytes) {
      return offset < at + bytes && at < offset + width;
    };
    return !(one.layer.width > 0 && meets(one.layer.offset, one.layer.width)) &&
           !meets(one.start.offset, one.start.width) &&
           !(one.end && meets(one.end->offset, one.end->width)) &&
           !(one.duration && meets(one.duration->offset, one.duration->width));
  }

  bool is_aligned_record(const Reading& one) const {
    return one.start.offset % 4 == 0 && record_bytes_ % 4 == 0;
  }

  // The number that is proportional to the durations.
  void add_total(const std::vector<double>& lasts, Reading& one) const {
    struct Fit {
      std::size_t offset;
      double factor, deviation;
    };
    double sum = 0;
    for (const double last : lasts) sum += last;
    if (sum == 0) return;
    std::vector<Fit> fits;
    // Start may be aligned by chance.
    const std::size_t fine = is_aligned_record(one) ? record_bytes_ : 0;
    for (std::size_t at = 0; at + 4 <= record_bytes_ + fine; at += at < fine ? 4 : 1) {
      if (at >= fine && fine > 0 && !fits.empty()) break;
      const std::size_t offset = at < fine ? at : at - fine;
      if (offset + 4 > record_bytes_) continue;
      if (!is_free(offset, 4, one) || is_time_[offset] || !varies(ends_, offset)) continue;
      // Reject by a few records first.
      const std::size_t few = std::min<std::size_t>(32, lasts.size());
      double some = 0, others = 0;
      for (std::size_t i = 0; i < few; ++i) {
        some += lasts[i];
        others += static_cast<double>(value(i, offset, 4));
      }
      if (some == 0 || others == 0) continue;
      double factor = others / some;
      if (factor < kLeastRate / 2 || factor > kMostRate * 2) continue;
      std::size_t far = 0;
      for (std::size_t i = 0; i < few; ++i) {
        const double expected = factor * lasts[i];
        const double difference = std::abs(static_cast<double>(value(i, offset, 4)) - expected);
        far += difference > 0.06 * expected + 2 * factor + 600 ? 1u : 0u;
      }
      if (far * 8 > few) continue;
      factor = slope(lasts, offset);
      if (factor < kLeastRate || factor > kMostRate) continue;
      double deviation = 0, sum_of = 0;
      for (std::size_t i = 0; i < lasts.size(); ++i)
        sum_of += static_cast<double>(value(i, offset, 4)) - factor * lasts[i];
      const double shift = sum_of / static_cast<double>(lasts.size());
      const double noise = std::min(300.0, 0.05 * factor * sum / static_cast<double>(lasts.size()));
      far = 0;
      for (std::size_t i = 0; i < lasts.size(); ++i) {
        const double expected = factor * lasts[i];
        const double difference = static_cast<double>(value(i, offset, 4)) - expected - shift;
        far += std::abs(difference) > 0.02 * expected + 2 * factor + noise ? 1u : 0u;
        deviation += difference * difference;
      }
      // Durations may be rounded down, by half a unit on average.
      if (far * 50 > lasts.size() || std::abs(shift) > 1.5 * factor + noise) continue;
      fits.push_back(
          {offset, factor, std::sqrt(deviation / static_cast<double>(lasts.size())) / factor});
    }
    if (fits.empty()) return;
    const auto best = std::min_element(fits.begin(), fits.end(), [](const Fit& a, const Fit& b) {
      return a.deviation < b.deviation;
    });
    for (const Fit& fit : fits) {
      if (fit.offset == best->offset || fit.deviation > 1.5 * best->deviation + 0.01) continue;
      if (!is_same(fit.offset, best->offset)) one.is_total_alone = false;
    }
    one.total = ValueColumn{best->offset, width_of(best->offset, one)};
    one.cycles_per_unit = best->factor;
    // Every duration is rounded at both ends.
    one.rate_tolerance = 3 * (best->deviation + 0.3) / std::sqrt(squares(lasts));
    one.bits += 10;
  }

  static double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }

  // Sum of the squared distances from the mean.
  static double squares(const std::vector<double>& values) {
    const double middle = mean(values);
    double sum = 1;
    for (const double value : values) sum += (value - middle) * (value - middle);
    return sum;
  }

  // Of the line through the numbers over the durations.
  double slope(const std::vector<double>& lasts, std::size_t offset) const {
    const double middle = mean(lasts);
    double sum = 0;
    for (std::size_t i = 0; i < lasts.size(); ++i)
      sum += (lasts[i] - middle) * static_cast<double>(value(i, offset, 4));
    return sum / squares(lasts);
  }

  bool is_same(std::size_t a, std::size_t b) const {
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (value(i, a, 4) != value(i, b, 4)) return false;
    return true;
  }

  // Eight bytes if the upper four are zero in all records.
  std::size_t width_of(std::size_t offset, const Reading& one) const {
    if (offset + 8 > record_bytes_ || !is_free(offset, 8, one)) return 4;
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (value(i, offset + 4, 4) != 0) return 4;
    return 8;
  }

  // The line below the points (value, time to the next start): the time per unit of the values, and
  // its relative tolerance. Gaps do not depend on the values, so most points are near the line.
  std::optional<std::pair<double, double>> line_below(const std::vector<Step>& steps,
                                                      const std::vector<double>& values) const {
    std::vector<std::pair<double, double>> points, hull;
    double sum = 0;
    for (const Step& step : steps) {
      if (step.is_pause) continue;
      points.emplace_back(values[step.from], step.room);
      sum += values[step.from];
    }
    if (points.size() < 8) return std::nullopt;
    std::sort(points.begin(), points.end());
    const auto cross = [](const auto& a, const auto& b, const auto& c) {
      return (b.first - a.first) * (c.second - a.second) -
             (b.second - a.second) * (c.first - a.first);
    };
    for (const auto& point : points) {
      while (hull.size() >= 2 && cross(hull[hull.size() - 2], hull.back(), point) <= 0)
        hull.pop_back();
      hull.push_back(point);
    }
    const double mean = sum / static_cast<double>(points.size());
    std::size_t i = 1;
    while (i + 1 < hull.size() && hull[i].first < mean) ++i;
    if (hull.size() < 2 || hull[i].first <= hull[i - 1].first) return std::nullopt;
    const double length = hull[i].second - hull[i - 1].second;
    const double slope = length / (hull[i].first - hull[i - 1].first);
    if (slope <= 0) return std::nullopt;
    double slack = 0;
    for (const auto& [x, y] : points) slack += y - hull[i].second - slope * (x - hull[i].first);
    slack /= static_cast<double>(points.size());
    return std::pair(slope, (1.5 + 10 * slack / static_cast<double>(points.size())) / length);
  }

  // Durations of calls, of which some overlap those of other threads; else kImpossible.
  static double bits_of_overlapping(const std::vector<Step>& steps,
                                    const std::vector<double>& values) {
    constexpr double kMostLate = 0.4, kLeastBits = 0.5, kLeastSpread = 1.3;
    const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
    if (*least == 0 || *greatest < kLeastSpread * *least || cannot_be_threads(steps, values))
      return kImpossible;
    const double bits = saved_bits(steps, values, 1, kMostLate);
    return bits < kLeastBits ? kImpossible : bits;
  }

  // Start with a duration, or with cycles alone.
  void add_values(const TimeColumn& start, const std::vector<Step>& steps,
                  std::vector<Reading>& all) {
    const Reading base = reading_of(start);
    const std::size_t stride = is_aligned_record(base) ? 4 : 1;
    const std::size_t few = std::min<std::size_t>(64, steps.size());
    struct Fit {
      std::size_t offset;
      double factor, tolerance, bits;
    };
    std::vector<Fit> fits, durations;
    std::vector<double> values(places_.size());
    const auto read = [&](std::size_t offset) {
      for (std::size_t i = 0; i < places_.size(); ++i)
        values[i] = static_cast<double>(value(i, offset, 4));
    };
    for (std::size_t offset = 0; offset + 4 <= record_bytes_; offset += stride) {
      if (!is_free(offset, 4, base) || is_time_[offset] || !varies(ends_, offset)) continue;
      const auto most_factor = [&](std::size_t count) {
        double factor = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < count; ++i) {
          const auto number = static_cast<double>(value(steps[i].from, offset, 4));
          if (number == 0) return 0.0;
          factor = std::min(factor, (steps[i].room + 2) / number);
        }
        return factor;
      };
      if (layer_ == nullptr && most_factor(steps.size()) < 1) {
        read(offset);
        const double bits = bits_of_overlapping(steps, values);
        if (bits != kImpossible) durations.push_back({offset, 1, 0, bits});
        continue;
      }
      if (most_factor(few) < 1 / kMostRate) continue;
      const double most = most_factor(steps.size());
      if (most < 1 / kMostRate || most > 2 / kLeastRate) continue;
      read(offset);
      // Between calls an application does something else.
      const double least_bits = layer_ == nullptr ? 0.1 : 0.7;
      constexpr double kLeastSpread = 1.3;
      const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
      if (*greatest < kLeastSpread * *least) continue;
      const auto line = line_below(steps, values);
      if (!line) continue;
      const double factor = std::min(line->first, most);
      const double bits = saved_bits(steps, values, factor);
      if (bits < least_bits || factor > 1 / kLeastRate) continue;
      fits.push_back({offset, factor, line->second, bits});
      const bool is_one = std::abs(line->first - 1) <= std::max(0.02, line->second);
      const double as_duration = is_one ? saved_bits(steps, values, 1) : kImpossible;
      if (as_duration >= least_bits) durations.push_back({offset, 1, 0, as_duration});
    }
    const auto by_bits = [](const Fit& a, const Fit& b) { return a.bits > b.bits; };
    std::stable_sort(durations.begin(), durations.end(), by_bits);
    std::stable_sort(fits.begin(), fits.end(), by_bits);
    constexpr std::size_t kMostValues = 4;
    for (std::size_t n = 0; n < std::min(kMostValues, durations.size()); ++n) {
      const Fit& fit = durations[n];
      Reading one = base;
      one.duration = ValueColumn{fit.offset, width_of(fit.offset, base)};
      read(fit.offset);
      set_spread(values, one);
      one.gap_bits = fit.bits;
      one.bits += fit.bits + 0.25;
      if (has_cycles_) add_total(values, one);
      set_aligned_bits(one);
      all.push_back(std::move(one));
    }
    for (std::size_t n = 0; has_cycles_ && n < std::min(kMostValues, fits.size()); ++n) {
      const Fit& fit = fits[n];
      Reading one = base;
      one.total = ValueColumn{fit.offset, width_of(fit.offset, base)};
      one.cycles_per_unit = 1 / fit.factor;
      one.rate_tolerance = fit.tolerance;
      one.gap_bits = fit.bits;
      read(fit.offset);
      set_spread(values, one);
      one.bits += fit.bits;
      set_aligned_bits(one);
      all.push_back(std::move(one));
    }
  }

  const Places& places_;
  const Places& ends_;
  bool is_pair_;
  std::size_t record_bytes_;
  const LayerColumn* layer_;
  bool has_cycles_;
  std::vector<bool> is_time_;  // by offset: a number that rises
  std::size_t times_ = 0;      // that do not overlap
  Sequence sequence_;
};

}  // namespace

std::vector<Reading> find_readings(const RecordColumns& columns) {
  return Search(columns).run();
}

}  // namespace msprof::layout
