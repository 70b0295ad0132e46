// A collection: an application is run and its captures fetched, imported and exported, with one
// JSON document about all of it. For the verbs that collect.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "collect/collector.hpp"
#include "msprof/verbs.hpp"

namespace msprof {

// Collects with `work`; where `process` is there, every capture with data is then handed to it.
// What is known goes to `document`, also where an Error is thrown.
Exit run_collection(const std::function<void(CollectResult&)>& work, const ProcessCapture& process,
                    nlohmann::ordered_json& document);

// The same for an application that is run on `host`.
Exit run_collection(Host& host, const CollectOptions& options, const ProcessCapture& process,
                    nlohmann::ordered_json& document);

}  // namespace msprof
