// profiling_options: the JSON object that tells frameworks on CANN what to record, in a script or
// in PROFILING_OPTIONS. Used by the collector, which checks it before the start, and doctor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

// Longer texts are rejected.
inline constexpr std::size_t kMaxProfilingOptionsBytes = 2048;

enum class OptionKind {
  choice,   // one of `choices`
  choices,  // some of `choices`, separated by commas
  metrics,  // one of `choices`, or Custom: with up to eight events
  number,   // a whole number from `low` to `high`
  storage,  // a whole number from `low` to `high`, followed by "MB"
  path,     // a folder; may be empty
  text,
};

// One key, as used by checks, help and docs/frameworks.md.
struct ProfilingOption {
  std::string_view name;
  OptionKind kind = OptionKind::text;
  std::vector<std::string> choices = {};
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::string_view meaning;
};

// All keys, in the order of the vendor's list.
std::span<const ProfilingOption> profiling_option_table();
// Returns the values of a key: "on, off", "1..100".
std::string value_words(const ProfilingOption& option);

// An error in a text, or a note about it.
struct Problem {
  std::string what;               // a sentence without location and full stop
  std::optional<std::size_t> at;  // byte offset in the text; empty: unknown

  // Returns `what` as a sentence, with the name of the text, and the line and column (in
  // characters, from 1).
  std::string sentence(std::string_view name, std::string_view text) const;
};

struct ProfilingOptionsCheck {
  std::vector<Problem> problems;  // each prevents a run
  std::vector<Problem> notes;     // do not prevent a run
  std::string effective;          // the options as JSON on one line; empty if there are problems
  std::string output;             // the output folder in the options; empty: none
  std::string metrics;            // the value of "aic_metrics"; empty: none
};

enum class OutputKey { required, added_later };

// Checks syntax, keys, values, length and conflicts. Reads no file.
ProfilingOptionsCheck check_profiling_options(std::string_view text,
                                              OutputKey output = OutputKey::required);

// Returns `options`, which must have no problems, with a different output folder.
std::string with_output(std::string_view options, std::string_view folder);

// The options of a run that enables profiling but gives no options; the output is "./".
std::string_view default_profiling_options();

}  // namespace msprof
