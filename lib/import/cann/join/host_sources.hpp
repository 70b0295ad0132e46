// Host streams that are not taken record by record: CallSource, the calls of the host, and
// CapturedStreams, the models whose graphs streams replay. For the host join.
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
  // Reads all records: they are few.
  void read(const ImportContext& context, RecordStream& stream);
  // Model whose graph the stream of a task replays; kNull: none.
  std::int64_t model_of(const HostTrack& track) const;

 private:
  struct Span {
    std::uint64_t begin = 0;
    std::uint64_t end = UINT64_MAX;
    std::uint16_t model = 0;
  };
  // Spans by device and stream; an index in the list is a turn of the stream's task ids.
  std::unordered_map<std::uint32_t, std::vector<Span>> spans_;
};

}  // namespace msprof::cann
