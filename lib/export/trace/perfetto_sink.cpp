#include "export/trace/perfetto_sink.hpp"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "base/text_map.hpp"
#include "export/trace/protobuf_fields.hpp"
#include "export/trace/trace_events.hpp"

namespace msprof {

namespace {

using protobuf::put;
using protobuf::put_real;

// Protobuf field numbers.
namespace packet {
constexpr std::uint32_t kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInternedData = 12,
                        kSequenceFlags = 13, kClockSnapshot = 6, kCompressedPackets = 50,
                        kTimestampClock = 58, kDefaults = 59, kTrackDescriptor = 60;
}
namespace event {
constexpr std::uint32_t kAnnotation = 4, kType = 9, kNameId = 10, kCategory = 22, kName = 23,
                        kTrack = 11, kCounterValue = 30, kFlow = 36, kLastFlow = 42,
                        kCounterReal = 44;
}
namespace annotation {
constexpr std::uint32_t kNameId = 1, kBool = 2, kInteger = 4, kReal = 5, kText = 6, kJson = 9,
                        kName = 10, kTextId = 17;
}
namespace interned {
constexpr std::uint32_t kEventName = 2, kAnnotationName = 3, kAnnotationText = 29;
}
namespace track {
constexpr std::uint32_t kUuid = 1, kName = 2, kProcess = 3, kParent = 5, kCounter = 8,
                        kChildOrdering = 11, kRank = 12;
}
namespace process {
constexpr std::uint32_t kPid = 1, kSortIndex = 3, kName = 6, kLabels = 8;
}

constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;                // sequence_flags
constexpr std::uint64_t kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4;  // TrackEvent.type
constexpr std::uint64_t kBootClock = 6, kDeltaClock = 64;
constexpr std::uint64_t kExplicitOrder = 3;
constexpr std::uint64_t kDescriptorSequence = 1;

// Number of texts that a sequence interns; further ones are written out each time.
constexpr std::size_t kMaxNames = 1 << 16;
constexpr std::size_t kMaxTexts = 1 << 12;
constexpr std::size_t kMaxRows = 256;  // per thread; more overlaps mean damaged records
constexpr std::size_t kBlockBytes = 256 << 10;
// Memory limit for the interned texts of a sequence.
constexpr std::size_t kMaxTextBytes = 16 << 20;
// Measured: level 6 needs five times as long and saves a fifth.
constexpr int kBlockLevel = 1;
constexpr std::int64_t kMaxPid = (1 << 22) - 1;  // largest process id on Linux

std::string interned_text(std::uint64_t id, std::string_view text) {
  std::string entry;
  put(entry, 1, id);
  put(entry, 2, text);
  return entry;
}

// Interned texts of one kind in a packet sequence, keyed by their JSON.
class InternedTexts {
 public:
  InternedTexts(std::uint32_t field, std::size_t most) : field_(field), most_(most) {}

  // Returns the id of a text and appends a new one to `data`, an InternedData. Returns 0 if there
  // are too many texts.
  std::uint64_t id(std::string_view json, std::string& data) {
    const auto known = ids_.find(json);
    if (known != ids_.end()) return known->second;
    if (ids_.size() >= most_ || bytes_ + json.size() > kMaxTextBytes) return 0;
    const std::uint64_t id = ids_.size() + 1;
    ids_.emplace(std::string(json), id);
    bytes_ += json.size();
    put(data, field_, interned_text(id, parse_json_text(json)));
    return id;
  }

 private:
  std::uint32_t field_;
  std::size_t most_;
  std::size_t bytes_ = 0;
  TextMap<std::uint64_t> ids_;
};

// Writes packets to a file, compressed in blocks.
class PacketFile {
 public:
  explicit PacketFile(AtomicFile& file) : file_(file) {}

  void add(std::string_view packet) {
    put(block_, 1, packet);
    if (block_.size() >= kBlockBytes) flush();
  }
  void flush() {
    if (block_.empty()) return;
    uLongf size = compressBound(static_cast<uLong>(block_.size()));
    std::string compressed(size, '\0');
    if (compress2(reinterpret_cast<Bytef*>(compressed.data()), &size,
                  reinterpret_cast<const Bytef*>(block_.data()), static_cast<uLong>(block_.size()),
                  kBlockLevel) != Z_OK) {
      throw Error(Exit::internal_error, "zlib cannot compress");
    }
    compressed.resize(size);
    std::string packet;
    put(packet, packet::kCompressedPackets, compressed);
    put(file_.buffer(), 1, packet);
    file_.drain();
    block_.clear();
  }

 private:
  AtomicFile& file_;
  std::string block_;
};

// A packet sequence: one track with its own clock and interned texts.
class Sequence {
 public:
  Sequence(PacketFile& out, std::uint64_t number, std::uint64_t track)
      : out_(out),
        number_(number),
        track_(track),
        names_(interned::kEventName, kMaxNames),
        keys_(interned::kAnnotationName, kMaxTexts),
        texts_(interned::kAnnotationText, kMaxTexts) {}

  std::uint64_t track() const { return track_; }
  std::int64_t clock_ns() const { return is_begun_ ? clock_ns_ : INT64_MIN; }

  void append_name(std::string& event, std::string_view json) {
    if (const std::uint64_t id = names_.id(json, data_); id != 0) {
      put(event, event::kNameId, id);
    } else {
      put(event, event::kName, parse_json_text(json));
    }
  }

  void append_annotations(std::string& event, std::string_view arguments) {
    JsonMembers members(arguments);
    while (members.next()) {
      std::string one;
      if (const std::uint64_t id = keys_.id(members.key(), data_); id != 0) {
        put(one, annotation::kNameId, id);
      } else {
        put(one, annotation::kName, parse_json_text(quoted(members.key())));
      }
      append_value(one, members.value());
      put(event, event::kAnnotation, one);
    }
  }

  // Writes a packet with a TrackEvent and the texts it interns.
  void write(std::int64_t time_ns, std::string_view event) {
    if (!is_begun_) begin();
    std::string packet;
    if (time_ns >= clock_ns_) {
      put(packet, packet::kTimestamp,
          static_cast<std::uint64_t>(time_ns) - static_cast<std::uint64_t>(clock_ns_));
      clock_ns_ = time_ns;
    } else {
      put(packet, packet::kTimestamp, static_cast<std::uint64_t>(time_ns));
      put(packet, packet::kTimestampClock, kBootClock);
    }
    put(packet, packet::kSequence, number_);
    put(packet, packet::kSequenceFlags, kNeedsState);
    if (!data_.empty()) put(packet, packet::kInternedData, data_);
    put(packet, packet::kTrackEvent, event);
    out_.add(packet);
    data_.clear();
  }

 private:
  static std::string quoted(std::string_view key) { return "\"" + std::string(key) + "\""; }

  // Clears the state of the sequence, and sets its track and its clock, which starts at 0.
  void begin() {
    std::string packet;
    std::string clocks;
    std::string clock;
    put(clock, 1, kBootClock);
    put(clock, 2, std::uint64_t{0});
    put(clocks, 1, clock);
    clock.clear();
    put(clock, 1, kDeltaClock);
    put(clock, 2, std::uint64_t{0});
    put(clock, 3, std::uint64_t{1});  // is_incremental
    put(clocks, 1, clock);
    put(packet, packet::kClockSnapshot, clocks);
    put(packet, packet::kSequence, number_);
    put(packet, packet::kSequenceFlags, kStateCleared);
    std::string event_defaults;
    put(event_defaults, event::kTrack, track_);
    std::string defaults;
    put(defaults, packet::kTrackEvent, event_defaults);
    put(defaults, packet::kTimestampClock, kDeltaClock);
    put(packet, packet::kDefaults, defaults);
    out_.add(packet);
    is_begun_ = true;
  }

  void append_value(std::string& out, std::string_view json) {
    if (json.starts_with('"')) {
      if (const std::uint64_t id = texts_.id(json, data_); id != 0) {
        put(out, annotation::kTextId, id);
      } else {
        put(out, annotation::kText, parse_json_text(json));
      }
      return;
    }
    const char* const end = json.data() + json.size();
    std::int64_t integer = 0;
    if (const auto [at, error] = std::from_chars(json.data(), end, integer);
        error == std::errc() && at == end) {
      put(out, annotation::kInteger, static_cast<std::uint64_t>(integer));
      return;
    }
    double real = 0;
    if (const auto [at, error] = std::from_chars(json.data(), end, real);
        error == std::errc() && at == end) {
      put_real(out, annotation::kReal, real);
    } else if (json == "true" || json == "false") {
      put(out, annotation::kBool, std::uint64_t{json == "true"});
    } else {
      put(out, annotation::kJson, json);
    }
  }

  PacketFile& out_;
  std::uint64_t number_;
  std::uint64_t track_;
  bool is_begun_ = false;
  std::int64_t clock_ns_ = 0;
  InternedTexts names_;
  InternedTexts keys_;
  InternedTexts texts_;
  std::string data_;  // InternedData of the next packet
};

// Nested slices on one track. The last one started is held back until the arrows that follow it are
// attached.
class SliceRow {
 public:
  explicit SliceRow(Sequence sequence) : sequence_(std::move(sequence)) {}

  Sequence& sequence() { return sequence_; }
  std::uint64_t track() const { return sequence_.track(); }

  bool takes(std::int64_t begin_ns, std::int64_t end_ns) const {
    if (begin_ns < last_begin_ns()) return false;
    const auto around = std::find_if(open_.rbegin(), open_.rend(),
                                     [&](std::int64_t end) { return end > begin_ns; });
    return around == open_.rend() || end_ns <= *around;
  }

  // Returns the part of a slice that fits on this row; used if takes() is false for every row.
  std::pair<std::int64_t, std::int64_t> clipped(std::int64_t begin_ns, std::int64_t end_ns) const {
    begin_ns = std::max(begin_ns, last_begin_ns());
    const auto around = std::find_if(open_.rbegin(), open_.rend(),
                                     [&](std::int64_t end) { return end > begin_ns; });
    if (around != open_.rend()) end_ns = std::min(end_ns, *around);
    return {begin_ns, std::max(begin_ns, end_ns)};
  }

  void begin(const TraceEvent& slice, std::int64_t begin_ns, std::int64_t end_ns) {
    close_until(begin_ns);
    std::string text;
    put(text, event::kType, kBegin);
    sequence_.append_name(text, slice.name);
    if (!slice.category.empty()) put(text, event::kCategory, parse_json_text(slice.category));
    sequence_.append_annotations(text, slice.arguments);
    pending_ = Pending{begin_ns, end_ns, std::move(text)};
    open_.push_back(end_ns);
  }

  // Returns false if no slice of this row can have this end of an arrow.
  bool attach(std::int64_t time_ns, bool is_last, std::uint64_t arrow) {
    if (!pending_ || time_ns < pending_->begin_ns || time_ns > pending_->end_ns) return false;
    put(pending_->event, is_last ? event::kLastFlow : event::kFlow, arrow);
    return true;
  }

  void close() { close_until(INT64_MAX); }

 private:
  struct Pending {
    std::int64_t begin_ns;
    std::int64_t end_ns;
    std::string event;
  };

  std::int64_t last_begin_ns() const {
    return std::max(sequence_.clock_ns(), pending_ ? pending_->begin_ns : INT64_MIN);
  }

  void write_pending() {
    if (!pending_) return;
    sequence_.write(pending_->begin_ns, pending_->event);
    pending_.reset();
  }

  void close_until(std::int64_t time_ns) {
    write_pending();
    std::string end;
    put(end, event::kType, kEnd);
    while (!open_.empty() && open_.back() <= time_ns) {
      sequence_.write(open_.back(), end);
      open_.pop_back();
    }
  }

  Sequence sequence_;
  std::vector<std::int64_t> open_;  // ends of the open slices
  std::optional<Pending> pending_;
};

class PerfettoSink : public TraceEventSink {
 public:
  explicit PerfettoSink(AtomicFile& file) : out_(file) {}

 private:
  struct Process {
    std::uint64_t track = 0;
    std::string name;
    std::string labels;
    std::int64_t sort_index = 0;
  };
  struct Thread {
    std::string name;
    std::int64_t sort_index = 0;
    std::vector<SliceRow> rows;
  };
  using Lane = std::pair<std::int64_t, std::int64_t>;

  void take(const TraceEvent& event) override {
    switch (event.phase) {
      case 'X':
        return take_slice(event);
      case 'C':
        return take_counter(event);
      case 'M':
        return take_metadata(event);
      case 's':
      case 't':
      case 'f':
        return take_arrow(event);
      default:
        return;
    }
  }

  void end() override {
    for (auto& [lane, thread] : threads_) {
      for (SliceRow& row : thread.rows) row.close();
    }
    write_descriptors();
    out_.flush();
    if (clipped_ > 0)
      log::warn("{} slices overlap more than {} others on their track and are cut",
                with_thousands(clipped_), kMaxRows);
  }

  Sequence next_sequence() {
    const std::uint64_t number = ++last_sequence_;
    return Sequence(out_, number, ++tracks_);
  }

  Process& process(std::int64_t pid) {
    Process& process = processes_[pid];
    if (process.track == 0) process.track = ++tracks_;
    return process;
  }

  Thread& thread(const TraceEvent& event) {
    process(event.lane.pid);
    return threads_[{event.lane.pid, event.lane.tid}];
  }

  void take_slice(const TraceEvent& slice) {
    auto& rows = thread(slice).rows;
    const std::int64_t begin = slice.start_ns;
    const std::int64_t end = std::max(slice.end_ns(), begin);
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const SliceRow& one) { return one.takes(begin, end); });
    if (row == rows.end() && rows.size() < kMaxRows) {
      rows.emplace_back(next_sequence());
      row = rows.end() - 1;
    }
    if (row != rows.end()) return row->begin(slice, begin, end);
    const auto [from, to] = rows.back().clipped(begin, end);
    rows.back().begin(slice, from, to);
    ++clipped_;
  }

  // Attaches an end of an arrow to the last slice on its thread; an end outside any slice becomes
  // an instant event.
  void take_arrow(const TraceEvent& event) {
    const std::uint64_t arrow = arrow_id(event);
    const bool is_last = event.phase == 'f';
    auto& rows = thread(event).rows;
    for (SliceRow& row : rows) {
      if (row.attach(event.start_ns, is_last, arrow)) return;
    }
    if (rows.empty()) rows.emplace_back(next_sequence());
    Sequence& sequence = rows.front().sequence();
    std::string text;
    put(text, event::kType, kInstant);
    sequence.append_name(text, event.name);
    sequence.append_annotations(text, event.arguments);
    put(text, is_last ? event::kLastFlow : event::kFlow, arrow);
    sequence.write(event.start_ns, text);
  }

  // Keeps varints short for small ids and for ids whose low 32 bits are zero (calls).
  std::uint64_t arrow_id(const TraceEvent& event) {
    const std::uint64_t category =
        arrow_kinds_.try_emplace(std::string(event.category), arrow_kinds_.size()).first->second;
    const std::string_view digits =
        event.id.size() > 2 ? event.id.substr(1, event.id.size() - 2) : std::string_view();
    std::uint64_t number = 0;
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, number);
    const bool is_number = !digits.empty() && read.ec == std::errc() && read.ptr == end;
    const bool is_upper = (number & 0xffffffff) == 0;
    if (is_upper) number >>= 32;
    if (!is_number || category >= 8 || number >= std::uint64_t{1} << 48) {
      std::uint64_t hash = 14695981039346656037u;
      for (const std::string_view part : {event.category, event.name, event.id}) {
        for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
      }
      return hash | std::uint64_t{1} << 63;
    }
    return (number << 5 | category << 2 | (is_upper ? 2u : 0u)) + 1;
  }

  // A JSON counter becomes one track for each of its values: "<name> <key>".
  void take_counter(const TraceEvent& event) {
    process(event.lane.pid);
    JsonMembers members(event.arguments);
    while (members.next()) {
      const std::string value = parse_json_text(members.value());  // some numbers are strings
      const char* const end = value.data() + value.size();
      std::string text;
      put(text, event::kType, kCounter);
      std::int64_t integer = 0;
      double real = 0;
      if (const auto read = std::from_chars(value.data(), end, integer);
          read.ec == std::errc() && read.ptr == end) {
        put(text, event::kCounterValue, static_cast<std::uint64_t>(integer));
      } else if (std::from_chars(value.data(), end, real).ec == std::errc()) {
        put_real(text, event::kCounterReal, real);
      } else {
        continue;  // null: the capture has no value
      }
      counter(event, members.key()).write(event.start_ns, text);
    }
  }

  // Describes a counter track before its first sample. Other tracks are described at the end, when
  // their names are known.
  Sequence& counter(const TraceEvent& event, std::string_view key) {
    std::string name = parse_json_text(event.name) + ' ' + parse_json_text(key);
    const std::pair place(event.lane.pid, std::move(name));
    const auto known = counters_.find(place);
    if (known != counters_.end()) return known->second;
    Sequence& sequence = counters_.emplace(place, next_sequence()).first->second;
    std::string descriptor = child(event.lane.pid, sequence.track(), place.second);
    put(descriptor, track::kCounter, std::string_view());
    write_track(descriptor);
    return sequence;
  }

  void take_metadata(const TraceEvent& event) {
    JsonMembers members(event.arguments);
    if (!members.next()) return;
    const std::string kind = parse_json_text(event.name);
    const std::string value = parse_json_text(members.value());
    if (kind == "process_name") {
      process(event.lane.pid).name = value;
    } else if (kind == "process_labels") {
      process(event.lane.pid).labels = value;
    } else if (kind == "process_sort_index") {
      parse_number(value, process(event.lane.pid).sort_index);
    } else if (kind == "thread_name") {
      thread(event).name = value;
    } else if (kind == "thread_sort_index") {
      parse_number(value, thread(event).sort_index);
    }
  }

  static void parse_number(const std::string& text, std::int64_t& number) {
    std::from_chars(text.data(), text.data() + text.size(), number);
  }

  void write_track(std::string_view descriptor) {
    std::string packet;
    put(packet, packet::kTrackDescriptor, descriptor);
    put(packet, packet::kSequence, kDescriptorSequence);
    out_.add(packet);
  }

  void write_descriptors() {
    std::int64_t made_up = kMaxPid;
    for (const auto& [pid, process] : processes_) {
      // 0 is the idle process, and Perfetto does not accept larger ids.
      const bool is_pid = pid > 0 && pid <= kMaxPid;
      std::string about;
      put(about, process::kPid, static_cast<std::uint64_t>(is_pid ? pid : ++made_up));
      put(about, process::kSortIndex, static_cast<std::uint64_t>(process.sort_index));
      put(about, process::kName, process.name);
      if (!process.labels.empty()) put(about, process::kLabels, process.labels);
      std::string descriptor;
      put(descriptor, track::kUuid, process.track);
      put(descriptor, track::kProcess, about);
      put(descriptor, track::kChildOrdering, kExplicitOrder);
      write_track(descriptor);
    }
    std::uint64_t rank = 0;
    for (const auto& [place, lane] : sorted_lanes()) {
      const Thread& thread = threads_[lane];
      const std::string name =
          thread.name.empty() ? "Thread " + std::to_string(lane.second) : thread.name;
      for (const SliceRow& row : thread.rows) {
        std::string descriptor = child(lane.first, row.track(), name);
        put(descriptor, track::kRank, rank++);
        write_track(descriptor);
      }
    }
  }

  std::map<std::pair<std::int64_t, Lane>, Lane> sorted_lanes() const {
    std::map<std::pair<std::int64_t, Lane>, Lane> sorted;
    for (const auto& [lane, thread] : threads_) sorted[{thread.sort_index, lane}] = lane;
    return sorted;
  }

  std::string child(std::int64_t pid, std::uint64_t track, std::string_view name) {
    std::string descriptor;
    put(descriptor, track::kUuid, track);
    put(descriptor, track::kName, name);
    put(descriptor, track::kParent, processes_[pid].track);
    return descriptor;
  }

  PacketFile out_;
  std::uint64_t last_sequence_ = kDescriptorSequence;
  std::uint64_t tracks_ = 0;
  std::uint64_t clipped_ = 0;
  std::map<std::int64_t, Process> processes_;
  std::map<Lane, Thread> threads_;
  std::map<std::pair<std::int64_t, std::string>, Sequence> counters_;
  std::map<std::string, std::uint64_t, std::less<>> arrow_kinds_;
};

}  // namespace

std::unique_ptr<TraceSink> make_perfetto_sink(AtomicFile& file) {
  return std::make_unique<PerfettoSink>(file);
}

}  // namespace msprof
