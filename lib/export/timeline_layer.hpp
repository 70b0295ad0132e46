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
  // False for a layer that is written only where --layers names it.
  virtual bool is_default() const { return true; }
  // The files it writes, or has a part in, in order; none where the data does not exist.
  virtual std::vector<Document> documents(const Database& db) const = 0;
  // What document.scope takes; a layer without any event writes no metadata either.
  virtual void write(const Database& db, const Document& document, TraceJsonWriter& out) const = 0;
};

}  // namespace msprof
