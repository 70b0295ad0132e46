// The options of CANN's collector: names, values and defaults of its command line. Used by the
// verbs that collect on CANN, which show and check them, and by code that passes them to a runtime.
// Source: docs/collect_cann.md.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msprof {

// The subject of an option, which determines who can apply it.
enum class CollectorScope {
  run,      // the run itself: applied by msprof
  records,  // what the process records about itself: any runtime
  driver,   // card and machine counters: a runtime that has the card's driver
  offline,  // concerns an existing PROF folder, not a run
};

struct CollectorOption {
  std::string_view name;        // "task-time"
  std::string_view values;      // "on|off", "1..100" or, for free text, a description: "DIR"
  std::string_view by_default;  // default value; empty: none
  CollectorScope scope;
  std::string_view parameter;  // its name in PROFILER_SAMPLECONFIG; empty: none
  std::string_view help;
};

// In the order of --help.
std::span<const CollectorOption> collector_options();
// Returns null for an unknown name.
const CollectorOption* find_collector_option(std::string_view name);

// The options given by the user, with valid values.
class CollectorSettings {
 public:
  // `name` has no dashes; replaces an earlier value. Throws Error(usage) for an unknown name,
  // suggesting the nearest one, and for an invalid value.
  void set(std::string_view name, const std::string& value);

  bool is_given(std::string_view name) const { return given_.contains(name); }
  // Returns the given value, otherwise the default.
  std::string value(std::string_view name) const;
  bool is_on(std::string_view name) const { return value(name) == "on"; }
  const std::map<std::string, std::string, std::less<>>& given() const { return given_; }

  // Throws Error(usage) for options that exclude each other or require an option that is missing.
  void check() const;

  // Returns "--name=value" in the order of the table, for a collector with the same options.
  std::vector<std::string> words() const;

 private:
  std::map<std::string, std::string, std::less<>> given_;
};

// Parses "name=value;name2=value2" of --environment into a list; throws Error(usage).
std::vector<std::string> environment_list(const std::string& text);

}  // namespace msprof
