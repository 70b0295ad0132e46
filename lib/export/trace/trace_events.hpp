// TraceEventSink: passes on the events of a timeline one by one, for formats other than JSON.
// Parses the output of TraceJsonWriter, so that all formats have the same events, names and times,
// and layers know only one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "export/trace/trace_json_writer.hpp"

namespace msprof {

struct TraceEvent {
  char phase = '\0';      // X, C, M; for arrows s, t, f
  std::string_view name;  // quoted JSON, like all texts
  std::string_view category;
  std::string_view id;  // only for arrows
  TraceLane lane;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;  // only for X
  std::string_view arguments;    // `"a":1,"b":"c"`

  std::int64_t end_ns() const;
};

// Iterates over the members of a JSON object: `"a":1,"b":"c"`.
class JsonMembers {
 public:
  explicit JsonMembers(std::string_view text) : text_(text) {}
  // Returns false after the last member, and if the text is not JSON.
  bool next();
  std::string_view key() const { return key_; }      // unquoted, still escaped
  std::string_view value() const { return value_; }  // as JSON

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view key_;
  std::string_view value_;
};

// Returns the text of a JSON string, quoted or not; returns anything else unchanged.
std::string parse_json_text(std::string_view json);

// Converts a time in us, a number or its text with at most three decimals, to ns. Returns 0 for
// anything else.
std::int64_t parse_us_text(std::string_view json);

class TraceEventSink : public TraceSink {
 public:
  void write(std::string_view text) override;
  void finish() override { end(); }
  std::uint64_t text_bytes() const override { return read_bytes_; }

 protected:
  // Called for each event, in the order of writing.
  virtual void take(const TraceEvent& event) = 0;
  // Called after the last event.
  virtual void end() = 0;

 private:
  std::uint64_t read_bytes_ = 0;
};

}  // namespace msprof
