// The options of `msprof export` that say which part of a capture, and how it is written. For the
// verb export.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "export/exporter.hpp"
#include "msprof/command_line.hpp"

namespace msprof {

// --device, --model-id, --iteration-id, --style: of tables and timelines.
struct ScopeArguments {
  std::vector<std::string> devices;
  std::optional<long> model_id;
  std::optional<long> iteration_id;
  std::string style = "current";
};
void add_scope_options(cli::Command& command, ScopeArguments& arguments);

// --layers, --time-range, --min-dur, --split, --gzip: of timelines.
struct TimelineArguments {
  std::vector<std::string> layers;
  std::string time_range;
  std::string min_duration;
  std::string split;
  bool gzip = false;
};
void add_timeline_options(cli::Command& command, TimelineArguments& arguments);

// What they mean for a store. Throw Error(usage) for what cannot be read, and for a device, a model
// or an iteration that is not there.
ExportScope scope_of(const Database& db, const ScopeArguments& arguments);
ExportStyle style_of(const ScopeArguments& arguments);
TimelineOptions timeline_options_of(const Database& db, const ScopeArguments& scope,
                                    const TimelineArguments& arguments);

// Before any capture is looked at: throws Error(usage) for what cannot be read.
void check_scope(const ScopeArguments& arguments);
void check_timeline(const TimelineArguments& arguments);

}  // namespace msprof
