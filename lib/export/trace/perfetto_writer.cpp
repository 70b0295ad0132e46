#include "export/trace/perfetto_writer.hpp"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
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
constexpr std::uint32_t kNameId = 1, kInteger = 4, kReal = 5, kText = 6, kJson = 9, kName = 10,
                        kTextId = 17;
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

// Interned texts of one kind in a packet sequence.
class InternedTexts {
 public:
  InternedTexts(std::uint32_t field, std::size_t most) : field_(field), most_(most) {}

  // Returns the id of a text and appends a new one to `data`, an InternedData. Returns 0 if there
  // are too many texts.
  std::uint64_t id(std::string_view text, std::string& data) {
    const auto known = ids_.find(text);
    if (known != ids_.end()) return known->second;
    if (ids_.size() >= most_ || bytes_ + text.size() > kMaxTextBytes) return 0;
    const std::uint64_t id = ids_.size() + 1;
    ids_.emplace(std::string(text), id);
    bytes_ += text.size();
    put(data, field_, interned_text(id, valid_utf8(text)));
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

// A number in the field that fits; empty if the value is none.
struct Number {
  std::optional<std::int64_t> integer;
  std::optional<double> real;
};

Number to_number(const TraceValue& value) {
  using Kind = TraceValue::Kind;
  if (value.kind == Kind::integer) return {value.integer, {}};
  if (value.kind == Kind::real && std::isfinite(value.real)) return {{}, value.real};
  if (value.kind == Kind::duration) return {{}, static_cast<double>(value.integer) / 1000};
  if (value.kind != Kind::decimal && value.kind != Kind::text) return {};
  const std::string_view digits = value.text.view();
  const char* const end = digits.data() + digits.size();
  std::int64_t integer = 0;
  if (const auto read = std::from_chars(digits.data(), end, integer);
      read.ec == std::errc() && read.ptr == end)
    return {integer, {}};
  double real = 0;
  if (const auto read = std::from_chars(digits.data(), end, real);
      read.ec == std::errc() && read.ptr == end)
    return {{}, real};
  return {};
}

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

  void append_name(std::string& event, std::string_view text) {
    if (const std::uint64_t id = names_.id(text, data_); id != 0) {
      put(event, event::kNameId, id);
    } else {
      put(event, event::kName, valid_utf8(text));
    }
  }

  void append_annotation(std::string& event, std::string_view key, const TraceValue& value) {
    std::string one;
    if (const std::uint64_t id = keys_.id(key, data_); id != 0) {
      put(one, annotation::kNameId, id);
    } else {
      put(one, annotation::kName, valid_utf8(key));
    }
    append_value(one, value);
    put(event, event::kAnnotation, one);
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

  void append_value(std::string& out, const TraceValue& value) {
    using Kind = TraceValue::Kind;
    switch (value.kind) {
      case Kind::text:
        return append_text(out, value.text.view());
      case Kind::time:
        return append_text(out, us_from_ns(value.integer));
      case Kind::integer:
        return put(out, annotation::kInteger, static_cast<std::uint64_t>(value.integer));
      case Kind::real:
        if (std::isfinite(value.real)) return put_real(out, annotation::kReal, value.real);
        return put(out, annotation::kJson, "null");
      default:
        break;
    }
    const Number number = to_number(value);
    if (number.integer) {
      put(out, annotation::kInteger, static_cast<std::uint64_t>(*number.integer));
    } else if (number.real) {
      put_real(out, annotation::kReal, *number.real);
    } else {
      append_text(out, value.text.view());
    }
  }

  void append_text(std::string& out, std::string_view text) {
    if (const std::uint64_t id = texts_.id(text, data_); id != 0) {
      put(out, annotation::kTextId, id);
    } else {
      put(out, annotation::kText, valid_utf8(text));
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
    sequence_.append_name(text, slice.name.view());
    if (!slice.category.view().empty())
      put(text, event::kCategory, valid_utf8(slice.category.view()));
    pending_ = Pending{begin_ns, end_ns, std::move(text)};
    open_.push_back(end_ns);
  }

  // Adds an argument to the last slice.
  void annotate(std::string_view key, const TraceValue& value) {
    sequence_.append_annotation(pending_->event, key, value);
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

class PerfettoWriter : public TraceWriter {
 public:
  explicit PerfettoWriter(AtomicFile& file) : out_(file) {}

  void finish() override {
    for (auto& [lane, thread] : threads_) {
      for (SliceRow& row : thread.rows) row.close();
    }
    write_descriptors();
    out_.flush();
    if (clipped_ > 0)
      log::warn("{} slices overlap more than {} others on their track and are cut",
                with_thousands(clipped_), kMaxRows);
  }

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
  // An end of an arrow outside any slice.
  struct Instant {
    Sequence* sequence = nullptr;
    std::string event;
    std::int64_t time_ns = 0;
    bool is_last = false;
    std::uint64_t arrow = 0;
  };
  struct Counter {
    std::int64_t pid = 0;
    std::string name;
    std::int64_t time_ns = 0;
  };

  void begin(const TraceEvent& event) override {
    using Kind = TraceEvent::Kind;
    switch (event.kind) {
      case Kind::slice:
        return begin_slice(event);
      case Kind::counter:
        process(event.lane.pid);
        counter_ = {event.lane.pid, valid_utf8(event.name.view()) + ' ', event.start_ns};
        return;
      case Kind::arrow:
        return begin_arrow(event);
      case Kind::process_name:
        process(event.lane.pid).name = valid_utf8(event.name.view());
        return;
      case Kind::process_label:
        process(event.lane.pid).labels = valid_utf8(event.name.view());
        return;
      case Kind::process_sort_index:
        process(event.lane.pid).sort_index = event.sort_index;
        return;
      case Kind::thread_name:
        thread(event.lane).name = valid_utf8(event.name.view());
        return;
      case Kind::thread_sort_index:
        thread(event.lane).sort_index = event.sort_index;
    }
  }

  void add(TraceText key, const TraceValue& value) override {
    if (counter_) {
      add_sample(key.view(), value);
    } else if (instant_) {
      instant_->sequence->append_annotation(instant_->event, key.view(), value);
    } else if (slice_ != nullptr) {
      slice_->annotate(key.view(), value);
    }
  }

  void end() override {
    if (instant_) {
      put(instant_->event, instant_->is_last ? event::kLastFlow : event::kFlow, instant_->arrow);
      instant_->sequence->write(instant_->time_ns, instant_->event);
    }
    slice_ = nullptr;
    instant_.reset();
    counter_.reset();
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

  Thread& thread(TraceLane lane) {
    process(lane.pid);
    return threads_[{lane.pid, lane.tid}];
  }

  void begin_slice(const TraceEvent& slice) {
    auto& rows = thread(slice.lane).rows;
    const std::int64_t begin = slice.start_ns;
    const std::int64_t end = std::max(slice.end_ns(), begin);
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const SliceRow& one) { return one.takes(begin, end); });
    if (row == rows.end() && rows.size() < kMaxRows) {
      rows.emplace_back(next_sequence());
      row = rows.end() - 1;
    }
    if (row != rows.end()) {
      slice_ = &*row;
      return slice_->begin(slice, begin, end);
    }
    slice_ = &rows.back();
    const auto [from, to] = slice_->clipped(begin, end);
    slice_->begin(slice, from, to);
    ++clipped_;
  }

  // Attaches an end of an arrow to the last slice on its thread; an end outside any slice becomes
  // an instant event.
  void begin_arrow(const TraceEvent& event) {
    const std::uint64_t arrow = arrow_id(event);
    const bool is_last = event.phase == 'f';
    auto& rows = thread(event.lane).rows;
    for (SliceRow& row : rows) {
      if (row.attach(event.start_ns, is_last, arrow)) return;
    }
    if (rows.empty()) rows.emplace_back(next_sequence());
    Sequence& sequence = rows.front().sequence();
    instant_ = Instant{&sequence, {}, event.start_ns, is_last, arrow};
    put(instant_->event, event::kType, kInstant);
    sequence.append_name(instant_->event, event.name.view());
  }

  // Keeps varints short for small ids and for ids whose low 32 bits are zero (calls).
  std::uint64_t arrow_id(const TraceEvent& event) {
    const std::uint64_t category =
        arrow_kinds_.try_emplace(std::string(event.category.view()), arrow_kinds_.size())
            .first->second;
    std::uint64_t number = event.arrow;
    const bool is_upper = (number & 0xffffffff) == 0;
    if (is_upper) number >>= 32;
    const std::string text(event.arrow_text.view());
    if (!text.empty() || category >= 8 || number >= std::uint64_t{1} << 48) {
      std::uint64_t hash = 14695981039346656037u;
      const std::string id = text.empty() ? std::to_string(event.arrow) : text;
      for (const std::string_view part :
           {event.category.view(), event.name.view(), std::string_view(id)}) {
        for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
      }
      return hash | std::uint64_t{1} << 63;
    }
    return (number << 5 | category << 2 | (is_upper ? 2u : 0u)) + 1;
  }

  // A counter has one track for each of its values: "<name> <key>".
  void add_sample(std::string_view key, const TraceValue& value) {
    std::string text;
    put(text, event::kType, kCounter);
    const Number number = to_number(value);
    if (number.integer) {
      put(text, event::kCounterValue, static_cast<std::uint64_t>(*number.integer));
    } else if (number.real) {
      put_real(text, event::kCounterReal, *number.real);
    } else {
      return;  // the capture has no value
    }
    track_of(counter_->pid, counter_->name + valid_utf8(key)).write(counter_->time_ns, text);
  }

  // Describes a counter track before its first sample. Other tracks are described at the end, when
  // their names are known.
  Sequence& track_of(std::int64_t pid, std::string name) {
    const std::pair place(pid, std::move(name));
    const auto known = counters_.find(place);
    if (known != counters_.end()) return known->second;
    Sequence& sequence = counters_.emplace(place, next_sequence()).first->second;
    std::string descriptor = child(pid, sequence.track(), place.second);
    put(descriptor, track::kCounter, std::string_view());
    write_track(descriptor);
    return sequence;
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
      // Pid 0 is the idle process; Perfetto rejects pids above kMaxPid.
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
  // The event that was begun; all are empty for metadata and for arrows attached to a slice.
  SliceRow* slice_ = nullptr;
  std::optional<Instant> instant_;
  std::optional<Counter> counter_;
  std::uint64_t last_sequence_ = kDescriptorSequence;
  std::uint64_t tracks_ = 0;
  std::uint64_t clipped_ = 0;
  std::map<std::int64_t, Process> processes_;
  std::map<Lane, Thread> threads_;
  std::map<std::pair<std::int64_t, std::string>, Sequence> counters_;
  std::map<std::string, std::uint64_t, std::less<>> arrow_kinds_;
};

}  // namespace

std::unique_ptr<TraceWriter> make_perfetto_writer(AtomicFile& file) {
  return std::make_unique<PerfettoWriter>(file);
}

}  // namespace msprof
