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
  char phase = '\0';      // X, C, M, or s, t and f of arrows
  std::string_view name;  // texts are as JSON has them, quoted
  std::string_view category;
  std::string_view id;  // of an arrow
  TraceLane lane;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;  // of an X
  std::string_view arguments;    // `"a":1,"b":"c"`

  std::int64_t end_ns() const;
};

// Takes the members of a JSON object, `"a":1,"b":"c"`, one after the other.
class JsonMembers {
 public:
  explicit JsonMembers(std::string_view text) : text_(text) {}
  // False after the last one, and where the text is no JSON.
  bool next();
  std::string_view key() const { return key_; }      // without its quotes, escaped
  std::string_view value() const { return value_; }  // as JSON

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view key_;
  std::string_view value_;
};

// The text of a JSON string, quoted or not; of anything else the text itself.
std::string parse_json_text(std::string_view json);

// A time in us, a number or a text of one, with at most three decimals, as ns. 0 for anything else.
std::int64_t parse_us_text(std::string_view json);

class TraceEventSink : public TraceSink {
 public:
  void write(std::string_view text) override;
  void finish() override { end(); }
  std::uint64_t text_bytes() const override { return read_bytes_; }

 protected:
  // In the order in which they were written.
  virtual void take(const TraceEvent& event) = 0;
  // Nothing comes any more.
  virtual void end() = 0;

 private:
  std::uint64_t read_bytes_ = 0;
};

}  // namespace msprof
