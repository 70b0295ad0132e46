// TimelineLayer: rows of one layer as events of a chrome trace.
// To add one: implement this in a file under timeline/ and name it in products.cpp.
#pragma once

#include <string_view>
#include <vector>

#include "export/document.hpp"
#include "export/trace_json_writer.hpp"
#include "session/session.hpp"
#include "store/database.hpp"

namespace msprof {

class TimelineLayer {
 public:
  virtual ~TimelineLayer() = default;
  virtual std::string_view name() const = 0;  // "task_time"
  virtual std::string_view help() const = 0;
  virtual Dialect dialect() const = 0;
  // The files it writes, in order; none where the data does not exist.
  virtual std::vector<Document> documents(const Database& db) const = 0;
  // Metadata events first, then its events in order of start.
  virtual void write(const Database& db, const Document& document, TraceJsonWriter& out) const = 0;
};

}  // namespace msprof
