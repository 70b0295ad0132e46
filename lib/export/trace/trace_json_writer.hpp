// TraceJsonWriter: writes a Chrome trace, streaming: one JSON array, one event per line.
// Format: the "JSON Array Format" of chrome://tracing; ts and dur are microseconds, printed from
// integer nanoseconds. The order of members depends on the dialect, as its tools expect it:
//   svp   name pid tid ts dur args ph; ts is a number with three decimals
//   CANN  name pid tid ts dur ph [cat] args; ts is a string (a double would round it), dur as short
//   as its value allows ("12.0")
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/text_block.hpp"
#include "export/trace/trace_writer.hpp"

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

class TraceJsonWriter : public TraceWriter {
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

  // Subtracts `ns` from every time, for a clock that starts later than the store's.
  void set_origin(std::int64_t ns) { origin_ns_ = ns; }

  // Called for every event with a time, with its start and its size in bytes.
  using Meter = std::function<void(std::int64_t time_ns, std::size_t bytes)>;
  void set_meter(Meter meter) { meter_ = std::move(meter); }

  void arguments(const SharedArguments& shared) override;
  void finish() override;
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
  // The JSON of a lane, so that a lane is formatted only once.
  struct LaneText {
    TraceLane lane;
    std::string text;
  };

  void begin(const TraceEvent& event) override;
  void add(std::span<const TraceArgument> arguments) override;
  void end() override;
  void choose_part(std::int64_t time_ns);
  void write_metadata(const TraceEvent& event);
  void count_arrow(const TraceEvent& arrow);
  const std::string& lane_text(TraceLane lane);
  char* put_time(char* to, std::int64_t ns) const;
  char* put_value(char* to, const TraceValue& value) const;
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
  static constexpr std::size_t kLaneTexts = 64;
  std::array<LaneText, kLaneTexts> lane_texts_;
  std::int64_t event_time_ns_ = 0;
  std::size_t event_at_ = 0;
  std::string_view event_end_;  // empty for metadata
  // Part in which each arrow started, plus 1. Stored in blocks of neighbouring ids.
  static constexpr std::uint64_t kArrowBlock = 1024;
  std::unordered_map<std::uint64_t, std::vector<std::uint16_t>> arrow_starts_;
  std::uint64_t arrows_ = 0;
  std::uint64_t cut_arrows_ = 0;
  bool is_first_argument_ = true;
  bool is_fragment_ = false;
};

}  // namespace msprof
