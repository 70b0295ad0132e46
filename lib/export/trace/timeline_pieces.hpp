// TimelinePieces: writes the layers of one timeline on all cores. For timeline_exporter.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "export/timeline_layer.hpp"

namespace msprof {

class TraceSink;

// A chunk, and its layer's settings for the writer.
struct LayerPiece {
  TimelinePiece piece;
  std::int64_t origin_ns = 0;
  std::int64_t min_duration_ns = 0;
};

struct PieceCounts {
  std::uint64_t events = 0;
  std::uint64_t slices = 0;
};

// Returns the writer of a chunk, whose finish() outputs what it still holds.
using MakePieceWriter =
    std::function<std::unique_ptr<TraceWriter>(OrderedChunks& chunks, std::size_t piece)>;
// Writes the chunks on `threads` threads, each chunk with a new writer. Rethrows the first error.
PieceCounts write_pieces(const Database& db, const std::vector<LayerPiece>& pieces,
                         std::size_t threads, const MakePieceWriter& make_writer);
// Writes the whole array of the timeline to `sink`, byte for byte as one thread would. Rethrows the
// first error of a chunk.
PieceCounts write_pieces(const Database& db, const std::vector<LayerPiece>& pieces,
                         std::size_t threads, TraceSink& sink);

}  // namespace msprof
