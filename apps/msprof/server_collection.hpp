// An application on CANN that is recorded on a server, over SSH. For the verb collect.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "board/ssh_host.hpp"
#include "collect/collector.hpp"
#include "msprof/board_options.hpp"
#include "msprof/cann_collection.hpp"
#include "msprof/collection.hpp"
#include "msprof/verbs.hpp"

namespace msprof {

// What the command line says of a run on a server beyond what it says of boards.
BoardRunOptions server_options(const BoardRunOptions& options, const BoardArguments& arguments,
                               bool all);

// Runs it on `host`, which has server_options(). `options` has what is no business of CANN's.
// `document` gets what is known, also where an Error is thrown.
Exit collect_cann_on_server(SshHost& host, const CannRequest& request,
                            const BoardArguments& arguments, CollectOptions options,
                            const CollectionPlan& plan, nlohmann::ordered_json& document);

}  // namespace msprof
