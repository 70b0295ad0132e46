#include "export/trace/timeline_pieces.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "export/ordered_chunks.hpp"
#include "export/trace/trace_json_writer.hpp"

namespace msprof {

namespace {

// The array of a timeline. Used by one thread at a time, but for pack().
class TimelineText {
 public:
  TimelineText(TraceSink& sink, bool packs) : sink_(sink), packs_(packs) {
    sink_.write("[");
    if (packs_) comma_ = sink_.pack(",");
  }

  // Returns true if threads pack their texts.
  bool packs() const { return packs_; }
  // Packs whole events, without the comma before the first.
  PackedText pack(std::string_view text) const { return sink_.pack(without_comma(text)); }
  // Writes whole events; omits the comma before the first event of the array.
  void write(std::string_view text) {
    sink_.write(std::exchange(has_event_, true) ? text : without_comma(text));
  }
  void write(const PackedText& packed) {
    if (std::exchange(has_event_, true)) sink_.write_packed(comma_);
    sink_.write_packed(packed);
  }
  void finish() {
    sink_.write(has_event_ ? "\n]\n" : "]\n");
    sink_.finish();
  }

 private:
  static std::string_view without_comma(std::string_view text) { return text.substr(1); }

  TraceSink& sink_;
  bool packs_;
  PackedText comma_;
  bool has_event_ = false;
};

class PieceSink : public TraceSink {
 public:
  PieceSink(OrderedChunks& chunks, std::size_t chunk, TimelineText& out)
      : chunks_(chunks), chunk_(chunk), out_(out) {}
  void write(std::string_view text) override {
    if (text.empty()) return;
    bytes_ += text.size();
    if (out_.packs()) {
      PackedText packed = out_.pack(text);
      if (chunks_.has_turn(chunk_)) return out_.write(packed);
      const std::size_t size = packed.bytes.size();
      return chunks_.hold(chunk_, size,
                          [&out = out_, held = std::move(packed)] { out.write(held); });
    }
    if (chunks_.has_turn(chunk_)) return out_.write(text);
    chunks_.hold(chunk_, text.size(),
                 [&out = out_, held = std::string(text)] { out.write(std::string_view(held)); });
  }
  void finish() override {}
  std::uint64_t text_bytes() const override { return bytes_; }

 private:
  OrderedChunks& chunks_;
  std::size_t chunk_;
  TimelineText& out_;
  std::uint64_t bytes_ = 0;
};

struct OwnedSink {
  PieceSink sink;
};

class PieceWriter : private OwnedSink, public TraceJsonWriter {
 public:
  PieceWriter(OrderedChunks& chunks, std::size_t chunk, TimelineText& out)
      : OwnedSink{{chunks, chunk, out}}, TraceJsonWriter(sink, Fragment{}) {}
};

// Starts with the chunks that other chunks wait for.
std::vector<std::size_t> start_order(const std::vector<LayerPiece>& pieces) {
  std::vector<std::size_t> order(pieces.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_partition(order.begin(), order.end(), [&](std::size_t i) {
    return pieces[i].piece.when == TimelinePiece::When::ahead;
  });
  return order;
}

}  // namespace

void TimelineLayer::write(const Database& db, const OutputFile& output_file,
                          TraceWriter& out) const {
  for (const TimelinePiece& piece : pieces(db, output_file)) piece.write(db, out);
}

std::vector<TimelinePiece> TimelineLayer::pieces(const Database&,
                                                 const OutputFile& output_file) const {
  return {
      {[this, output_file](const Database& db, TraceWriter& out) { write(db, output_file, out); }}};
}

PieceCounts write_pieces(const Database& db, const std::vector<LayerPiece>& pieces,
                         std::size_t threads, const MakePieceWriter& make_writer) {
  constexpr std::size_t kHeldBytes = 16 << 20;  // a piece has about 10 MB of text
  OrderedChunks chunks(pieces.size(), threads, kHeldBytes);
  std::mutex mutex;
  PieceCounts counts;
  const auto write = [&](const Database& own, std::size_t number) {
    const LayerPiece& piece = pieces[number];
    if (piece.piece.when == TimelinePiece::When::after_others) chunks.wait_for_turn(number);
    const auto writer = make_writer(chunks, number);
    writer->set_min_duration(piece.min_duration_ns);
    piece.piece.write(own, *writer);
    writer->finish();
    const std::lock_guard lock(mutex);
    counts.events += writer->event_count();
    counts.slices += writer->slice_count();
  };
  chunks.run(db, write, start_order(pieces));
  return counts;
}

PieceCounts write_pieces(const Database& db, const std::vector<LayerPiece>& pieces,
                         std::size_t threads, TraceSink& sink) {
  // If there is only one thread, the sink packs the text itself.
  TimelineText text(sink, threads > 1 && sink.packs());
  const auto counts =
      write_pieces(db, pieces, threads, [&](OrderedChunks& chunks, std::size_t piece) {
        auto writer = std::make_unique<PieceWriter>(chunks, piece, text);
        writer->set_origin(pieces[piece].origin_ns);
        return writer;
      });
  text.finish();
  return counts;
}

}  // namespace msprof
