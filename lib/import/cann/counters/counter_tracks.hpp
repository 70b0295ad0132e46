// CounterTracks: the tracks of one kind of counters while its files are read. Writes their samples
// to the store.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "import/cann/cann_import.hpp"
#include "store/schema.hpp"

namespace msprof::cann {

// Properties of a track; see TrackRow. Texts are copied.
struct TrackName {
  std::optional<std::int64_t> device;  // empty for the host
  std::string_view subject;
  std::string_view counter;
  std::string_view unit;
  std::int64_t number = kNull;
  std::int64_t part = kNull;
  std::string_view detail = {};
  std::int64_t divisor = 1;
  bool is_rate = false;  // samples are amounts per interval
};

class CounterTracks {
 public:
  // `kind`: as in TrackRow.
  CounterTracks(CannImport& import, const ImportContext& context, std::string_view kind);
  // Writes the rows of all tracks that have samples. Call once, after the last sample.
  void write();
  bool has_samples() const;

  // Opens a track and returns its handle. The caller must not open the same track twice.
  std::size_t open(const TrackName& name);
  // Handle that the next open() returns. Handles are consecutive, so the first one identifies a
  // group of tracks.
  std::size_t next() const { return tracks_.size(); }
  void add(std::size_t track, std::int64_t time_ns, std::int64_t value) {
    add(track, kNull, time_ns, value);
  }
  void add(std::size_t track, std::int64_t begin_ns, std::int64_t time_ns, std::int64_t value) {
    TrackRow& row = tracks_[track];
    CounterRow sample;
    sample.id = ++import_.samples;
    sample.track_id = row.id;
    sample.begin_ns = begin_ns;
    sample.time_ns = time_ns;
    sample.value = value;
    if (row.first_sample_id == kNull) row.first_sample_id = sample.id;
    row.last_sample_id = sample.id;
    context_.store.add(sample);
  }

 private:
  std::int64_t name_or_null(std::string_view text) const {
    return text.empty() ? kNull : context_.store.name_id(text);
  }

  CannImport& import_;
  const ImportContext& context_;
  std::int64_t kind_name_id_;
  std::vector<TrackRow> tracks_;
};

inline constexpr std::int64_t kMegabyte = 1 << 20;

// Reasons why samples are left out; findings with the same reason are merged.
inline constexpr std::string_view kTooLate = "older than the previous samples";
inline constexpr std::string_view kNoInterval = "same time as the previous sample";
inline constexpr std::string_view kCounterFell = "counter decreased";
inline constexpr std::string_view kNotTheForm = "not in the expected format";

// Returns true if the part's hbm, llc and npu_mem records have version 2.0 (cann_system.md 1.6).
bool has_later_layout(const CannPart& part);

// Returns true if times of the part can be computed; otherwise adds a finding that `kind` is not
// read.
bool check_start(const ImportContext& context, const CannPart& part, std::string_view kind);

// Adds a finding if the part's chip (platform_version) is not in `chips`, the chips on which the
// vendor's tool reads `kind` (cann_system.md 1.1). Does nothing for an unknown chip.
void tell_unexpected(const CannImport& import, const ImportContext& context, const CannPart& part,
                     std::string_view kind, std::initializer_list<int> chips);

// Returns true if a sample of the collection can have this time: from one day before its start to
// 30 days after it. Used to reject records of formats without a magic.
bool is_time(const CannSession& session, std::int64_t ns);

// Converts a 64-bit counter to a sample; limited to INT64_MAX.
constexpr std::int64_t sample_value(std::uint64_t value) {
  return value > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(value);
}

}  // namespace msprof::cann
