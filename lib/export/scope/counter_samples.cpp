#include "export/scope/counter_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "export/scope/cann_rules.hpp"
#include "store/row_ids.hpp"
#include "store/schema.hpp"

namespace msprof {

namespace {

constexpr std::size_t kNoTrack = SIZE_MAX;
// Limit for all names of the tracks of a kind. Only a damaged store exceeds it.
constexpr std::size_t kMaxTextBytes = 32 << 20;

// Chosen so that divisor × 64-bit time fits in 128 bits.
constexpr std::int64_t kMaxDivisor = 1'000'000'000'000;

std::string_view order_sql(CounterOrder order) {
  switch (order) {
    case CounterOrder::device_number_time:
      return "device_id, number, time_ns, counter.id";
    case CounterOrder::number_time:
      return "number, time_ns, counter.id";
    case CounterOrder::recorded:
      break;
  }
  return "counter.id";
}

Statement prepare_samples(const Database& db, const std::vector<CounterTrack>& tracks,
                          CounterOrder order) {
  std::int64_t first = INT64_MAX;
  std::int64_t last = INT64_MIN;
  for (const CounterTrack& track : tracks) {
    first = std::min(first, track.first_sample_id);
    last = std::max(last, track.last_sample_id);
  }
  Statement read = db.prepare(
      fmt::format("SELECT track_id, begin_ns, time_ns, value FROM counter {}"
                  "WHERE counter.id BETWEEN ? AND ? ORDER BY {}",
                  order == CounterOrder::recorded ? "" : "JOIN track ON track.id = track_id ",
                  order_sql(order)));
  read.bind(1, first).bind(2, last);
  return read;
}

}  // namespace

std::vector<CounterTrack> counter_tracks(const Database& db, std::string_view kind) {
  Statement read = db.prepare(
      "SELECT track.id, device_id, number, part, divisor, is_rate, first_sample_id, last_sample_id,"
      " kind.text, subject.text, detail.text, counter.text, unit.text FROM track"
      " LEFT JOIN name AS kind ON kind.id = kind_name_id"
      " LEFT JOIN name AS subject ON subject.id = subject_name_id"
      " LEFT JOIN name AS detail ON detail.id = detail_name_id"
      " LEFT JOIN name AS counter ON counter.id = name_id"
      " LEFT JOIN name AS unit ON unit.id = unit_name_id"
      " WHERE ?1 = '' OR kind.text = ?1 ORDER BY device_id IS NULL, device_id, track.id");
  read.bind(1, kind);
  std::vector<CounterTrack> tracks;
  std::size_t bytes = 0;
  while (read.step()) {
    for (int column = 8; column <= 12; ++column) bytes += read.text(column).size();
    if (bytes > kMaxTextBytes) throw db.damaged("the names of its counters are too long");
    CounterTrack track;
    track.id = read.integer(0);
    track.device = read.maybe_integer(1);
    track.number = read.maybe_integer(2);
    track.part = read.maybe_integer(3);
    track.divisor = std::clamp<std::int64_t>(read.integer(4), 1, kMaxDivisor);
    track.is_rate = read.integer(5) != 0;
    track.first_sample_id = read.maybe_integer(6).value_or(0);
    track.last_sample_id = read.maybe_integer(7).value_or(-1);
    track.kind = read.text(8);
    track.subject = read.text(9);
    track.detail = read.text(10);
    track.counter = read.text(11);
    track.unit = read.text(12);
    track.index = tracks.size();
    tracks.push_back(std::move(track));
  }
  return tracks;
}

std::string_view exists_counters(std::string_view kind) {
  // Products keep views of these texts, so each is made once and never removed.
  static std::mutex mutex;
  static std::map<std::string, std::string, std::less<>> made;
  const std::lock_guard lock(mutex);
  const auto found = made.find(kind);
  if (found != made.end()) return found->second;
  return made
      .emplace(kind, fmt::format("SELECT 1 FROM track JOIN name ON name.id = track.kind_name_id"
                                 " WHERE name.text = '{}'",
                                 kind))
      .first->second;
}

int128 CounterSample::numerator() const {
  constexpr int128 kNsPerSecond = 1'000'000'000;
  if (!track->is_rate) return value;
  return begin_ns && *begin_ns < time_ns ? value * kNsPerSecond : 0;
}

int128 CounterSample::denominator() const {
  if (!track->is_rate || !begin_ns || *begin_ns >= time_ns) return track->divisor;
  return track->divisor * (static_cast<int128>(time_ns) - *begin_ns);
}

double CounterSample::shown() const {
  return static_cast<double>(numerator()) / static_cast<double>(denominator());
}

CounterSamples::CounterSamples(const Database& db, std::string_view kind, const ExportScope& scope,
                               bool has_early, CounterOrder order)
    : tracks_(counter_tracks(db, kind)),
      scope_(scope),
      begin_ns_(has_early ? INT64_MIN : cann::window_begin_ns(db)),
      has_timeless_(has_early),
      read_(prepare_samples(db, tracks_, order)) {
  if (tracks_.empty()) return;
  by_id_.assign(static_cast<std::size_t>(last_id(db, "track")) + 1, kNoTrack);
  for (const CounterTrack& track : tracks_) {
    const auto id = static_cast<std::uint64_t>(track.id);
    if (id >= by_id_.size()) fail_without_row(db, "track", track.id);
    by_id_[id] = track.index;
  }
}

bool CounterSamples::next() {
  while (read_.step()) {
    const std::int64_t track = read_.integer(0);
    if (static_cast<std::uint64_t>(track) >= by_id_.size()) continue;
    const std::size_t index = by_id_[static_cast<std::uint64_t>(track)];
    if (index == kNoTrack) continue;
    sample_.track = &tracks_[index];
    sample_.begin_ns = read_.maybe_integer(1);
    sample_.time_ns = read_.integer(2);
    sample_.value = read_.integer(3);
    if (sample_.time_ns == 0 && read_.is_null(2)) {
      const auto& device = sample_.track->device;
      if (has_timeless_ && (!device || scope_.takes_device(*device))) return true;
      continue;
    }
    if (sample_.time_ns < begin_ns_) continue;
    const std::int64_t begin = sample_.begin_ns.value_or(sample_.time_ns);
    const auto& device = sample_.track->device;
    if (device ? scope_.takes(*device, begin, sample_.time_ns)
               : scope_.takes_host(begin, sample_.time_ns))
      return true;
  }
  return false;
}

}  // namespace msprof
