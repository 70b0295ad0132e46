// Host streams that are read in a special way. CallSource: calls of the host. CapturedStreams:
// models whose graphs are replayed by streams. WideStreams: full stream ids. Source: cann_host.md
// 1.8.1, 1.8.6, 1.10.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "import/cann/join/host_records.hpp"

namespace msprof {
struct ImportContext;
}

namespace msprof::cann {

class RecordStream;
struct StreamRecord;

// Calls sorted by start, level from high to low, and reading order. Merges calls recorded as one
// record with calls recorded as two events.
class CallSource {
 public:
  using Call = HostRecord<ApiEventWire>;

  explicit CallSource(RecordStream& stream) : stream_(stream) {}

  // Sets the latest possible end of a call, as a count. A later end would hide the calls after it.
  void set_latest_end(std::uint64_t count) { latest_end_ = count; }
  // Reads the slices once, pairs events, and reports events without a counterpart.
  void open(const ImportContext& context);
  // Returns the next calls in order of time, all with the same start; empty at the end.
  const std::vector<Call>& peek() const { return moment_; }
  void next(const ImportContext& context);

 private:
  using EventKey = std::tuple<std::uint16_t, std::uint32_t, std::uint32_t, std::uint32_t,
                              std::uint64_t>;  // level, type, thread, request, item
  // Returns why a call is impossible; empty if it is possible.
  std::string_view why_impossible(const ApiEventWire& call) const;
  void pair(const ImportContext& context, const StreamRecord& record);
  // Finds the next valid recorded call in `stream_`; returns false at the end.
  bool find_recorded(const ImportContext& context);

  RecordStream& stream_;
  std::uint64_t latest_end_ = UINT64_MAX;
  std::vector<Call> paired_;  // sorted by start
  std::size_t next_paired_ = 0;
  Call recorded_;
  bool has_recorded_ = false;
  std::vector<Call> moment_;
  std::map<EventKey, std::uint64_t> open_events_;  // event times
};

class CapturedStreams {
 public:
  // Reads all records, which are few. Collectors since 2026-07 also write records with full ids; if
  // `wide` has any, they are used instead of `stream`.
  void read(const ImportContext& context, RecordStream& stream, RecordStream& wide);
  // Returns the model whose graph the stream of a task replays; kNull if there is none.
  std::int64_t find_model(const HostTrack& track) const;
  // Returns true if the stream was ever captured.
  bool has(std::uint16_t device, std::uint32_t stream) const;
  // Returns true if the records have full ids.
  bool is_wide() const { return is_wide_; }

 private:
  struct Span {
    std::uint64_t begin = 0;
    std::uint64_t end = UINT64_MAX;
    std::uint32_t model = 0;
  };
  struct Record {
    std::uint64_t time = 0;
    std::uint16_t device = 0;
    bool is_end = false;
    std::uint32_t model_stream = 0;
    std::uint32_t original_stream = 0;
    std::uint32_t model = 0;
  };
  template <typename Wire>
  std::size_t read_records(const ImportContext& context, RecordStream& stream);

  // by device and stream, in order of time
  std::unordered_map<std::uint64_t, std::vector<Span>> spans_;
  bool is_wide_ = false;
};

// Full stream ids of tasks and of stream ends; task_track has only the low 16 bits (task_track_v2).
// Source: cann_new_kinds.md 2.1.
class WideStreams {
 public:
  // Reads all records. There is one per task of a graph, however often the graph runs.
  void read(const ImportContext& context, RecordStream& stream);
  std::uint32_t find_stream(const TaskTrackWire& track) const;

 private:
  struct Record {
    std::uint64_t time = 0;
    std::uint32_t thread = 0;
    std::uint32_t type = 0;
    std::uint64_t kernel_name = 0;
    std::uint32_t stream = 0;
    std::uint32_t task = 0;
    std::uint16_t device = 0;
  };
  std::vector<Record> records_;  // sorted by time, thread
};

}  // namespace msprof::cann
