#include "export/trace/perfetto_writer.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/text.hpp"
#include "export/trace/perfetto_sequence.hpp"

namespace msprof {

namespace perfetto {

namespace {

constexpr std::uint64_t kExplicitOrder = 3;
constexpr std::uint64_t kDescriptorSequence = 1;
constexpr std::size_t kMaxRows = 256;            // per thread; more overlaps mean damaged records
constexpr std::int64_t kMaxPid = (1 << 22) - 1;  // largest process id on Linux

// Ends of the slices that are open at a time, the outermost first.
using OpenSlices = std::vector<std::int64_t>;

// Returns the end of the innermost slice that is open at a time; INT64_MAX if there is none.
std::int64_t end_around(const OpenSlices& open, std::int64_t time_ns) {
  const auto around = std::find_if(open.rbegin(), open.rend(),
                                   [&](std::int64_t end_ns) { return end_ns > time_ns; });
  return around == open.rend() ? INT64_MAX : *around;
}

// The slices of a chunk on one track.
struct RowOfChunk {
  std::uint64_t sequence = 0;
  std::uint64_t slices = 0;
  std::int64_t last_begin_ns = INT64_MIN;
  OpenSlices open;  // at last_begin_ns
  // Begin and end of the slices that are in no other one of this chunk; the first kMaxOutermost.
  std::vector<std::pair<std::int64_t, std::int64_t>> outermost;

  static constexpr std::size_t kMaxOutermost = 1 << 17;
  bool has_all() const { return outermost.size() < kMaxOutermost; }
};

// Nested slices on one track. The last one started is held back until the arrows that follow it are
// attached.
class SliceRow {
 public:
  explicit SliceRow(Sequence sequence) : sequence_(std::move(sequence)) {
    row_.sequence = sequence_.number();
  }

  Sequence& sequence() { return sequence_; }

  bool takes(std::int64_t begin_ns, std::int64_t end_ns) const {
    return begin_ns >= last_begin_ns() && end_ns <= end_around(open_, begin_ns);
  }

  // Returns the part of a slice that fits on this row; used if takes() is false for every row.
  std::pair<std::int64_t, std::int64_t> clipped(std::int64_t begin_ns, std::int64_t end_ns) const {
    begin_ns = std::max(begin_ns, last_begin_ns());
    return {begin_ns, std::max(begin_ns, std::min(end_ns, end_around(open_, begin_ns)))};
  }

  void begin(const TraceEvent& slice, std::int64_t begin_ns, std::int64_t end_ns) {
    close_until(begin_ns);
    put(event_, event::kType, kBegin);
    sequence_.append_name(event_, slice.name.view());
    if (!slice.category.empty()) put(event_, event::kCategory, valid_utf8(slice.category.view()));
    if (open_.empty() && row_.has_all()) row_.outermost.emplace_back(begin_ns, end_ns);
    open_.push_back(end_ns);
    row_.last_begin_ns = begin_ns;
    ++row_.slices;
  }

  // Append arguments to the last slice.
  template <typename Arguments>
  void annotate(const Arguments& arguments) {
    sequence_.append_arguments(event_, arguments);
  }

  // Returns false if no slice of this row can have this end of an arrow.
  bool attach(std::int64_t time_ns, bool is_last, std::uint64_t arrow) {
    if (event_.empty() || time_ns < row_.last_begin_ns || time_ns > open_.back()) return false;
    put(event_, is_last ? event::kLastFlow : event::kFlow, arrow);
    return true;
  }

  RowOfChunk close() {
    row_.open = open_;
    close_until(INT64_MAX);
    return std::move(row_);
  }

 private:
  std::int64_t last_begin_ns() const { return std::max(sequence_.clock_ns(), row_.last_begin_ns); }

  void close_until(std::int64_t time_ns) {
    if (!event_.empty()) sequence_.write(row_.last_begin_ns, event_);
    event_.clear();
    for (; !open_.empty() && open_.back() <= time_ns; open_.pop_back()) {
      put(event_, event::kType, kEnd);
      sequence_.write(open_.back(), event_);
      event_.clear();
    }
  }

  Sequence sequence_;
  RowOfChunk row_;
  OpenSlices open_;
  std::string event_;  // fields of the slice at last_begin_ns, until it is written
};

using Lane = std::pair<std::int64_t, std::int64_t>;
using CounterKey = std::pair<std::int64_t, std::string>;  // pid, name

struct ProcessNames {
  std::optional<std::string> name;
  std::optional<std::string> labels;
  std::optional<std::int64_t> sort_index;
};

struct ThreadOfChunk {
  std::optional<std::string> name;
  std::optional<std::int64_t> sort_index;
  std::vector<RowOfChunk> rows;
};

// The packets of a chunk, and the names and sequences in them.
struct Chunk {
  PacketBlocks packets;
  std::map<std::int64_t, ProcessNames> processes;
  std::map<Lane, ThreadOfChunk> threads;
  std::map<CounterKey, std::uint64_t> counters;  // their sequences
  std::uint64_t clipped = 0;
};

class ChunkWriter : public TraceWriter {
 public:
  using Take = std::function<void(Chunk)>;
  explicit ChunkWriter(Take take) : take_(std::move(take)) {}

  void arguments(const SharedArguments& shared) override {
    if (slice_ == nullptr) return TraceWriter::arguments(shared);
    slice_->annotate(shared);
  }

  void finish() override {
    for (auto& [lane, rows] : rows_) {
      for (SliceRow& row : rows) chunk_.threads[lane].rows.push_back(row.close());
    }
    for (const auto& [key, sequence] : counters_) chunk_.counters[key] = sequence.number();
    chunk_.packets.flush();
    take_(std::move(chunk_));
  }

 private:
  using Rows = std::vector<SliceRow>;
  // An end of an arrow outside any slice.
  struct Instant {
    Sequence* sequence = nullptr;
    std::string event;
    std::int64_t time_ns = 0;
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
        chunk_.processes[event.lane.pid];
        counter_ = {event.lane.pid, valid_utf8(event.name.view()) + ' ', event.start_ns};
        return;
      case Kind::arrow:
        return begin_arrow(event);
      case Kind::process_name:
        chunk_.processes[event.lane.pid].name = valid_utf8(event.name.view());
        return;
      case Kind::process_label:
        chunk_.processes[event.lane.pid].labels = valid_utf8(event.name.view());
        return;
      case Kind::process_sort_index:
        chunk_.processes[event.lane.pid].sort_index = event.sort_index;
        return;
      case Kind::thread_name:
        thread(event.lane).name = valid_utf8(event.name.view());
        return;
      case Kind::thread_sort_index:
        thread(event.lane).sort_index = event.sort_index;
    }
  }

  void add(std::span<const TraceArgument> arguments) override {
    if (slice_ != nullptr) return slice_->annotate(arguments);
    if (instant_) return instant_->sequence->append_arguments(instant_->event, arguments);
    if (!counter_) return;
    for (const TraceArgument& one : arguments) add_sample(one.key.view(), one.value);
  }

  void end() override {
    if (instant_) instant_->sequence->write(instant_->time_ns, instant_->event);
    slice_ = nullptr;
    instant_.reset();
    counter_.reset();
  }

  Sequence next_sequence() { return Sequence(chunk_.packets, ++last_sequence_); }

  ThreadOfChunk& thread(TraceLane lane) {
    chunk_.processes[lane.pid];
    return chunk_.threads[{lane.pid, lane.tid}];
  }

  Rows& find_rows(TraceLane lane) {
    const auto pid = static_cast<std::uint64_t>(lane.pid);
    auto*& near = near_[(pid * 31 + static_cast<std::uint64_t>(lane.tid)) % kNear];
    if (near == nullptr || near->first != Lane(lane.pid, lane.tid)) {
      thread(lane);
      near = &*rows_.try_emplace({lane.pid, lane.tid}).first;
    }
    return near->second;
  }

  void begin_slice(const TraceEvent& slice) {
    Rows& rows = find_rows(slice.lane);
    std::int64_t begin = slice.start_ns;
    std::int64_t end = std::max(slice.end_ns(), begin);
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const SliceRow& one) { return one.takes(begin, end); });
    if (row == rows.end() && rows.size() < kMaxRows) {
      rows.emplace_back(next_sequence());
      row = rows.end() - 1;
    }
    if (row == rows.end()) {
      --row;
      std::tie(begin, end) = row->clipped(begin, end);
      ++chunk_.clipped;
    }
    slice_ = &*row;
    slice_->begin(slice, begin, end);
  }

  // Attaches an end of an arrow to the last slice on its thread; an end outside any slice becomes
  // an instant event.
  void begin_arrow(const TraceEvent& event) {
    const std::uint64_t arrow = arrow_id(event);
    const bool is_last = event.phase == 'f';
    Rows& rows = find_rows(event.lane);
    for (SliceRow& row : rows) {
      if (row.attach(event.start_ns, is_last, arrow)) return;
    }
    if (rows.empty()) rows.emplace_back(next_sequence());
    Sequence& sequence = rows.front().sequence();
    instant_ = Instant{&sequence, {}, event.start_ns};
    put(instant_->event, event::kType, kInstant);
    sequence.append_name(instant_->event, event.name.view());
    put(instant_->event, is_last ? event::kLastFlow : event::kFlow, arrow);
  }

  // Keeps varints short for most arrows: those from calls, which are multiples of 2^32.
  static std::uint64_t arrow_id(const TraceEvent& event) {
    const bool has_text = !event.arrow_text.empty();
    if (!has_text && event.category.view() == "HostToDevice" && (event.arrow & 0xffffffff) == 0)
      return (event.arrow >> 32) + 1;
    std::uint64_t hash = 14695981039346656037u;
    const std::string id =
        has_text ? std::string(event.arrow_text.view()) : std::to_string(event.arrow);
    for (const std::string_view part :
         {event.category.view(), event.name.view(), std::string_view(id)}) {
      for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    }
    return hash | std::uint64_t{1} << 63;
  }

  // A counter has one track for each of its values: "<name> <key>".
  void add_sample(std::string_view key, const TraceValue& value) {
    std::string event;
    put(event, event::kType, kCounter);
    const Number number = to_number(value);
    if (number.integer) {
      put(event, event::kCounterValue, static_cast<std::uint64_t>(*number.integer));
    } else if (number.real) {
      put_real(event, event::kCounterReal, *number.real);
    } else {
      return;  // the capture has no value
    }
    CounterKey track(counter_->pid, counter_->name + valid_utf8(key));
    auto known = counters_.find(track);
    if (known == counters_.end())
      known = counters_.emplace(std::move(track), next_sequence()).first;
    known->second.write(counter_->time_ns, event);
  }

  Take take_;
  Chunk chunk_;
  std::map<Lane, Rows> rows_;
  std::map<CounterKey, Sequence> counters_;
  static constexpr std::size_t kNear = 64;
  std::array<std::map<Lane, Rows>::value_type*, kNear> near_{};
  std::uint64_t last_sequence_ = kDescriptorSequence;
  // The event that was begun; all are empty for metadata and for arrows attached to a slice.
  SliceRow* slice_ = nullptr;
  std::optional<Instant> instant_;
  std::optional<Counter> counter_;
};

// The track of nested slices of a thread, after some chunks.
struct Row {
  std::uint64_t track = 0;
  std::int64_t last_begin_ns = INT64_MIN;
  OpenSlices open;

  bool takes(const RowOfChunk& next) const {
    if (next.slices == 0) return true;
    if (next.outermost.front().first < last_begin_ns) return false;
    for (const auto& [begin_ns, end_ns] : next.outermost) {
      if (open.empty() || begin_ns >= open.front()) return true;
      if (end_ns > end_around(open, begin_ns)) return false;
    }
    return next.has_all();
  }

  void add(const RowOfChunk& next) {
    if (next.slices == 0) return;
    std::erase_if(open, [&](std::int64_t end_ns) { return end_ns <= next.last_begin_ns; });
    open.insert(open.end(), next.open.begin(), next.open.end());
    last_begin_ns = next.last_begin_ns;
  }
};

class ChunkedFile : public PerfettoFile {
 public:
  explicit ChunkedFile(AtomicFile& file) : file_(file) {}

  std::unique_ptr<TraceWriter> make_writer(OrderedChunks& chunks, std::size_t chunk) override {
    return std::make_unique<ChunkWriter>([this, &chunks, chunk](Chunk done) {
      if (chunks.has_turn(chunk)) return add(done);
      const std::size_t bytes = done.packets.bytes();
      const auto held = std::make_shared<const Chunk>(std::move(done));
      chunks.hold(chunk, bytes, [this, held] { add(*held); });
    });
  }

  void finish() override {
    PacketBlocks descriptors;
    write_descriptors(descriptors);
    write(descriptors);
    if (clipped_ > 0)
      log::warn("{} slices overlap more than {} others on their track and are cut",
                with_thousands(clipped_), kMaxRows);
  }

 private:
  struct Process : ProcessNames {
    std::uint64_t track = 0;
  };
  struct Thread {
    std::string name;
    std::int64_t sort_index = 0;
    std::vector<Row> rows;
  };

  // Writes the starts of the sequences of a chunk, now that their tracks are known, and its
  // packets.
  void add(const Chunk& chunk) {
    PacketBlocks starts;
    for (const auto& [pid, names] : chunk.processes) add_process(pid, names);
    for (const auto& [lane, added] : chunk.threads) {
      Thread& thread = threads_[lane];
      if (added.name) thread.name = *added.name;
      if (added.sort_index) thread.sort_index = *added.sort_index;
      for (const RowOfChunk& row : added.rows)
        Sequence::put_start(starts.packets(), row.sequence, add_row(thread, row));
    }
    for (const auto& [key, sequence] : chunk.counters)
      Sequence::put_start(starts.packets(), sequence, counter_track(key, starts));
    clipped_ += chunk.clipped;
    write(starts);
    for (const std::string& block : chunk.packets.blocks()) file_.write_block(block);
  }

  void write(PacketBlocks& packets) {
    packets.flush();
    for (const std::string& block : packets.blocks()) file_.write_block(block);
  }

  void add_process(std::int64_t pid, const ProcessNames& added) {
    Process& process = processes_[pid];
    if (process.track == 0) process.track = ++tracks_;
    if (added.name) process.name = added.name;
    if (added.labels) process.labels = added.labels;
    if (added.sort_index) process.sort_index = added.sort_index;
  }

  std::uint64_t add_row(Thread& thread, const RowOfChunk& added) {
    auto row = std::find_if(thread.rows.begin(), thread.rows.end(),
                            [&](const Row& one) { return one.takes(added); });
    if (row == thread.rows.end() && thread.rows.size() < kMaxRows) {
      thread.rows.push_back({++tracks_, INT64_MIN, {}});
      row = thread.rows.end() - 1;
    }
    if (row == thread.rows.end()) {
      --row;
      clipped_ += added.slices;
    }
    row->add(added);
    return row->track;
  }

  // Describes a counter track before its first sample. Other tracks are described at the end, when
  // their names are known.
  std::uint64_t counter_track(const CounterKey& key, PacketBlocks& out) {
    std::uint64_t& track = counters_[key];
    if (track != 0) return track;
    track = ++tracks_;
    std::string descriptor = child(key.first, track, key.second);
    put(descriptor, track::kCounter, std::string_view());
    write_track(out, descriptor);
    return track;
  }

  static void write_track(PacketBlocks& out, std::string_view descriptor) {
    std::string packet;
    put(packet, packet::kTrackDescriptor, descriptor);
    put(packet, packet::kSequence, kDescriptorSequence);
    put(out.packets(), 1, packet);
    out.end_packet();
  }

  void write_descriptors(PacketBlocks& out) {
    std::int64_t made_up = kMaxPid;
    for (const auto& [pid, process] : processes_) {
      // Pid 0 is the idle process; Perfetto rejects pids above kMaxPid.
      const bool is_pid = pid > 0 && pid <= kMaxPid;
      std::string about;
      put(about, process::kPid, static_cast<std::uint64_t>(is_pid ? pid : ++made_up));
      put(about, process::kSortIndex, static_cast<std::uint64_t>(process.sort_index.value_or(0)));
      put(about, process::kName, process.name.value_or(""));
      if (process.labels && !process.labels->empty()) put(about, process::kLabels, *process.labels);
      std::string descriptor;
      put(descriptor, track::kUuid, process.track);
      put(descriptor, track::kProcess, about);
      put(descriptor, track::kChildOrdering, kExplicitOrder);
      write_track(out, descriptor);
    }
    std::uint64_t rank = 0;
    for (const auto& [place, lane] : sorted_lanes()) {
      const Thread& thread = threads_[lane];
      const std::string name =
          thread.name.empty() ? "Thread " + std::to_string(lane.second) : thread.name;
      for (const Row& row : thread.rows) {
        std::string descriptor = child(lane.first, row.track, name);
        put(descriptor, track::kRank, rank++);
        write_track(out, descriptor);
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

  AtomicFile& file_;
  std::uint64_t tracks_ = 0;
  std::uint64_t clipped_ = 0;
  std::map<std::int64_t, Process> processes_;
  std::map<Lane, Thread> threads_;
  std::map<CounterKey, std::uint64_t> counters_;
};

}  // namespace

}  // namespace perfetto

std::unique_ptr<PerfettoFile> make_perfetto_file(AtomicFile& file) {
  return std::make_unique<perfetto::ChunkedFile>(file);
}

}  // namespace msprof
