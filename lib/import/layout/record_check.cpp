#include "import/layout/record_check.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "base/file_reader.hpp"
#include "base/read_write.hpp"

namespace msprof::layout {

namespace {

class Checker {
 public:
  Checker(const Explanation& one, const LayerCodes& codes)
      : one_(one), reading_(one.reading), codes_(codes) {}

  void start_file() {
    seen_.fill(false);
    open_.clear();
  }

  // Begins that have no end.
  std::size_t open_begins() const { return open_.size(); }

  // `sample`: of the file that has the record.
  bool explains(const FileSample* sample, const Place& place) {
    const TimeColumn& start = reading_.start;
    int index = 0;
    if (reading_.layer.width > 0) {
      index = layer_of(reading_.layer, codes_, sample, place);
      if (index < 0) return false;
    }
    std::uint64_t time = number_at(place, start.offset, start.width);
    std::uint64_t end = time;
    const std::size_t group = one_.core ? number_at(place, *one_.core, 1) : 0;
    if (one_.pair) {
      const std::pair key(index, group);
      if (number_at(place, one_.pair->offset, 1) == one_.pair->begin) {
        return open_.emplace(key, time).second && follows(group, time, time);
      }
      const auto begin = open_.find(key);
      if (begin == open_.end()) return false;
      time = begin->second;
      open_.erase(begin);
      return is_before(time, end) && follows(group, end, end);
    }
    if (reading_.end) end = number_at(place, reading_.end->offset, reading_.end->width);
    if (reading_.duration)
      end = time + number_at(place, reading_.duration->offset, reading_.duration->width);
    // Calls of several threads may overlap, and are written when they end.
    if (reading_.layer.width == 0) return is_before(time, end) && follows(group, end, time);
    return is_before(time, end) && follows(group, time, end);
  }

 private:
  bool is_before(std::uint64_t a, std::uint64_t b) const {
    return reading_.start.width == 4
               ? static_cast<std::int32_t>(static_cast<std::uint32_t>(b - a)) >= 0
               : a <= b;
  }

  bool follows(std::size_t group, std::uint64_t time, std::uint64_t end) {
    // Rounding may end a record one unit after the next start.
    if (seen_[group] && !reading_.start.is_relative && !is_before(last_[group], time + 1))
      return false;
    seen_[group] = true;
    last_[group] = end;
    return true;
  }

  const Explanation& one_;
  const Reading& reading_;
  const LayerCodes& codes_;
  std::array<bool, 256> seen_{};
  std::array<std::uint64_t, 256> last_{};
  std::map<std::pair<int, std::size_t>, std::uint64_t> open_;  // starts of begins
};

// The bytes of a file, of which a window is in memory at a time.
class FileWindow {
 public:
  explicit FileWindow(const FileSample& sample) : sample_(sample) {
    if (sample.is_read_whole()) return;
    file_.reset(::open(sample.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  }

  std::optional<Place> place_at(std::uint64_t at, std::size_t bytes) {
    if (at + bytes > sample_.size_bytes) return std::nullopt;
    if (sample_.is_read_whole()) return Place{&sample_, static_cast<std::size_t>(at)};
    if (at < first_ || at + bytes > first_ + window_.bytes.size()) {
      fill(at);
      if (bytes > window_.bytes.size()) return std::nullopt;
    }
    return Place{&window_, static_cast<std::size_t>(at - first_)};
  }

 private:
  void fill(std::uint64_t first) {
    constexpr std::size_t kWindowBytes = std::size_t{1} << 20;
    first_ = first;
    window_.bytes.resize(kWindowBytes);
    window_.bytes.resize(file_ ? read_all_at(file_.get(), window_.bytes, first) : 0);
  }

  const FileSample& sample_;
  FileDescriptor file_;
  FileSample window_;
  std::uint64_t first_ = 0;
};

// Between the times of two records.
double distance(const TimeColumn& time, const Place& a, const Place& b) {
  const std::uint64_t step =
      number_at(b, time.offset, time.width) - number_at(a, time.offset, time.width);
  return std::abs(time.width == 4 ? static_cast<double>(
                                        static_cast<std::int32_t>(static_cast<std::uint32_t>(step)))
                                  : static_cast<double>(static_cast<std::int64_t>(step)));
}

// First and last byte of a record that the reading needs.
std::pair<std::size_t, std::size_t> bytes_of(const Reading& one) {
  std::pair all(one.start.offset, one.start.offset + one.start.width);
  const auto add = [&](std::size_t offset, std::size_t width) {
    all = {std::min(all.first, offset), std::max(all.second, offset + width)};
  };
  if (one.layer.width > 0) add(one.layer.offset, one.layer.width);
  if (one.end) add(one.end->offset, one.end->width);
  if (one.duration) add(one.duration->offset, one.duration->width);
  if (one.total) add(one.total->offset, one.total->width);
  return all;
}

}  // namespace

RecordCheck check_records(const Explanation& one, const LayerCodes& codes,
                          const std::vector<FileSample>& samples) {
  RecordCheck check;
  Checker checker(one, codes);
  for (const FileSample& sample : samples) {
    checker.start_file();
    FileWindow window(sample);
    const auto place_at = [&](std::uint64_t at, std::size_t bytes) {
      return window.place_at(at, bytes);
    };
    visit_records(one.frame, place_at, [&](const Place& place) {
      if (one.selects(place))
        ++(checker.explains(&sample, place) ? check.explained : check.unexplained);
      return true;
    });
    // The file may end between the begins and the ends of the cores.
    constexpr std::size_t kMostCores = 8;
    if (checker.open_begins() > kMostCores) check.unexplained += checker.open_begins();
  }
  return check;
}

bool leaves_out_layers(const Explanation& one, const LayerCodes& codes,
                       const std::vector<FileSample>& samples) {
  if (one.pair || !one.reading.has_span()) return false;
  const Reading& reading = one.reading;
  const std::size_t size = one.frame.record_bytes;
  const Places places = places_of(one.frame, samples, kSearched);
  const auto time_of = [&](const Place& place) {
    return number_at(place, reading.start.offset, reading.start.width);
  };
  const auto span_of = [&](const Place& place) {
    return end_of(reading, place, place) - static_cast<double>(time_of(place));
  };
  // Limits for a record that was left out.
  std::vector<bool> seen(codes.layers() + 1, false);
  double longest = 0, farthest = 0;
  const Place* before = nullptr;
  for (const Place& place : places) {
    if (!one.selects(place)) continue;
    if (reading.layer.width > 0)
      seen[static_cast<std::size_t>(layer_of(reading.layer, codes, place.sample, place) + 1)] =
          true;
    longest = std::max(longest, span_of(place));
    if (before != nullptr && before->sample == place.sample)
      farthest = std::max(farthest, distance(reading.start, *before, place));
    before = &place;
  }
  const auto fields = bytes_of(reading);
  std::map<std::size_t, std::size_t> readable;  // by distance from a record
  std::map<std::uint64_t, std::pair<std::size_t, std::size_t>> lacking;  // of all, by tag
  std::size_t left_out = 0;
  const auto look_into = [&](const Place& chosen, std::size_t from, std::size_t to) {
    for (std::size_t at = std::max(from, fields.first) - fields.first; at + fields.second <= to;
         ++at) {
      const Place place{chosen.sample, at};
      // From an end to the next start is no record.
      if (reading.end && at + reading.start.offset == chosen.at + reading.end->offset) continue;
      if (reading.layer.width > 0 && layer_of(reading.layer, codes, place.sample, place) < 0)
        continue;
      const double span = span_of(place);
      if (span > 0 && span <= 2 * longest && distance(reading.start, chosen, place) <= 2 * farthest)
        ++readable[(at % size + size - chosen.at % size) % size];
    }
  };
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (one.selects(places[i])) continue;
    std::size_t end = i;
    for (;
         end < places.size() && places[end].sample == places[i].sample && !one.selects(places[end]);
         ++end) {
      ++left_out;
      if (reading.layer.width == 0) continue;
      const int layer = layer_of(reading.layer, codes, places[end].sample, places[end]);
      auto& [lacks, all] = lacking[number_at(places[end], one.tag->offset, 1)];
      lacks += layer >= 0 && !seen[static_cast<std::size_t>(layer + 1)] ? 1u : 0u;
      ++all;
    }
    const bool has_next = end < places.size() && places[end].sample == places[i].sample;
    const bool has_previous = i > 0 && places[i - 1].sample == places[i].sample;
    if (has_next || has_previous)
      look_into(has_next ? places[end] : places[i - 1], places[i].at, places[end - 1].at + size);
    i = end - 1;
  }
  // Without a tag, other records may be parts of those that were read. Small times are everywhere.
  if (!one.tag && !reading.start.is_relative) {
    left_out = places.size();
    for (const Place& place : places) {
      const std::size_t end = std::min(place.at + 2 * size, place.sample->bytes.size());
      look_into(place, place.at + 1 + fields.first,
                std::min(end, place.at + size - 1 + fields.second));
    }
  }
  constexpr std::size_t kLeastShare = 10;
  return std::any_of(readable.begin(), readable.end(),
                     [&](const auto& entry) {
                       return entry.second >= 3 && entry.second * kLeastShare >= left_out;
                     }) ||
         std::any_of(lacking.begin(), lacking.end(), [](const auto& entry) {
           return entry.second.first * 2 > entry.second.second;
         });
}

}  // namespace msprof::layout
