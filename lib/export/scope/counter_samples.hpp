// CounterSamples: the tracks of one kind of counters, and their samples in recording order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/number.hpp"
#include "export/scope/export_scope.hpp"
#include "store/database.hpp"

namespace msprof {

// A row of `track` with its texts resolved.
struct CounterTrack {
  std::int64_t id = 0;
  std::optional<std::int64_t> device;  // empty: the host
  std::string kind;
  std::string subject;
  std::optional<std::int64_t> number;
  std::optional<std::int64_t> part;
  std::string detail;
  std::string counter;
  std::string unit;
  std::int64_t divisor = 1;
  bool is_rate = false;
  std::int64_t first_sample_id = 0;
  std::int64_t last_sample_id = -1;
  std::size_t index = 0;  // among the tracks of the kind; indexes arrays with an element per track
};

// Returns all tracks of a kind, or of every kind: by device, the host last, then in the order in
// which they were opened.
std::vector<CounterTrack> counter_tracks(const Database& db, std::string_view kind = {});

// SQL for `exists` of a product about a kind of counters.
std::string_view exists_counters(std::string_view kind);

struct CounterSample {
  const CounterTrack* track = nullptr;
  std::optional<std::int64_t> begin_ns;
  std::int64_t time_ns = 0;
  std::int64_t value = 0;

  // numerator() / denominator() is the exact value in the track's unit; the denominator is
  // positive. A rate over an empty interval is 0.
  int128 numerator() const;
  int128 denominator() const;
  double shown() const;
};

// All but `recorded` sort the samples, which needs disk space if there are many.
enum class CounterOrder {
  recorded,
  device_number_time,  // number of the subject
  number_time,         // across all devices
};

class CounterSamples {
 public:
  // Reads the samples in the scope. `has_early` also includes samples from before the collection,
  // and samples without a time, which have time_ns 0 and only need a device in the scope.
  CounterSamples(const Database& db, std::string_view kind, const ExportScope& scope,
                 bool has_early = false, CounterOrder order = CounterOrder::recorded);

  const std::vector<CounterTrack>& tracks() const { return tracks_; }
  bool next();
  const CounterSample& operator*() const { return sample_; }
  const CounterSample* operator->() const { return &sample_; }

 private:
  std::vector<CounterTrack> tracks_;
  std::vector<std::size_t> by_id_;  // index into tracks_
  ScopeFilter scope_;
  std::int64_t begin_ns_;
  bool has_timeless_;
  Statement read_;
  CounterSample sample_;
};

}  // namespace msprof
