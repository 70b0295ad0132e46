// A collection: runs an application, then fetches, imports and exports its captures, and describes
// everything in one JSON document. For the verbs that collect.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "collect/collector.hpp"
#include "msprof/verbs.hpp"
#include "session/run_record.hpp"

namespace msprof {

struct CollectionPlan {
  ProcessCapture process;  // called for every capture with data; empty: no processing
  // Facts from the command line: options, layout. The collection adds the rest.
  RunRecord record;
  bool names_next = true;  // print the suggested next command; false for one of several runs
};

// Runs the application on `host`, writes run.json to every capture whatever the result, and
// processes the captures. Fills `document` with all known facts, even if it throws an Error.
Exit run_collection(Host& host, const CollectOptions& options, CollectionPlan plan,
                    nlohmann::ordered_json& document);

// The two ends of run_collection(), for captures that were collected by other code: the collection
// failed with `error`, or it is complete.
void record_failure(const CollectResult& result, const CollectionPlan& plan, const Error& error,
                    nlohmann::ordered_json& document);
Exit finish_collection(CollectResult& result, const CollectionPlan& plan,
                       nlohmann::ordered_json& document);

}  // namespace msprof
