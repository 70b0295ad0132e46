// TraceJsonWriter: a chrome trace, streamed: one JSON array, an event a line. For timeline layers.
// Format: the "JSON Array Format" of chrome://tracing; ts and dur are microseconds with three
// decimals, printed from integer nanoseconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/atomic_file.hpp"

namespace msprof {

// Text that json_string() has already quoted and escaped: names that come with every event are
// escaped once.
struct JsonText {
  std::string_view text;
};

class TraceJsonWriter {
 public:
  explicit TraceJsonWriter(AtomicFile& file);

  void process_name(std::int64_t pid, std::string_view name);
  void thread_name(std::int64_t pid, std::int64_t tid, std::string_view name);

  // One X event: begin_complete, its arguments, end_complete.
  void begin_complete(JsonText name, std::int64_t pid, std::int64_t tid, std::int64_t start_ns,
                      std::int64_t duration_ns);
  void argument(JsonText key, JsonText value);
  void argument(JsonText key, std::int64_t value);
  void end_complete();

  // Ends the array.
  void finish();
  std::uint64_t event_count() const { return events_; }

 private:
  void begin_event();
  void metadata(std::string_view kind, std::int64_t pid, std::int64_t tid, std::string_view name);
  void append(std::int64_t value);
  void key(JsonText key);

  AtomicFile& file_;
  std::string& out_;
  std::uint64_t events_ = 0;
  bool first_argument_ = true;
};

}  // namespace msprof
