// Host streams that are not taken record by record: CallSource, the calls of the host,
// CapturedStreams, the models whose graphs streams replay, and WideStreams. For the host join.
// Source: cann_host.md 1.8.1, 1.8.6, 1.10.
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

// Calls in the order (begin, level from high to low, reading order): those recorded whole, and
// those made of two events.
class CallSource {
 public:
  using Call = HostRecord<ApiEventWire>;

  explicit CallSource(RecordStream& stream) : stream_(stream) {}

  // Sets the latest count at which a call may end; a later end would hide the calls behind it.
  void set_latest_end(std::uint64_t count) { latest_end_ = count; }
  // Reads the slices once, pairs events, and reports those that stay open.
  void open(const ImportContext& context);
  // Calls that begin at one moment, the next in time; empty at the end.
  const std::vector<Call>& peek() const { return moment_; }
  void next(const ImportContext& context);

 private:
  using EventKey = std::tuple<std::uint16_t, std::uint32_t, std::uint32_t, std::uint32_t,
                              std::uint64_t>;  // level, type, thread, request, item
  // Reason why a call cannot be true; empty when it can.
  std::string_view why_impossible(const ApiEventWire& call) const;
  void pair(const ImportContext& context, const StreamRecord& record);
  // Finds the next recorded call of `stream_`, past what is no call; false at the end.
  bool find_recorded(const ImportContext& context);

  RecordStream& stream_;
  std::uint64_t latest_end_ = UINT64_MAX;
  std::vector<Call> paired_;  // by begin
  std::size_t next_paired_ = 0;
  Call recorded_;
  bool has_recorded_ = false;
  std::vector<Call> moment_;
  std::map<EventKey, std::uint64_t> open_events_;  // times
};

class CapturedStreams {
 public:
  // Read all records: they are few. `wide` has the same records with the ids in full, of collectors
  // since 2026-07; where there are any they are taken instead.
  void read(const ImportContext& context, RecordStream& stream, RecordStream& wide);
  // Model whose graph the stream of a task replays; kNull: none.
  std::int64_t model_of(const HostTrack& track) const;
  // Whether a stream was ever captured.
  bool has(std::uint16_t device, std::uint32_t stream) const;
  // Whether its ids are in full.
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

  std::unordered_map<std::uint64_t, std::vector<Span>> spans_;  // by device and stream, in time
  bool is_wide_ = false;
};

// The streams of tasks and the ends of streams in full, where task_track has their low 16 bits
// (task_track_v2). Source: cann_new_kinds.md 2.1.
class WideStreams {
 public:
  // Reads all records: a graph has as many as tasks, however often it runs.
  void read(const ImportContext& context, RecordStream& stream);
  std::uint32_t stream_of(const TaskTrackWire& track) const;

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
  std::vector<Record> records_;  // by time, thread
};

}  // namespace msprof::cann
