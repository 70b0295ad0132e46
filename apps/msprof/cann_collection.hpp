// An application on CANN that is recorded, where it is: what both command lines that ask for it
// share.
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
  std::optional<std::string> runtime;  // by hand: "vendor", "cann", "host"
  std::optional<std::string> framework;
  std::optional<std::string> profiling_options;
};

// The whole way: with --pid a session with applications that run already, else a run here.
// `options` as for collect_cann_here().
Exit collect_cann(const CannRequest& request, const CollectOptions& options,
                  const CollectionPlan& plan, nlohmann::ordered_json& document);

// Finds the application and its runtime, which is said in one line. Throws Error for what is
// missing, or does not go together.
CannRun plan_cann_run(const CannRequest& request);

// Runs it on this machine. `options` has what is no business of CANN's: output, limits, streams;
// `plan`: see run_collection().
Exit collect_cann_here(const CannRun& run, CollectOptions options, const CollectionPlan& plan,
                       nlohmann::ordered_json& document);

}  // namespace msprof
