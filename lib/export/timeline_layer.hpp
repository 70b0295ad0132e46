// TimelineLayer: rows of one layer as events of a chrome trace.
// To add one: implement this in a file under timeline/ and name it in products.def.
#pragma once

#include <string_view>
#include <vector>

#include "export/product_info.hpp"
#include "export/trace_json_writer.hpp"
#include "store/database.hpp"

namespace msprof {

class TimelineLayer {
 public:
  explicit TimelineLayer(const LayerInfo& info) : info_(info) {}
  virtual ~TimelineLayer() = default;
  const LayerInfo& info() const { return info_; }
  std::string_view name() const { return info_.name; }
  // The files it writes, or has a part in, in order; none where the data does not exist.
  virtual std::vector<OutputFile> output_files(const Database& db) const = 0;
  // Writes what document.scope takes; a layer without any event writes no metadata either.
  virtual void write(const Database& db, const OutputFile& output_file,
                     TraceJsonWriter& out) const = 0;

 private:
  LayerInfo info_;
};

}  // namespace msprof
