// A collection: an application is run and its captures fetched, imported and exported, with one
// JSON document about all of it. For the verbs that collect.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "collect/collector.hpp"
#include "msprof/verbs.hpp"
#include "session/run_record.hpp"

namespace msprof {

struct CollectionPlan {
  ProcessCapture process;  // of every capture with data; empty: none
  // What the command line says of the run: options, layout; the collection adds the rest.
  RunRecord record;
  bool names_next = true;  // says the command that comes next; one of several runs does not
  bool resumes = false;    // an earlier run of the host, which has a record of its own
};

// Collects with `work`, writes run.json into every capture, however the run ended, and processes
// them. What is known goes to `document`, also where an Error is thrown.
Exit run_collection(const std::function<void(CollectResult&)>& work, const CollectionPlan& plan,
                    nlohmann::ordered_json& document);

// The same for an application that is run on `host`.
Exit run_collection(Host& host, const CollectOptions& options, CollectionPlan plan,
                    nlohmann::ordered_json& document);

}  // namespace msprof
