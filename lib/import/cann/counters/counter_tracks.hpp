// CounterTracks: the tracks of one kind of counters while its files are read, and their samples on
// the way to the store. For the kinds of this folder.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "import/cann/cann_import.hpp"
#include "store/schema.hpp"

namespace msprof::cann {

// What a track is about; texts are copied. TrackRow says what each is.
struct TrackName {
  std::optional<std::int64_t> device;  // empty: the host
  std::string_view subject;
  std::string_view counter;
  std::string_view unit;
  std::int64_t number = kNull;
  std::int64_t part = kNull;
  std::string_view detail = {};
  std::int64_t divisor = 1;
  bool is_rate = false;  // samples are amounts within their intervals
};

class CounterTracks {
 public:
  // `kind`: as in TrackRow.
  CounterTracks(CannImport& import, const ImportContext& context, std::string_view kind);
  // Writes the rows of all tracks that have samples: once, behind the last of them.
  void write();
  bool has_samples() const;

  // Opens a track and gives its handle here. Which are the same track is the caller's to know.
  std::size_t open(const TrackName& name);
  // What the next open() gives. Handles follow each other, so that it stands for a group of tracks.
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
  std::int64_t name_of(std::string_view text) const {
    return text.empty() ? kNull : context_.store.name_id(text);
  }

  CannImport& import_;
  const ImportContext& context_;
  std::int64_t kind_name_id_;
  std::vector<TrackRow> tracks_;
};

inline constexpr std::int64_t kMegabyte = 1 << 20;

// Reasons for what is left out, the same words for the same cause.
inline constexpr std::string_view kTooLate = "older than the samples before it";
inline constexpr std::string_view kNoInterval = "no time since the sample before";
inline constexpr std::string_view kCounterFell = "a counter that fell";
inline constexpr std::string_view kNotTheForm = "not in the expected form";

// Whether the records of hbm, llc and npu_mem are those of version 2.0 (cann_system.md 1.6).
bool has_later_layout(const CannPart& part);

// Whether the times of a part are known; else a finding says that `kind` is not read there.
bool check_start(const ImportContext& context, const CannPart& part, std::string_view kind);

// Says so where the chip of a part, by platform_version, is none of `chips`, on which the vendor's
// tool reads `kind` (cann_system.md 1.1). Of an unknown chip nothing is said.
void tell_unexpected(const CannImport& import, const ImportContext& context, const CannPart& part,
                     std::string_view kind, std::initializer_list<int> chips);

// Whether samples of a collection can be of that time: from a day before its begin to 30 days after
// it. Records without a mark say by it that they are none.
bool is_time(const CannSession& session, std::int64_t ns);

// The value of a counter of 64 bits as a sample; what does not fit is the largest that does.
constexpr std::int64_t sample_value(std::uint64_t value) {
  return value > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(value);
}

}  // namespace msprof::cann
