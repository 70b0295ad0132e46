// profiling_options: the JSON object by which frameworks on CANN say what is recorded, in a script
// or in PROFILING_OPTIONS. For the collector, which checks it before the start, and the doctor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

// Longer ones are refused.
inline constexpr std::size_t kMaxProfilingOptionsBytes = 2048;

enum class OptionKind {
  choice,   // one of `choices`
  choices,  // some of `choices`, commas between them
  metrics,  // one of `choices`, or Custom: with up to eight events
  number,   // a whole number from `low` to `high`
  storage,  // such a number and "MB"
  path,     // of a folder; may be empty
  text,
};

// One key, as checks, help and docs/frameworks.md have it.
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
// The values of a key: "on, off", "1..100".
std::string value_words(const ProfilingOption& option);

// What is wrong with a text, or worth to know about it.
struct Problem {
  std::string what;               // a sentence without its place and end
  std::optional<std::size_t> at;  // byte of the text, where it has one

  // With the name of the text, and the line and column (in characters, from 1) in `text`.
  std::string sentence(std::string_view name, std::string_view text) const;
};

struct ProfilingOptionsCheck {
  std::vector<Problem> problems;  // each of them ends a run
  std::vector<Problem> notes;     // none of these does
  std::string effective;          // the options as JSON in one line; empty with problems
  std::string output;             // the folder that they name; empty: none
  std::string metrics;            // the value of "aic_metrics"; empty: none
};

enum class OutputKey { required, added_later };

// Checks JSON, keys, values, length and what excludes each other. Reads no file.
ProfilingOptionsCheck check_profiling_options(std::string_view text,
                                              OutputKey output = OutputKey::required);

// `options`, which had no problems, with another folder for the output.
std::string with_output(std::string_view options, std::string_view folder);

// The options of a run that switches profiling on and names none; the output is "./".
std::string_view default_profiling_options();

}  // namespace msprof
