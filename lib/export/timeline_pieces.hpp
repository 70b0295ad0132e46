// TimelinePieces: the layers of one timeline, written by all cores. For timeline_exporter.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "export/timeline_layer.hpp"
#include "store/trace_db.hpp"

namespace msprof {

// A piece, and what its layer sets of the writer.
struct LayerPiece {
  TimelinePiece piece;
  std::int64_t origin_ns = 0;
  std::int64_t min_duration_ns = 0;
};

struct PieceCounts {
  std::uint64_t events = 0;
  std::uint64_t slices = 0;
};

// Writes the whole array of the timeline to `sink`, byte for byte what one thread would. A piece
// whose turn has not come waits in memory, up to a limit; then its thread does. `open` gives the
// connection of a further thread, or nothing. Throws what a piece threw first.
PieceCounts write_pieces(const Database& db, const std::vector<LayerPiece>& pieces,
                         std::size_t threads, const std::function<std::optional<TraceDb>()>& open,
                         TraceSink& sink);

}  // namespace msprof
