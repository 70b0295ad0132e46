// TraceJsonWriter: writes a Chrome trace, streaming: one JSON array, one event per line. For
// timeline layers.
// Format: the "JSON Array Format" of chrome://tracing; ts and dur are microseconds, printed from
// integer nanoseconds. The order of members depends on the dialect, as its tools expect it:
//   svp   name pid tid ts dur args ph; ts is a number with three decimals
//   CANN  name pid tid ts dur ph [cat] args; ts is a string (a double would round it), dur as short
//   as its value allows ("12.0")
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/text_block.hpp"

namespace msprof {

// TraceSink: receives the text of a timeline. For TraceJsonWriter: one file, plain or compressed;
// or several, each for a time range, for --split.

// Text that a sink has compressed ahead of its turn.
struct PackedText {
  std::string bytes;
  std::uint64_t text_bytes = 0;
  std::uint32_t checksum = 0;
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  // Writes a block of text: whole events, one per line, each after its comma.
  virtual void write(std::string_view text) = 0;
  // Returns true if threads should compress text ahead of its turn with pack(), which is
  // thread-safe, and pass the result to write_packed().
  virtual bool packs() const { return false; }
  virtual PackedText pack(std::string_view text) const { return {std::string(text), 0, 0}; }
  virtual void write_packed(const PackedText& text) { write(text.bytes); }
  virtual void finish() = 0;
  // Bytes of text, before compression.
  virtual std::uint64_t text_bytes() const = 0;
};

class CountingSink : public TraceSink {
 public:
  void write(std::string_view text) override { counted_ += text.size(); }
  void finish() override {}
  std::uint64_t text_bytes() const override { return counted_; }

 private:
  std::uint64_t counted_ = 0;
};

class PlainSink : public TraceSink {
 public:
  explicit PlainSink(AtomicFile& file) : file_(&file) {}
  void write(std::string_view text) override { file_->write_block(text); }
  void finish() override {}
  std::uint64_t text_bytes() const override { return file_->bytes_written(); }

 private:
  AtomicFile* file_;
};

// Like PlainSink, compressed with gzip.
std::unique_ptr<TraceSink> make_gzip_sink(AtomicFile& file);

// Text that json_string() has already quoted and escaped, so that names used by every event are
// escaped once.
struct JsonText {
  std::string_view text;
};

// A track on the screen: a thread of a process.
struct TraceLane {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
};

class TraceJsonWriter {
 public:
  // Text is formatted in place and written in blocks that fit in a core's cache.
  static constexpr std::size_t kBlockBytes = 256 << 10;

  explicit TraceJsonWriter(TraceSink& sink);

  // Writes the parts of a timeline, each to a sink: sinks[0] gets events that start before cuts[0]
  // or have no time, sinks[i] those from cuts[i - 1] on. Every sink gets the metadata.
  TraceJsonWriter(const std::vector<TraceSink*>& sinks, std::vector<std::int64_t> cuts,
                  std::size_t block_bytes = kBlockBytes);

  // Writes a chunk in the middle of a timeline: a comma precedes each event, and the array is
  // neither opened nor closed.
  struct Fragment {};
  TraceJsonWriter(TraceSink& sink, Fragment);

  // Called for every event with a time, with its start and its size in bytes.
  using Meter = std::function<void(std::int64_t time_ns, std::size_t bytes)>;
  void set_meter(Meter meter) { meter_ = std::move(meter); }

  // Metadata events.
  void process_name(std::int64_t pid, std::string_view name);
  // Shown next to the process name.
  void process_label(std::int64_t pid, std::string_view label);
  void thread_name(std::int64_t pid, std::int64_t tid, std::string_view name);
  // CANN: write process_name, process_labels and process_sort_index; thread_name and
  // thread_sort_index.
  void process(std::int64_t pid, std::string_view name, std::string_view label,
               std::int64_t sort_index);
  void thread(TraceLane lane, std::string_view name, std::int64_t sort_index);

  // Subtracts `ns` from every time, for a clock that starts later than the store's.
  void set_origin(std::int64_t ns) { origin_ns_ = ns; }

  // From now on processes are strings: "2_46817" with the prefix "2"; an empty prefix makes them
  // numbers again. Does not apply to lane_text().
  void set_process_prefix(std::string_view prefix) { process_prefix_ = prefix; }
  // Sets the position of a process on the screen if process() does not.
  void process_sort_index(std::int64_t pid, std::int64_t sort_index);

  // Slices shorter than `ns` are not drawn.
  void set_min_duration(std::int64_t ns) { min_duration_ns_ = ns; }
  // Returns true if a slice of that length is drawn. For events that precede or accompany it.
  bool draws(std::int64_t duration_ns) const { return duration_ns >= min_duration_ns_; }

  // One X event of svp: begin_complete, its arguments, end_complete. Returns false if the slice is
  // too short to be drawn; then do not write arguments or the end. begin_slice does the same.
  [[nodiscard]] bool begin_complete(JsonText name, std::int64_t pid, std::int64_t tid,
                                    std::int64_t start_ns, std::int64_t duration_ns);
  void end_complete();

  // One X event of CANN: begin_slice, its arguments, end_slice. `category` may be empty.
  [[nodiscard]] bool begin_slice(JsonText name, TraceLane lane, std::int64_t start_ns,
                                 std::int64_t duration_ns, JsonText category = {});
  void end_slice();

  // For layers with millions of slices, with preformatted text: `lane` is from lane_text(),
  // `arguments` is the first part of the arguments: `"a":1,"b":2`.
  static std::string lane_text(TraceLane lane);
  [[nodiscard]] bool begin_slice(JsonText name, std::string_view lane, std::int64_t start_ns,
                                 std::int64_t duration_ns, std::string_view arguments);

  // Arguments of a slice, a counter or an arrow with arguments.
  void argument(JsonText key, JsonText value);
  void argument(JsonText key, std::int64_t value);
  void argument_text(JsonText key, std::string_view text);  // quotes the text
  void argument_us(JsonText key, std::int64_t ns);          // a number: 12.0, 0.04
  void argument_time(JsonText key, std::int64_t ns);        // a string: "1715760307201793.880"
  void argument_number(JsonText key, double value);        // shortest form that reads back the same
  void argument_digits(JsonText key, std::string_view d);  // digits, unchanged
  // Preformatted arguments: `"a":1,"b":2`.
  void arguments(std::string_view text);

  // ph C: {"<key>": value}.
  void counter(JsonText name, TraceLane lane, std::int64_t time_ns, JsonText key,
               std::int64_t value);

  // A counter with other values: begin_counter, its arguments, end_slice.
  void begin_counter(JsonText name, TraceLane lane, std::int64_t time_ns);

  // One end of an arrow: phase 's' (start), 't' (step) or 'f' (finish); the ends of an arrow share
  // category and id. 'f' and 't' of flow() bind to the enclosing slice.
  void flow(char phase, JsonText name, TraceLane lane, JsonText category, JsonText id,
            std::int64_t time_ns);
  // An arrow followed by arguments: begin_flow, its arguments, end_slice.
  void begin_flow(char phase, JsonText name, TraceLane lane, JsonText category, JsonText id,
                  std::int64_t time_ns);

  void finish();
  // Counts exclude metadata.
  std::uint64_t event_count() const { return events_; }
  std::uint64_t slice_count() const { return slices_; }
  // Ends of arrows, and those whose start is in another part. Counted only if there are several
  // parts.
  std::uint64_t arrow_count() const { return arrows_; }
  std::uint64_t cut_arrow_count() const { return cut_arrows_; }

 private:
  struct SinkState {
    TraceSink* sink = nullptr;
    bool has_event = false;
    TextBlock text;
  };
  void begin_event(std::int64_t time_ns);
  void end_event();
  void choose_part(std::int64_t time_ns);
  void metadata_event(std::string_view text);
  void event_head(JsonText name, TraceLane lane);
  void flow_head(char phase, JsonText name, TraceLane lane, JsonText category, JsonText id,
                 std::int64_t time_ns);
  void count_arrow(char phase, JsonText category, JsonText id);
  void append_process(std::string& out, std::int64_t pid) const;
  std::string cann_metadata(std::string_view kind, TraceLane lane, std::string_view argument,
                            std::string_view value) const;
  void key(JsonText key);
  void time_text(std::int64_t ns);
  void flush_chunk(SinkState& part);

  std::vector<SinkState> parts_;
  std::vector<std::int64_t> cuts_;
  std::size_t part_ = 0;
  // Time range of the current part, and its buffer.
  std::int64_t part_begin_ns_ = INT64_MIN;
  std::int64_t part_end_ns_ = INT64_MAX;
  TextBlock* out_ = nullptr;
  std::size_t block_bytes_;
  Meter meter_;
  std::int64_t origin_ns_ = 0;
  std::string process_prefix_;
  std::int64_t min_duration_ns_ = 0;
  std::int64_t event_time_ns_ = 0;
  std::size_t event_at_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t slices_ = 0;
  // Part in which each arrow started, plus 1. Stored in blocks of neighbouring ids.
  static constexpr std::uint64_t kArrowBlock = 1024;
  std::unordered_map<std::uint64_t, std::vector<std::uint16_t>> arrow_starts_;
  std::uint64_t arrows_ = 0;
  std::uint64_t cut_arrows_ = 0;
  bool is_first_argument_ = true;
  bool is_fragment_ = false;
};

}  // namespace msprof
