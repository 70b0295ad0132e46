// TimelineLayer: writes the rows of one layer as events. To add one, implement
// write() in a file under timeline/ and list it in products.def.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "export/ordered_chunks.hpp"
#include "export/product_info.hpp"
#include "export/scope/output_file.hpp"
#include "session/session.hpp"
#include "store/database.hpp"

namespace msprof {

class TraceWriter;

// A chunk of a layer. Chunks are written in parallel, each thread with its own connection; their
// texts are output in order.
struct TimelinePiece {
  enum class When {
    in_turn,
    ahead,        // before the chunks of other layers: computes data that they wait for, and writes
                  // no event
    after_others  // after all chunks before it are written
  };
  std::function<void(const Database&, TraceWriter&)> write;
  When when = When::in_turn;
};

// Rows per chunk.
inline constexpr std::int64_t kPieceRows = 1 << 15;

struct LayerInfo {
  std::string_view name;  // "task_time"
  std::string_view help;
  std::string_view exists = {};  // SQL: returns a row if there is data to draw
  RawNeeds needs = {};
  std::string_view own_document = {};  // "step_trace": also written as a separate file
  bool is_default = true;              // false: written only if --layers names it
  std::string_view group = {};         // --layers accepts this name for all layers of the group
  Dialect dialect = Dialect::cann;
};

class TimelineLayer {
 public:
  explicit TimelineLayer(const LayerInfo& info) : info_(info) {}
  virtual ~TimelineLayer() = default;
  const LayerInfo& info() const { return info_; }
  std::string_view name() const { return info_.name; }
  // Returns the files it writes or contributes to, in order; empty if there is no data.
  virtual std::vector<OutputFile> output_files(const Database& db) const = 0;
  // Returns true if output_files() is not empty.
  virtual bool has_files(const Database& db) const { return !output_files(db).empty(); }
  // Writes the rows in output_file.scope. A layer without events writes no metadata either.
  virtual void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const;
  // The same in chunks, for layers with millions of rows. A layer implements write() or pieces().
  virtual std::vector<TimelinePiece> pieces(const Database& db,
                                            const OutputFile& output_file) const;

 private:
  LayerInfo info_;
};

}  // namespace msprof
