#include "import/cann/record_stream.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/interrupt.hpp"
#include "base/read_write.hpp"
#include "import/cann/record_scan.hpp"

namespace msprof::cann {

namespace {

constexpr std::uint32_t kChunkBytes = std::uint32_t{1} << 18;
constexpr std::uint64_t kNever = UINT64_MAX;

// A range of one slice whose records have one alignment. Unsound records in it are skipped.
struct Chunk {
  std::uint64_t min_time = kNever;
  std::uint64_t max_time = 0;
  std::uint64_t first_sequence = 0;
  std::uint64_t offset = 0;
  std::uint32_t slice = 0;
  std::uint32_t bytes = 0;
  bool is_sorted = true;
  bool straddles = false;  // a single record that continues in the next slice; its bytes are kept
                           // in memory
};

struct ChunkBytes {
  std::vector<std::byte> bytes;
  std::vector<std::uint32_t> order;  // offsets of the sound records, sorted by time
};
using ChunkBytesPtr = std::unique_ptr<ChunkBytes>;

// A chunk with records that have not been returned yet.
struct OpenChunk {
  const Chunk* chunk = nullptr;
  ChunkBytesPtr loaded;
  std::size_t at = 0;      // index into `order`
  std::uint64_t time = 0;  // time of the record at `at`
  std::uint64_t sequence = 0;
  int loads = 0;
  bool is_cut = false;  // the file is shorter than in the first pass
};

// Heap order: the chunk with the earliest record is first.
bool is_later(const OpenChunk& a, const OpenChunk& b) {
  return b.time != a.time ? b.time < a.time : b.sequence < a.sequence;
}

// A sorted run of records. The next batch is built while this one is consumed.
struct Batch {
  static constexpr std::size_t kRecords = 1024;
  std::vector<StreamRecord> records;
  std::vector<ChunkBytesPtr> closed;  // kept because records of this batch point into them
  std::vector<std::size_t> cut;       // slices that are shorter than in the first pass
};

}  // namespace

struct RecordStream::State {
  explicit State(const RecordFormat& record_format) : format(record_format) {}

  RecordFormat format;
  std::vector<ScannedSlice> slices;  // unaging before aging, once opened
  std::vector<Chunk> chunks;         // sorted by min_time, once opened
  std::vector<std::byte> straddling;
  std::vector<std::uint64_t> straddling_sequences;  // sequence numbers of the records in
                                                    // `straddling`
  std::uint64_t sequence = 0;
  std::uint64_t latest = UINT64_MAX;  // latest possible time of a record
  bool is_scanned = false;
  ImportReport* report = nullptr;

  // State for building batches; only one thread builds at a time.
  std::size_t next_chunk = 0;
  std::vector<OpenChunk> open;  // heap, earliest record first
  std::size_t loaded = 0;       // number of chunks in `open` that are in memory
  std::vector<ChunkBytesPtr> spare;
  FileDescriptor fd;
  std::size_t fd_slice = SIZE_MAX;

  Batch batch;                 // being consumed
  Batch coming;                // built by batch_job
  WorkAhead* ahead = nullptr;  // may be null
  // Declared last: the jobs use the members above and must be destroyed first.
  WorkAhead::Job batch_job;
  WorkAhead::Job scan_job;

  std::uint64_t record_time(std::span<const std::byte> record,
                            std::uint64_t record_sequence) const {
    return format.time != nullptr ? format.time(record) : record_sequence;
  }
  bool is_sound(std::span<const std::byte> record) const {
    return format.is_sound == nullptr || format.is_sound(record);
  }

  bool is_mistimed(std::uint64_t time, std::span<const std::byte> record) const {
    return time > latest && (format.has_time == nullptr || format.has_time(record));
  }

  void scan_all(const Visit& visit);
  void scan(std::size_t first, std::size_t last, const Visit& visit);
  void add(std::uint64_t offset, std::size_t slice, std::uint64_t time,
           std::span<const std::byte> record, bool straddles);
  static void lose_mistimed(ScannedSlice& slice, std::uint64_t offset);
  void report_slices(ImportReport& to) const;
  ChunkBytesPtr spare_bytes();
  void load(OpenChunk& chunk, Batch& into);
  void open_next(Batch& into);
  void reload_first(Batch& into);
  void unload_last(Batch& into);
  std::size_t read(const Chunk& chunk, std::vector<std::byte>& into);
  void sort(const Chunk& chunk, ChunkBytes& loaded) const;
  bool resolve(OpenChunk& chunk) const;
  void make(Batch& into);
  void take_first(Batch& into);
  void close_first(Batch& into);
  StreamRecord record_at(const OpenChunk& chunk) const;
  void next_batch();
};

RecordStream::RecordStream(const RecordFormat& format) : state_(std::make_unique<State>(format)) {}
RecordStream::~RecordStream() = default;
RecordStream::RecordStream(RecordStream&&) noexcept = default;
RecordStream& RecordStream::operator=(RecordStream&&) noexcept = default;

void RecordStream::add(const RawFile& file, bool is_unaging) {
  ScannedSlice slice;
  slice.file = file;
  slice.is_unaging = is_unaging;
  state_->slices.push_back(std::move(slice));
}

bool RecordStream::empty() const {
  return state_->slices.empty();
}

void RecordStream::limit_times(const ClockMap& clock) {
  if (state_->format.time != nullptr) state_->latest = clock.latest();
}

const std::string& RecordStream::file_name(const StreamRecord& record) const {
  return state_->slices[record.file].file.name;
}

void RecordStream::skip(const ImportContext& context, const StreamRecord& record,
                        std::string_view reason) const {
  context.report.skip_record(state_->format.kind, file_name(record), reason, record.offset);
}

void RecordStream::read_ahead(WorkAhead& ahead) {
  state_->ahead = &ahead;
}

void RecordStream::scan(const Visit& visit) {
  state_->scan_all(visit);
}

void RecordStream::scan_ahead() {
  State* const state = state_.get();
  state->scan_job = state->ahead->start([state] { state->scan_all({}); });
}

void RecordStream::open(const ImportContext& context, const Visit& visit) {
  State& state = *state_;
  state.report = &context.report;
  if (state.scan_job) state.scan_job.get();
  if (!state.is_scanned) state.scan_all(visit);
  state.report_slices(context.report);
  std::stable_sort(state.chunks.begin(), state.chunks.end(),
                   [](const Chunk& a, const Chunk& b) { return a.min_time < b.min_time; });
  next_batch();
}

void RecordStream::next_batch() {
  state_->next_batch();
  front_ = state_->batch.records.data();
  end_ = front_ + state_->batch.records.size();
}

void RecordStream::State::scan_all(const Visit& visit) {
  is_scanned = true;
  std::stable_partition(slices.begin(), slices.end(),
                        [](const ScannedSlice& slice) { return slice.is_unaging; });
  const auto border = static_cast<std::size_t>(std::count_if(
      slices.begin(), slices.end(), [](const ScannedSlice& slice) { return slice.is_unaging; }));
  scan(0, border, visit);
  scan(border, slices.size(), visit);
}

void RecordStream::State::scan(std::size_t first, std::size_t last, const Visit& visit) {
  const std::span<ScannedSlice> row = std::span(slices).subspan(first, last - first);
  if (row.empty()) return;
  StreamRecord shown;
  shown.is_unaging = row.front().is_unaging;
  RecordScan(
      format, row,
      [&](std::uint64_t at, std::size_t slice, std::span<const std::byte> record, bool straddles) {
        const std::uint64_t offset = at - row[slice].begin;
        const std::uint64_t time = record_time(record, sequence);
        if (is_mistimed(time, record)) return lose_mistimed(row[slice], offset);
        ++row[slice].records;
        add(offset, first + slice, time, record, straddles);
        if (visit) {
          shown.bytes = record;
          shown.time = time;
          shown.sequence = sequence - 1;
          shown.file = first + slice;
          shown.offset = offset;
          visit(shown);
        }
      })
      .run();
}

void RecordStream::State::add(std::uint64_t offset, std::size_t slice, std::uint64_t time,
                              std::span<const std::byte> record, bool straddles) {
  const auto size = static_cast<std::uint32_t>(format.bytes);
  Chunk* chunk = chunks.empty() ? nullptr : &chunks.back();
  std::uint64_t distance = 0;  // from the start of the chunk
  if (chunk != nullptr && chunk->slice == slice && !chunk->straddles && !straddles &&
      offset >= chunk->offset) {
    distance = offset - chunk->offset;
  }
  // Sequence numbers count positions, so unsound records in between also have one.
  const bool joins = distance >= size && distance % size == 0 && distance + size <= kChunkBytes;
  if (!joins) {
    chunks.push_back(
        {kNever, 0, sequence, offset, static_cast<std::uint32_t>(slice), 0, true, straddles});
    chunk = &chunks.back();
    distance = 0;
    if (straddles) {
      straddling_sequences.push_back(sequence);
      straddling.insert(straddling.end(), record.begin(), record.end());
    }
  }
  chunk->bytes = static_cast<std::uint32_t>(distance) + size;
  if (time < chunk->max_time) chunk->is_sorted = false;
  chunk->max_time = std::max(chunk->max_time, time);
  chunk->min_time = std::min(chunk->min_time, time);
  sequence = chunk->first_sequence + distance / size + 1;
}

void RecordStream::State::lose_mistimed(ScannedSlice& slice, std::uint64_t offset) {
  if (slice.mistimed.count++ == 0) slice.mistimed.first_offset = static_cast<std::int64_t>(offset);
}

void RecordStream::State::report_slices(ImportReport& to) const {
  const std::string kind(format.kind);
  const auto report_finding = [&](const ScannedSlice& slice, const ScannedSlice::Loss& loss,
                                  FindingId id, std::string_view reason, std::string detail) {
    if (loss.count == 0) return;
    const bool is_bytes = id == FindingId::trailing_bytes;
    to.add({id, kind, slice.file.name, std::string(reason),
            is_bytes ? static_cast<std::int64_t>(loss.bytes) : loss.count, loss.first_offset,
            std::move(detail), ""});
  };
  for (const ScannedSlice& slice : slices) {
    if (!slice.unreadable.empty())
      to.add(FindingId::unreadable_file, kind, slice.file.name, "unreadable", slice.unreadable);
  }
  for (const ScannedSlice& slice : slices) {
    to.count_file(kind, slice.records);
    report_finding(slice, slice.head, FindingId::trailing_bytes, "starts in the middle of a record",
                   "");
    report_finding(slice, slice.unsound, FindingId::damaged_record, format.unsound_reason,
                   fmt::format("{} bytes", slice.unsound.bytes));
    report_finding(slice, slice.mistimed, FindingId::damaged_record, kImpossibleTime, "");
    report_finding(slice, slice.shifted, FindingId::damaged_record,
                   "bytes lost or added within a record",
                   fmt::format("{} bytes", slice.shifted.bytes));
    report_finding(slice, slice.trailing, FindingId::trailing_bytes,
                   "ends in the middle of a record", "");
  }
}

std::size_t RecordStream::State::read(const Chunk& chunk, std::vector<std::byte>& into) {
  into.resize(chunk.bytes);
  if (chunk.straddles) {
    const auto at = std::lower_bound(straddling_sequences.begin(), straddling_sequences.end(),
                                     chunk.first_sequence);
    const auto number = static_cast<std::size_t>(at - straddling_sequences.begin());
    std::memcpy(into.data(), straddling.data() + number * format.bytes, format.bytes);
    return format.bytes;
  }
  if (fd_slice != chunk.slice) {
    fd.reset(::open(slices[chunk.slice].file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    fd_slice = chunk.slice;
  }
  return fd ? read_all_at(fd.get(), into, chunk.offset) : 0;
}

ChunkBytesPtr RecordStream::State::spare_bytes() {
  if (spare.empty()) return std::make_unique<ChunkBytes>();
  ChunkBytesPtr bytes = std::move(spare.back());
  spare.pop_back();
  return bytes;
}

// Reads the records of a chunk. If the file was truncated since the first pass, reads what is left.
void RecordStream::State::load(OpenChunk& open_chunk, Batch& into) {
  interrupt::check();
  const Chunk& chunk = *open_chunk.chunk;
  ChunkBytesPtr bytes = spare_bytes();
  bytes->order.clear();
  const std::size_t got = read(chunk, bytes->bytes);
  if (got < chunk.bytes && !open_chunk.is_cut) into.cut.push_back(chunk.slice);
  open_chunk.is_cut = open_chunk.is_cut || got < chunk.bytes;
  const bool has_space = slices[chunk.slice].file.has_space;
  const bool has_mistimed = slices[chunk.slice].mistimed.count > 0;
  for (std::size_t at = 0; at + format.bytes <= got; at += format.bytes) {
    const auto record = std::span(bytes->bytes).subspan(at, format.bytes);
    if (is_sound(record) && !(has_space && is_unwritten(record)) &&
        !(has_mistimed && is_mistimed(format.time(record), record)))
      bytes->order.push_back(static_cast<std::uint32_t>(at));
  }
  if (!chunk.is_sorted) sort(chunk, *bytes);
  open_chunk.loaded = std::move(bytes);
  ++open_chunk.loads;
  ++loaded;
}

void RecordStream::State::open_next(Batch& into) {
  OpenChunk opened;
  opened.chunk = &chunks[next_chunk++];
  load(opened, into);
  if (!resolve(opened)) {
    --loaded;
    return;
  }
  open.push_back(std::move(opened));
  std::push_heap(open.begin(), open.end(), is_later);
  unload_last(into);
}

// Reloads the first chunk, which was unloaded while its records were not needed.
void RecordStream::State::reload_first(Batch& into) {
  std::pop_heap(open.begin(), open.end(), is_later);
  OpenChunk& chunk = open.back();
  const std::pair next(chunk.time, chunk.sequence);
  load(chunk, into);
  chunk.at = 0;
  // Finds the next record by time, not by index: the file may have been truncated meanwhile.
  bool has_more = resolve(chunk);
  while (has_more && std::pair(chunk.time, chunk.sequence) < next) {
    ++chunk.at;
    has_more = resolve(chunk);
  }
  if (!has_more) {
    into.closed.push_back(std::move(chunk.loaded));
    --loaded;
    open.pop_back();
    return;
  }
  std::push_heap(open.begin(), open.end(), is_later);
  unload_last(into);
}

// Unloads the chunk whose next record is latest, if too many chunks are loaded. Without this, a
// file with several sequences of records whose times drift apart would be completely in memory. A
// chunk that was loaded kMaxLoads times stays: if many chunks alternate, memory is cheaper than
// rereading.
void RecordStream::State::unload_last(Batch& into) {
  constexpr std::size_t kMaxLoaded = 32;
  constexpr int kMaxLoads = 3;
  if (loaded <= kMaxLoaded) return;
  OpenChunk* last = nullptr;
  for (OpenChunk& chunk : std::span(open).subspan(1)) {
    if (chunk.loaded != nullptr && chunk.loads < kMaxLoads &&
        (last == nullptr || is_later(chunk, *last)))
      last = &chunk;
  }
  if (last == nullptr) return;
  into.closed.push_back(std::move(last->loaded));
  --loaded;
}

void RecordStream::State::sort(const Chunk& chunk, ChunkBytes& bytes) const {
  // Computes each time once, not once per comparison.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> keys;
  keys.reserve(bytes.order.size());
  for (const std::uint32_t at : bytes.order) {
    keys.emplace_back(record_time(std::span(bytes.bytes).subspan(at, format.bytes),
                                  chunk.first_sequence + at / format.bytes),
                      at);
  }
  std::sort(keys.begin(), keys.end());
  std::transform(keys.begin(), keys.end(), bytes.order.begin(),
                 [](const auto& key) { return key.second; });
}

// Reads time and sequence of the record at `at`; returns false if there is none.
bool RecordStream::State::resolve(OpenChunk& chunk) const {
  const ChunkBytes& bytes = *chunk.loaded;
  if (chunk.at >= bytes.order.size()) return false;
  const std::uint32_t at = bytes.order[chunk.at];
  chunk.sequence = chunk.chunk->first_sequence + at / format.bytes;
  chunk.time = record_time(std::span(bytes.bytes).subspan(at, format.bytes), chunk.sequence);
  return true;
}

StreamRecord RecordStream::State::record_at(const OpenChunk& chunk) const {
  const std::uint32_t at = chunk.loaded->order[chunk.at];
  return {std::span<const std::byte>(chunk.loaded->bytes).subspan(at, format.bytes),
          chunk.time,
          chunk.sequence,
          slices[chunk.chunk->slice].is_unaging,
          chunk.chunk->slice,
          chunk.chunk->offset + at};
}

// Builds the next batch; it is empty at the end.
void RecordStream::State::make(Batch& into) {
  constexpr std::size_t kMaxSpare = 1;
  for (ChunkBytesPtr& bytes : into.closed) {
    if (spare.size() < kMaxSpare) spare.push_back(std::move(bytes));
  }
  into.closed.clear();
  into.cut.clear();
  into.records.clear();
  while (into.records.size() < Batch::kRecords) {
    while (next_chunk < chunks.size() &&
           (open.empty() || chunks[next_chunk].min_time <= open.front().time)) {
      open_next(into);
    }
    if (open.empty()) return;
    if (open.front().loaded == nullptr) {
      reload_first(into);
    } else {
      take_first(into);
    }
  }
}

// Adds the earliest record and the following ones of its chunk that are earlier than all others.
void RecordStream::State::take_first(Batch& into) {
  std::uint64_t limit = next_chunk < chunks.size() ? chunks[next_chunk].min_time : kNever;
  for (std::size_t child = 1; child < open.size() && child < 3; ++child)
    limit = std::min(limit, open[child].time);
  OpenChunk& first = open.front();
  do {
    into.records.push_back(record_at(first));
    ++first.at;
    if (!resolve(first)) return close_first(into);
  } while (first.time < limit && into.records.size() < Batch::kRecords);
  // Restores the heap: the chunk's next record may come after those of other chunks.
  std::pop_heap(open.begin(), open.end(), is_later);
  std::push_heap(open.begin(), open.end(), is_later);
}

void RecordStream::State::close_first(Batch& into) {
  std::pop_heap(open.begin(), open.end(), is_later);
  into.closed.push_back(std::move(open.back().loaded));
  --loaded;
  open.pop_back();
}

void RecordStream::State::next_batch() {
  if (batch_job) {
    batch_job.get();
    std::swap(batch, coming);
  } else {
    make(batch);
  }
  for (const std::size_t slice : batch.cut) {
    report->add(FindingId::changed_file, format.kind, slices[slice].file.name,
                "changed while it was being read");
  }
  if (ahead == nullptr || batch.records.empty()) return;
  batch_job = ahead->start([this] { make(coming); });
}

}  // namespace msprof::cann
