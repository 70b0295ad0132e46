// TimelineLayer: rows of one layer as events of a chrome trace.
// To add one: implement write() in a file under timeline/ and name it in products.def.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "export/product_info.hpp"
#include "export/trace_json_writer.hpp"
#include "store/database.hpp"

namespace msprof {

// A stretch of a layer. Pieces are written side by side, each thread with its own connection; their
// texts follow each other in the order of the pieces.
struct TimelinePiece {
  enum class When {
    in_turn,
    ahead,        // before those of other layers: it makes what they wait for, and writes nothing
    after_others  // when all before it are written
  };
  std::function<void(const Database&, TraceJsonWriter&)> write;
  When when = When::in_turn;
};

// Rows that are a piece.
inline constexpr std::int64_t kPieceRows = 1 << 15;

// What pieces need together, one for each connection: texts by id, statements.
template <typename Part>
class PerConnection {
 public:
  template <typename Make>
  Part& of(const Database& db, const Make& make) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Part>& part = parts_[&db];
    if (!part) part = make();
    return *part;
  }
  // Once nobody writes any more.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [db, part] : parts_) visit(*part);
  }

 private:
  std::mutex mutex_;
  std::map<const Database*, std::unique_ptr<Part>> parts_;
};

class TimelineLayer {
 public:
  explicit TimelineLayer(const LayerInfo& info) : info_(info) {}
  virtual ~TimelineLayer() = default;
  const LayerInfo& info() const { return info_; }
  std::string_view name() const { return info_.name; }
  // The files it writes, or has a part in, in order; none where the data does not exist.
  virtual std::vector<OutputFile> output_files(const Database& db) const = 0;
  // Writes what document.scope takes; a layer without any event writes no metadata either.
  virtual void write(const Database& db, const OutputFile& output_file, TraceJsonWriter& out) const;
  // The same in pieces, for layers of millions: a layer has one of the two.
  virtual std::vector<TimelinePiece> pieces(const Database& db,
                                            const OutputFile& output_file) const;

 private:
  LayerInfo info_;
};

}  // namespace msprof
