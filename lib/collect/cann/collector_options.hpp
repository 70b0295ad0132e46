// The options with which CANN's collector is told what to record: names, values and defaults of its
// command line. For the verbs that collect on CANN, which show and check them, and for what hands
// them to a runtime. Source: docs/collect_cann.md.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msprof {

// What an option is about, and so who can honour it.
enum class CollectorScope {
  run,      // the run itself: msprof does it
  records,  // what the process records of itself: any runtime
  driver,   // counters of the card and its machine: a runtime with the driver of a card
  offline,  // an existing PROF folder, instead of a run
};

struct CollectorOption {
  std::string_view name;        // "task-time"
  std::string_view values;      // "on|off", "1..100" or, of free text, what it is: "DIR"
  std::string_view by_default;  // empty: none
  CollectorScope scope;
  std::string_view parameter;  // its name in PROFILER_SAMPLECONFIG; empty: it has none there
  std::string_view help;
};

// In the order of the help.
std::span<const CollectorOption> collector_options();
// Null for what is no name of one.
const CollectorOption* collector_option(std::string_view name);

// The options that a user gave; each with a value that it takes.
class CollectorSettings {
 public:
  // `name` without its dashes; an earlier value is replaced. Throws Error(usage) with one sentence
  // for an unknown name, naming the nearest, and for a value that the option does not take.
  void set(std::string_view name, const std::string& value);

  bool is_given(std::string_view name) const { return given_.contains(name); }
  // As given, else the default.
  std::string value(std::string_view name) const;
  bool is_on(std::string_view name) const { return value(name) == "on"; }
  const std::map<std::string, std::string, std::less<>>& given() const { return given_; }

  // Throws Error(usage) for options that exclude each other or need another one.
  void check() const;

  // "--name=value", in the order of the table; for a collector that takes the same.
  std::vector<std::string> words() const;

 private:
  std::map<std::string, std::string, std::less<>> given_;
};

// "name=value;name2=value2" of --environment, as a list; throws Error(usage).
std::vector<std::string> environment_list(const std::string& text);

}  // namespace msprof
