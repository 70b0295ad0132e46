#include "export/old/tables.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace msprof::old {

OldTimes::OldTimes(const Database& db) {
  wall_offset_ns_ = read_meta_integer(db, "clock.wall_offset_ns").value_or(0);
  Statement read = db.prepare("SELECT id, tick_frequency_hz FROM device ORDER BY id");
  while (read.step()) {
    const auto value = [&](const char* key) {
      return read_meta_integer(db, fmt::format("clock.{}.{}", read.integer(0), key)).value_or(0);
    };
    // No real clock exceeds these limits, and larger values would overflow the fractions below.
    constexpr std::int64_t kMaxHz = 10'000'000'000;
    constexpr std::int64_t kMaxNs = 100'000'000'000'000'000;
    clocks_[read.integer(0)] = {
        std::clamp<std::int64_t>(read.maybe_integer(1).value_or(0), 0, kMaxHz), value("ticks"),
        std::clamp(value("monotonic_ns"), -kMaxNs, kMaxNs), value("wall_offset_ns")};
  }
}

const OldTimes::Clock& OldTimes::find_clock(std::int64_t device) const {
  const auto found = clocks_.find(device);
  return found == clocks_.end() ? none_ : found->second;
}

std::int64_t OldTimes::ticks_per_second(std::int64_t device) const {
  const std::int64_t hz = find_clock(device).frequency_hz;
  return hz > 0 ? hz : 1'000'000'000;
}

std::string OldTimes::ticks_to_us(std::int64_t device, int128 ticks, std::int64_t parts) const {
  return cann::trimmed(ticks * 1'000'000, int128{ticks_per_second(device)} * parts, 6);
}

std::string OldTimes::ticks_to_ms(std::int64_t device, int128 ticks) const {
  return cann::trimmed(ticks * 1000, ticks_per_second(device), 9);
}

double OldTimes::shown_us(std::int64_t device, double ticks) const {
  return ticks * 1e6 / static_cast<double>(ticks_per_second(device));
}

std::int64_t OldTimes::host_ns(std::int64_t wall_ns) const {
  return saturating_subtract(wall_ns, wall_offset_ns_);
}

namespace {

constexpr int128 kSecondNs = 1'000'000'000;

std::int64_t limited(int128 value) {
  return static_cast<std::int64_t>(std::clamp<int128>(value, INT64_MIN / 2, INT64_MAX / 2));
}

// Returns the tick count whose time, truncated to ns, is `ns`; of several, the one nearest to the
// middle of that ns.
std::int64_t to_ticks(int128 ns, std::int64_t frequency_hz) {
  return limited(divide_rounded((2 * ns + 1) * frequency_hz, 2 * kSecondNs));
}

}  // namespace

std::int64_t OldTimes::ticks(std::int64_t device, std::int64_t wall_ns) const {
  const Clock& clock = find_clock(device);
  const int128 ns = int128{wall_ns} - clock.wall_offset_ns - clock.monotonic_ns;
  return limited(int128{to_ticks(ns, clock.frequency_hz)} + clock.ticks);
}

Exact OldTimes::device_ns(std::int64_t device, std::int64_t wall_ns) const {
  const Clock& clock = find_clock(device);
  const int128 ns = int128{wall_ns} - clock.wall_offset_ns;
  if (clock.frequency_hz <= 0) return {ns, 1};
  const int128 ticks = to_ticks(ns - clock.monotonic_ns, clock.frequency_hz);
  return {ticks * kSecondNs + int128{clock.monotonic_ns} * clock.frequency_hz, clock.frequency_hz};
}

double OldTimes::shown_ns(std::int64_t device, std::int64_t start_wall_ns,
                          std::int64_t duration_ns) const {
  const Clock& clock = find_clock(device);
  const double mhz = static_cast<double>(std::max<std::int64_t>(clock.frequency_hz, 1)) / 1e6;
  const std::int64_t start = ticks(device, start_wall_ns) - clock.ticks;
  const std::int64_t end = start + span_ticks(device, duration_ns);
  const auto ns = [&](std::int64_t count) {
    return static_cast<double>(count) * 1000.0 / mhz + static_cast<double>(clock.monotonic_ns);
  };
  return ns(end) - ns(start);
}

std::int64_t OldTimes::span_ticks(std::int64_t device, std::int64_t duration_ns) const {
  return to_ticks(duration_ns, find_clock(device).frequency_hz);
}

Exact OldTimes::span_ns(std::int64_t device, std::int64_t duration_ns) const {
  const std::int64_t hz = find_clock(device).frequency_hz;
  if (hz <= 0) return {duration_ns, 1};
  return {to_ticks(duration_ns, hz) * kSecondNs, hz};
}

OldIterations::OldIterations(const Database& db) {
  Statement read = db.prepare(
      "SELECT device_id, model_number, number, end_ns FROM iteration"
      " WHERE is_framework_step = 0 ORDER BY device_id, end_ns, id");
  while (read.step()) {
    auto& all = by_device_[read.integer(0)];
    const std::int64_t begin = all.empty() ? INT64_MIN : all.back().end_ns;
    all.push_back({read.maybe_integer(1).value_or(kNull), read.integer(2), begin, read.integer(3)});
  }
}

const OldIterations::Iteration* OldIterations::find(std::int64_t device,
                                                    std::int64_t end_ns) const {
  const auto found = by_device_.find(device);
  if (found == by_device_.end()) return nullptr;
  const auto& all = found->second;
  const auto at =
      std::lower_bound(all.begin(), all.end(), end_ns,
                       [](const Iteration& one, std::int64_t ns) { return one.end_ns < ns; });
  return at == all.end() ? nullptr : &*at;
}

ModelNames::ModelNames(const Database& db) {
  Statement read = db.prepare(
      "SELECT model_id, text FROM model JOIN name ON name.id = name_id"
      " WHERE model_id IS NOT NULL ORDER BY model.id");
  while (read.step()) names_.try_emplace(read.integer(0), read.text(1));
}

void ModelNames::write(RowBuilder& out, std::int64_t model) const {
  const auto found = names_.find(model);
  found == names_.end() ? out.missing() : out.text(found->second);
}

CallDetails::CallDetails(const Database& db)
    : read_(db.prepare("SELECT api_id, stream_id, request, size_bytes, direction FROM call_detail"
                       " ORDER BY api_id")),
      has_more_(read_.step()) {}

bool CallDetails::find(std::int64_t api_id) {
  while (has_more_ && read_.integer(0) < api_id) has_more_ = read_.step();
  return has_more_ && read_.integer(0) == api_id;
}

bool is_310(const Database& db) {
  return cann::has_rows(db, "SELECT 1 FROM device WHERE platform = 0");
}

bool has_operators(const Database& db) {
  return cann::has_rows(db, "SELECT 1 FROM op");
}

bool has_steps(const Database& db) {
  return cann::has_rows(db, "SELECT 1 FROM iteration");
}

}  // namespace msprof::old
