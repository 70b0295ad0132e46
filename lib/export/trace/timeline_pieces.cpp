#include "export/trace/timeline_pieces.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <future>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/on_thread.hpp"
#include "export/trace/trace_json_writer.hpp"

namespace msprof {

namespace {

// Thrown in the other threads when a chunk has failed.
struct Abandoned {};

// Writes the texts of chunks to the sink in their order.
class OrderedText {
 public:
  OrderedText(TraceSink& sink, std::size_t pieces, bool packs)
      : sink_(sink), packs_(packs), pieces_(pieces) {
    sink_.write("[");
    if (packs_) comma_ = sink_.pack(",");
  }

  void write(std::size_t piece, std::string_view text) {
    PackedText packed;
    if (packs_) packed = sink_.pack(without_comma(text));
    std::unique_lock lock(mutex_);
    check();
    if (piece != head_ && pieces_[piece].bytes >= kMaxHeld) wait_for(piece, lock);
    if (piece != head_) {
      Block block{packs_ ? std::string() : std::string(text), std::move(packed)};
      pieces_[piece].bytes += block.text.size() + block.packed.bytes.size();
      pieces_[piece].blocks.push_back(std::move(block));
      return;
    }
    lock.unlock();
    // Until end(), only the thread of this chunk uses the sink.
    write_held(pieces_[piece]);
    packs_ ? put(packed) : put(text);
  }

  // Returns when all chunks before `piece` are written.
  void wait_for(std::size_t piece) {
    std::unique_lock lock(mutex_);
    wait_for(piece, lock);
  }

  void end(std::size_t piece) {
    std::unique_lock lock(mutex_);
    pieces_[piece].is_done = true;
    if (piece != head_) return;
    for (; head_ < pieces_.size() && pieces_[head_].is_done; ++head_) write_held(pieces_[head_]);
    changed_.notify_all();
  }

  void abandon() {
    const std::lock_guard lock(mutex_);
    is_abandoned_ = true;
    changed_.notify_all();
  }

  void finish() {
    sink_.write(has_event_ ? "\n]\n" : "]\n");
    sink_.finish();
  }

 private:
  // A device task is about 300 bytes; this is twice the text of a chunk of them.
  static constexpr std::size_t kMaxHeld = 20 << 20;
  // Whole events as text, or packed without the comma before the first.
  struct Block {
    std::string text;
    PackedText packed;
  };
  struct Piece {
    std::vector<Block> blocks;
    std::size_t bytes = 0;
    bool is_done = false;
  };

  static std::string_view without_comma(std::string_view text) { return text.substr(1); }

  void check() const {
    if (is_abandoned_) throw Abandoned();
  }
  void wait_for(std::size_t piece, std::unique_lock<std::mutex>& lock) {
    changed_.wait(lock, [&] { return head_ == piece || is_abandoned_; });
    check();
  }
  void write_held(Piece& piece) {
    for (const Block& block : piece.blocks) packs_ ? put(block.packed) : put(block.text);
    piece.blocks = {};
    piece.bytes = 0;
  }
  // Omits the comma before the first event.
  void put(std::string_view text) {
    sink_.write(std::exchange(has_event_, true) ? text : without_comma(text));
  }
  void put(const PackedText& packed) {
    if (std::exchange(has_event_, true)) sink_.write_packed(comma_);
    sink_.write_packed(packed);
  }

  TraceSink& sink_;
  bool packs_;
  PackedText comma_;
  std::vector<Piece> pieces_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t head_ = 0;
  bool is_abandoned_ = false;
  bool has_event_ = false;
};

class PieceSink : public TraceSink {
 public:
  PieceSink(OrderedText& text, std::size_t piece) : text_(text), piece_(piece) {}
  void write(std::string_view text) override {
    if (text.empty()) return;
    bytes_ += text.size();
    text_.write(piece_, text);
  }
  void finish() override {}
  std::uint64_t text_bytes() const override { return bytes_; }

 private:
  OrderedText& text_;
  std::size_t piece_;
  std::uint64_t bytes_ = 0;
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

class PieceWorkers {
 public:
  // If there is only one thread, the sink packs the text itself.
  PieceWorkers(const std::vector<LayerPiece>& pieces, TraceSink& sink, bool has_others)
      : pieces_(pieces),
        order_(start_order(pieces)),
        text_(sink, pieces.size(), has_others && sink.packs()) {}

  void work(const Database& db) noexcept {
    try {
      for (std::optional<std::size_t> piece = next(); piece; piece = next()) write(*piece, db);
    } catch (const Abandoned&) {
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      text_.abandon();
    }
  }

  PieceCounts result() {
    if (error_) std::rethrow_exception(error_);
    text_.finish();
    return counts_;
  }

 private:
  std::optional<std::size_t> next() {
    const std::lock_guard lock(mutex_);
    if (error_ || next_ == order_.size()) return std::nullopt;
    return order_[next_++];
  }

  void write(std::size_t number, const Database& db) {
    const LayerPiece& piece = pieces_[number];
    if (piece.piece.when == TimelinePiece::When::after_others) text_.wait_for(number);
    PieceSink sink(text_, number);
    TraceJsonWriter writer(sink, TraceJsonWriter::Fragment{});
    writer.set_origin(piece.origin_ns);
    writer.set_min_duration(piece.min_duration_ns);
    piece.piece.write(db, writer);
    writer.finish();
    text_.end(number);
    const std::lock_guard lock(mutex_);
    counts_.events += writer.event_count();
    counts_.slices += writer.slice_count();
  }

  const std::vector<LayerPiece>& pieces_;
  std::vector<std::size_t> order_;
  OrderedText text_;
  std::mutex mutex_;
  std::size_t next_ = 0;
  std::exception_ptr error_;
  PieceCounts counts_;
};

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
                         std::size_t threads, const std::function<std::optional<TraceDb>()>& open,
                         TraceSink& sink) {
  PieceWorkers workers(pieces, sink, threads > 1);
  std::vector<std::optional<TraceDb>> connections;
  connections.reserve(threads);
  std::vector<std::future<void>> helpers;
  while (connections.size() + 1 < threads) {
    connections.push_back(open());
    if (!connections.back()) break;
    helpers.push_back(std::async(
        kOnThreadIfAny, [&workers, &own = *connections.back()] { workers.work(own.database()); }));
  }
  workers.work(db);
  for (std::future<void>& helper : helpers) helper.get();
  return workers.result();
}

}  // namespace msprof
