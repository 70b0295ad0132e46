// Records a CANN application on this machine. For `collect` and the command line of CANN's tool.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "collect/cann/cann_injection.hpp"
#include "collect/collector.hpp"
#include "msprof/collection.hpp"
#include "msprof/verbs.hpp"

namespace msprof {

struct CannRequest {
  std::string main;  // as typed; empty with --pid
  std::vector<std::string> arguments;
  CollectorSettings settings;
  std::optional<std::string> runtime;  // explicit choice: "vendor", "cann", "host"
  std::optional<std::string> framework;
  std::optional<std::string> profiling_options;
};

// Runs the whole request: with --pid, a session with running applications, else a run on this
// machine. `options` as for collect_cann_here().
Exit collect_cann(const CannRequest& request, const CollectOptions& options,
                  const CollectionPlan& plan, nlohmann::ordered_json& document);

// Finds the application and its runtime, which is reported in one line. Throws Error if something
// is missing or conflicts.
CannRun plan_cann_run(const CannRequest& request);

// Runs the planned application on this machine. `options` contains everything that is independent
// of CANN: output, limits, streams. `plan`: see run_collection().
Exit collect_cann_here(const CannRun& run, CollectOptions options, const CollectionPlan& plan,
                       nlohmann::ordered_json& document);

}  // namespace msprof
