// The options of the verb collect, and what of them goes together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collect/collector.hpp"
#include "msprof/board_options.hpp"
#include "msprof/verbs.hpp"

namespace msprof {

struct CollectArguments {
  std::optional<std::string> main;
  BoardArguments board;
  std::optional<long> interval;
  std::optional<std::string> acl_api;
  std::optional<std::string> aicpu;
  std::optional<std::string> profiler_switch;
  std::optional<std::string> metrics;
  std::optional<std::string> output;
  std::optional<std::string> project;
  std::optional<std::string> acl_json;
  std::optional<double> timeout_seconds;
  std::vector<std::string> environment;
  bool all = false;
  bool json = false;
  Verbosity verbosity;
  std::vector<std::string> application_arguments;
};

void add_collect_options(cli::Command& command, CollectArguments& arguments);

// Throws Error(usage) for values out of range and for what does not go together.
void check_arguments(const CollectArguments& arguments);

// For collect(), without what only a host knows.
CollectOptions options_of(const CollectArguments& arguments);

}  // namespace msprof
