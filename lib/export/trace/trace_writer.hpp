// TraceWriter: receives the events of a timeline from its layers. TraceJsonWriter and
// PerfettoWriter write them to a file; the report collects them for its picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_text.hpp"

namespace msprof {

// A text of an event. Does not own it. JSON does not escape a plain one, such as every literal.
class TraceText {
 public:
  constexpr TraceText() = default;
  template <std::size_t N>
  consteval TraceText(const char (&literal)[N])
      : TraceText(std::string_view(literal, N - 1), true) {
    for (const char c : view()) {
      if (c < ' ' || c > '~' || c == '"' || c == '\\') throw "JSON escapes this text";
    }
  }
  constexpr TraceText(std::string_view text, bool is_plain = false)
      : data_(text.data()), size_and_plain_(text.size() << 1 | (is_plain ? 1U : 0U)) {}
  TraceText(const std::string& text) : TraceText(std::string_view(text)) {}

  constexpr std::string_view view() const { return {data_, size()}; }
  constexpr std::size_t size() const { return size_and_plain_ >> 1; }
  constexpr bool empty() const { return size() == 0; }
  constexpr bool is_plain() const { return (size_and_plain_ & 1) != 0; }

 private:
  // Two words, which calls pass in registers. clang 14 cannot compile bit-fields here.
  const char* data_ = nullptr;
  std::size_t size_and_plain_ = 0;  // the lowest bit is is_plain()
};

// A text of many events, which is checked only once.
class SharedText {
 public:
  SharedText() = default;
  SharedText(std::string text) : text_(std::move(text)), is_plain_(is_plain_json(text_)) {}
  operator TraceText() const { return {text_, is_plain_}; }

 private:
  std::string text_;
  bool is_plain_ = false;
};

// A track on the screen: a thread of a process.
struct TraceLane {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  // In the timeline of all processes of CANN 5, which exists only as JSON: its process is
  // "<layer>_<pid>".
  std::int64_t layer = -1;

  bool operator==(const TraceLane&) const = default;
};

struct TraceValue {
  enum class Kind : std::uint8_t {
    integer,
    real,
    text,
    decimal,   // an exact number, as its digits
    duration,  // in ns, shown in us
    time       // in ns, shown as a text in us
  };
  Kind kind = Kind::integer;
  union {
    std::int64_t integer = 0;  // also of duration and time
    double real;
  };
  TraceText text{};  // also of decimal
};

struct TraceArgument {
  TraceArgument(TraceText name, std::int64_t number) : key(name), value{.integer = number} {}
  TraceArgument(TraceText name, TraceText text)
      : key(name), value{.kind = TraceValue::Kind::text, .integer = 0, .text = text} {}
  TraceArgument(TraceText name, const TraceValue& any) : key(name), value(any) {}

  TraceText key;
  TraceValue value;
};

// The ends of an arrow share category and id: the number, or the text if it is not empty.
struct TraceArrow {
  TraceText name;
  TraceText category;
  std::uint64_t number = 0;
  TraceText text{};
};

struct TraceEvent {
  enum class Kind : std::uint8_t {
    slice,
    counter,
    arrow,  // one of its ends
    process_name,
    process_label,  // shown next to the process name
    process_sort_index,
    thread_name,
    thread_sort_index
  };
  Kind kind = Kind::slice;
  bool is_svp = false;         // JSON in the form of svp
  bool has_arguments = false;  // only for arrows
  char phase = '\0';           // only for arrows: s (start), t (step), f (finish)
  TraceText name{};            // of metadata: its text
  TraceText category{};
  TraceLane lane{};
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::uint64_t arrow = 0;  // its number
  TraceText arrow_text{};
  std::int64_t sort_index = 0;

  bool is_metadata() const { return kind >= Kind::process_name; }
  std::int64_t end_ns() const;
};

// Arguments that many slices share, with their JSON, which is formatted only once.
class SharedArguments {
 public:
  void add(TraceText key, std::int64_t value);
  void add(TraceText key, std::string_view text);

  std::string_view json() const { return json_; }
  template <typename Take>
  void for_each(Take&& take) const {
    for (const Argument& one : arguments_) {
      TraceValue value = one.value;
      if (value.kind == TraceValue::Kind::text) value.text = one.text;
      take(TraceArgument(one.key, value));
    }
  }

 private:
  struct Argument {
    TraceText key;  // a literal
    TraceValue value;
    std::string text;
  };
  std::string& start_json(TraceText key);

  std::string json_;  // "a":1,"b":"c"
  std::vector<Argument> arguments_;
};

class TraceWriter {
 public:
  virtual ~TraceWriter() = default;

  // Metadata. The first three are in the form of svp, the others in that of CANN.
  void process_name(TraceLane lane, TraceText name);
  void process_label(TraceLane lane, TraceText label);
  void thread_name(TraceLane lane, TraceText name);
  // Writes name, label and position on the screen.
  void process(std::int64_t pid, TraceText name, TraceText label, std::int64_t sort_index);
  void process_sort_index(TraceLane lane, std::int64_t sort_index);
  void thread(TraceLane lane, TraceText name, std::int64_t sort_index);

  // Slices shorter than `ns` are not drawn.
  void set_min_duration(std::int64_t ns) { min_duration_ns_ = ns; }
  // Returns true if a slice of that length is drawn. For events that precede or accompany it.
  bool draws(std::int64_t duration_ns) const { return duration_ns >= min_duration_ns_; }

  // A slice: begin_slice (of svp: begin_svp_slice), its arguments, end_event. Returns false if the
  // slice is too short to be drawn; then do not write arguments or the end.
  [[nodiscard]] bool begin_slice(TraceText name, TraceLane lane, std::int64_t start_ns,
                                 std::int64_t duration_ns, TraceText category = {});
  [[nodiscard]] bool begin_svp_slice(TraceText name, TraceLane lane, std::int64_t start_ns,
                                     std::int64_t duration_ns);
  // A counter: begin_counter, its values as arguments, end_event; or with one value.
  void begin_counter(TraceText name, TraceLane lane, std::int64_t time_ns);
  void counter(TraceText name, TraceLane lane, std::int64_t time_ns, TraceText key,
               std::int64_t value);
  // One end of an arrow: phase 's' (start), 't' (step) or 'f' (finish); 't' and 'f' bind to the
  // enclosing slice.
  void arrow(char phase, const TraceArrow& arrow, TraceLane lane, std::int64_t time_ns);
  // An arrow with arguments: begin_arrow, its arguments, end_event.
  void begin_arrow(char phase, const TraceArrow& arrow, TraceLane lane, std::int64_t time_ns);
  void end_event() { end(); }

  // Arguments of the event that was begun. Several in one call are faster than one by one.
  void arguments(std::initializer_list<TraceArgument> several) {
    add({several.begin(), several.size()});
  }
  void argument(TraceText key, std::int64_t value) { add_one({key, value}); }
  void argument(TraceText key, TraceText text) { add_one({key, text}); }
  void argument_us(TraceText key, std::int64_t ns);    // a number: 12.0, 0.04
  void argument_time(TraceText key, std::int64_t ns);  // a text: "1715760307201793.880"
  void argument_number(TraceText key, double value);   // shortest form that reads back the same
  void argument_digits(TraceText key, std::string_view d);  // digits, unchanged
  virtual void arguments(const SharedArguments& shared);

  virtual void finish() {}

  // Counts exclude metadata.
  std::uint64_t event_count() const { return events_; }
  std::uint64_t slice_count() const { return slices_; }

 protected:
  // An event consists of its begin, its arguments and its end. Texts are valid during the call.
  virtual void begin(const TraceEvent& event) = 0;
  virtual void add(std::span<const TraceArgument> arguments) = 0;
  virtual void end() {}

 private:
  void add_one(const TraceArgument& argument) { add({&argument, 1}); }
  void metadata(TraceEvent::Kind kind, bool is_svp, TraceLane lane, TraceText text,
                std::int64_t sort_index = 0);
  bool begin_slice(const TraceEvent& slice);
  void begin_arrow(char phase, const TraceArrow& arrow, TraceLane lane, std::int64_t time_ns,
                   bool has_arguments);

  std::int64_t min_duration_ns_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t slices_ = 0;
};

}  // namespace msprof
